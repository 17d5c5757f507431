/* The parts that this program was built with (configure's --disable-…), and the errors for the
 * parts that are missing or turned off. */
#ifndef SESSION_CAPABILITY_H
#define SESSION_CAPABILITY_H

#include <stdbool.h>

#include "base/err.h"

/* Sessions are saved. */
bool capability_store(void);

/* SESSION_PERSISTENCE_DISABLED with the reason, when the build or `persist` says no. */
bool capability_need_store(bool persist, struct error *e);

/* Histories are shortened. */
bool capability_compaction(void);

/* SESSION_COMPACTION_DISABLED with the reason, when the build or `compaction` says no. */
bool capability_need_compaction(bool compaction, struct error *e);

/* Messages that leave the history are indexed and can be searched. */
bool capability_memory(void);

/* The graph of facts and corpora are in every build with memory. */
#define capability_graph() capability_memory()
#define capability_corpora() capability_memory()

/* MEMORY_DISABLED with the reason, when the build or `on` says no. `off` is the reason without the
 * build's. */
bool capability_need_layer(bool on, const char *off, struct error *e);
#define CAPABILITY_OFF(what, section, variable)                                                    \
    what " off; set [" section "] enabled = true, or TIRO_" variable                               \
         "_ENABLED=true in the environment"
bool capability_need_memory(bool memory, struct error *e);
#define capability_need_graph(on, e)                                                               \
    capability_need_layer(on, CAPABILITY_OFF("the graph is", "graph", "GRAPH"), e)
#define capability_need_corpora(on, e)                                                             \
    capability_need_layer(on, CAPABILITY_OFF("corpora are", "corpus", "CORPUS"), e)
#define capability_need_learned(on, e)                                                             \
    capability_need_layer(on, CAPABILITY_OFF("learned memory is", "learned", "LEARNED"), e)

#endif
