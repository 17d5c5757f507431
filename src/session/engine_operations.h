/* The operations that need no store: engine/info, capabilities/get, config/get. */
#ifndef SESSION_ENGINE_OPERATIONS_H
#define SESSION_ENGINE_OPERATIONS_H

#include "base/vec.h"
#include "session/operation.h"

struct engine_info {
    char *name, *version;
};

/* What this program was built with and the configuration allows. */
struct capabilities {
    bool store, compaction, memory;                   /* by both */
    bool built_store, built_compaction, built_memory; /* by the build */
};

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

extern const struct operation operation_engine_info, operation_capabilities_get,
    operation_config_get;

#endif
