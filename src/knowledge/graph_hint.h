/* What a model is told of the graph of facts without asking: how much there is, and names to ask
 * for. A pure function. */
#ifndef KNOWLEDGE_GRAPH_HINT_H
#define KNOWLEDGE_GRAPH_HINT_H

#include <stdint.h>

#include "chat/graph.h"

enum { GRAPH_HINT_ENTITIES = 200 /* that are worth listing for it */ };

/* At most so many tokens (bytes / 4); names stand in it as quotations, as many as fit. The caller
 * frees. NULL: the graph is empty, or not even one fits. */
char *graph_hint(const struct graph_part *listed, int64_t max_tokens);

#endif
