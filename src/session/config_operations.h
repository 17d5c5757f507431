/* The operations on the configuration: config/get, config/set. */
#ifndef SESSION_CONFIG_OPERATIONS_H
#define SESSION_CONFIG_OPERATIONS_H

#include "base/vec.h"
#include "config/config.h"
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

/* The operations that need no store: engine/info, capabilities/get. */

struct engine_info {
    char *name, *version;
};

/* What this program was built with and the configuration allows. */
struct capabilities {
    bool store, compaction, memory;                   /* by both */
    bool built_store, built_compaction, built_memory; /* by the build */
};

extern const struct operation operation_engine_info, operation_capabilities_get;

/* What is wrong with a configuration that only the engine sees: values which it does not take as
 * they are. */

/* Adds to the problems. `file` is the user's, for values that come from there. */
void config_check(const struct config *config, const char *file, struct config_problems *problems);

/* Whether [tools] allow, ask and deny, and these words (of --allow; NULL: none), are tools and
 * classes of tools: CONFIG_ERROR names one that is not. */
bool config_check_tools(const struct config *config, const char *allow, struct error *e);

#endif
