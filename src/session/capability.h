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

/* The graph of facts, which is in every build with memory. */
bool capability_graph(void);
bool capability_need_graph(bool graph, struct error *e);

/* Corpora. */
bool capability_corpora(void);
bool capability_need_corpora(bool corpora, struct error *e);

/* Learned items are given to the model. */
bool capability_need_learned(bool learned, struct error *e);

/* MEMORY_DISABLED with the reason, when the build or `memory` says no. */
bool capability_need_memory(bool memory, struct error *e);

#endif
