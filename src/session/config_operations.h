/* The operations on the configuration: config/get, config/set. */
#ifndef SESSION_CONFIG_OPERATIONS_H
#define SESSION_CONFIG_OPERATIONS_H

#include "base/vec.h"
#include "config/config.h"
#include "session/operation.h"

/* A key of the configuration. In some sections ([model NAME], …) the user chooses the keys. */
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

/* config/set changes the user's file; the running program keeps the values that it has read. */
struct config_set_params {
    const char *key;   /* "ui.theme", "model NAME.window" */
    const char *value; /* NULL: the key is taken out of the file */
};
struct config_set_result {
    char *path;     /* of the file */
    char *value;    /* in the file now, masked as in config/get; NULL: none */
    char *fallback; /* the value that applies without it; NULL: none */
    bool changed;
    bool overridden; /* by an environment variable */
    bool applied;    /* the running program uses the new value: always false */
};

/* The operations that need no store: engine/info, capabilities/get. */

struct engine_info {
    char *name, *version;
};

/* The parts that the build has and the configuration and the command line allow; for each that is
 * not there the reason, for people. */
struct capabilities {
    bool store, compaction, memory, graph, corpora, learned;
    bool built_store, built_compaction, built_memory; /* by the build alone */
    char *store_reason, *compaction_reason, *memory_reason, *graph_reason, *corpora_reason,
        *learned_reason; /* NULL: it is there */
};

/* Adds problems of values that only the engine can check. `file` is the path of the user's file,
 * for values that come from there. */
void config_check(const struct config *config, const char *file, struct config_problems *problems);

/* Checks that the words of [tools] allow, ask and deny and of `allow` (from --allow; NULL: none)
 * are tools or classes of tools: CONFIG_ERROR names one that is not. */
bool config_check_tools(const struct config *config, const char *allow, struct error *e);

#endif
