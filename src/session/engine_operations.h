/* The operations that need no store: engine/info, capabilities/get. */
#ifndef SESSION_ENGINE_OPERATIONS_H
#define SESSION_ENGINE_OPERATIONS_H

#include "session/operation.h"

struct engine_info {
    char *name, *version;
};

/* What this program was built with and the configuration allows. */
struct capabilities {
    bool store, compaction, memory;                   /* by both */
    bool built_store, built_compaction, built_memory; /* by the build */
};

extern const struct operation operation_engine_info, operation_capabilities_get;

#endif
