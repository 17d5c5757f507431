/* What a model is told of what was learned: a text under headings, in which all that was learned
 * stands as quotations. A pure function. */
#ifndef KNOWLEDGE_LEARNED_PROMPT_H
#define KNOWLEDGE_LEARNED_PROMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/learned_item.h"

/* FULL has the whole texts; CATALOG their beginnings and ids, for a model that can ask for more. */
enum learned_form { LEARNED_FULL, LEARNED_CATALOG };

/* At most so many tokens (bytes / 4, as a request is estimated), headings and all. Of each scope
 * what is newest and most used comes first; scopes take turns, so that none crowds out another. The
 * items are put in that order, those that fit first; *told is how many. The caller frees. NULL:
 * there are none, or none fits. */
char *learned_prompt(struct learned_items *items, enum learned_form form, int64_t max_tokens,
                     size_t *told);

#endif
