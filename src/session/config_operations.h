/* The operations on the configuration: config/get. */
#ifndef SESSION_CONFIG_OPERATIONS_H
#define SESSION_CONFIG_OPERATIONS_H

#include "base/vec.h"
#include "session/operation.h"

/* A key of the configuration, or one of a section whose keys are free. */
struct config_row {
    char *section, *name;
    char *value; /* NULL: unset. Secrets are "****" */
    enum config_origin origin;
    char *help, *source; /* NULL: of a free one, of a known one */
    int line;            /* in `source` */
};
struct config_rows {
    VEC(struct config_row) items;
};

const char *config_origin_name(enum config_origin origin); /* "file" */

extern const struct operation operation_config_get;

#endif
