/* What a model is told of what was learned: a text under headings, in which all that was learned
 * stands as quotations. A pure function. */
#ifndef KNOWLEDGE_MEMORY_PROMPT_H
#define KNOWLEDGE_MEMORY_PROMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/knowledge.h"

/* FULL has the whole texts; CATALOG their beginnings and ids, for a model that can ask for more. */
enum learned_form { LEARNED_FULL, LEARNED_CATALOG };

/* At most so many tokens (bytes / 4, as a request is estimated), headings and all. Of each scope
 * what is newest and most used comes first; scopes take turns, so that none crowds out another. The
 * items are put in that order, those that fit first; *told is how many. The caller frees. NULL:
 * there are none, or none fits. */
char *learned_prompt(struct learned_items *items, enum learned_form form, int64_t max_tokens,
                     size_t *told);

/* What a model is told of the graph of facts without asking: how much there is, and names to ask
 * for. A pure function. */

enum { GRAPH_HINT_ENTITIES = 200 /* that are worth listing for it */ };

/* At most so many tokens (bytes / 4); names stand in it as quotations, as many as fit. The caller
 * frees. NULL: the graph is empty, or not even one fits. */
char *graph_hint(const struct graph_part *listed, int64_t max_tokens);

#endif
