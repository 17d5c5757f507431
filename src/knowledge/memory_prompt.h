/* The texts that tell a model of learned memory and of the graph of facts, with their content as
 * quotations. Pure. */
#ifndef KNOWLEDGE_MEMORY_PROMPT_H
#define KNOWLEDGE_MEMORY_PROMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/knowledge.h"

/* FULL has the whole texts; CATALOG their beginnings and ids, for a model that can ask for more. */
enum learned_form { LEARNED_FULL, LEARNED_CATALOG };

/* Items under headings, at most max_tokens (bytes / 4, as a request is estimated) in all. The
 * newest and most used of each scope come first; scopes take turns, so that none crowds out
 * another. Puts the items in that order, those that fit first; *told is their number. NULL: none
 * fits. The caller frees. */
char *learned_prompt(struct learned_items *items, enum learned_form form, int64_t max_tokens,
                     size_t *told);

/* The size of the graph and as many names as fit into max_tokens (bytes / 4). NULL: none fits. The
 * caller frees. */
enum { GRAPH_HINT_ENTITIES = 200 /* that are worth listing for it */ };
char *graph_hint(const struct graph_part *listed, int64_t max_tokens);

#endif
