/* The operations on the configuration: config/get, config/set. */
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

/* Changes the user's file; the running program keeps what it has read. */
struct config_set_params {
    const char *key;   /* "ui.theme", "model NAME.window" */
    const char *value; /* NULL: the key is taken out of the file */
};
struct config_set_result {
    char *path;     /* of the file */
    char *value;    /* that the file has now, masked as in config/get; NULL: none */
    char *fallback; /* that counts where it has none; NULL: nothing */
    bool changed;
    bool overridden; /* by an environment variable */
    bool applied;    /* the running program goes by it: never, so far */
};

extern const struct operation operation_config_get, operation_config_set;

#endif
