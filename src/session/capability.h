/* What this program was built to do (configure's --disable-…), and the errors for the rest. */
#ifndef SESSION_CAPABILITY_H
#define SESSION_CAPABILITY_H

#include <stdbool.h>

#include "base/err.h"

/* Sessions outlive the program. */
bool capability_store(void);

/* SESSION_PERSISTENCE_DISABLED with the reason, when the build or `persist` says no. */
bool capability_need_store(bool persist, struct error *e);

/* Histories are shortened. */
bool capability_compaction(void);

/* SESSION_COMPACTION_DISABLED with the reason, when the build or `compaction` says no. */
bool capability_need_compaction(bool compaction, struct error *e);

/* What goes is indexed, and can be searched. */
bool capability_memory(void);

/* The same of the graph of facts, which is in every build that has a memory. */
bool capability_graph(void);
bool capability_need_graph(bool graph, struct error *e);

/* Likewise of corpora. */
bool capability_corpora(void);
bool capability_need_corpora(bool corpora, struct error *e);

/* What was learned is told to the model. */
bool capability_need_learned(bool learned, struct error *e);

/* MEMORY_DISABLED with the reason, when the build or `memory` says no. */
bool capability_need_memory(bool memory, struct error *e);

#endif
