/* Tool results with less in them. */
#ifndef COMPACT_SHORTEN_H
#define COMPACT_SHORTEN_H

#include "compact/plan.h"

/* Whether pruning makes message `i` smaller; `newest` is compact_newest_turn(). */
bool compact_prunes(const struct compact_input *in, size_t i, size_t newest);

/* That message with placeholders in place of its long results. */
struct message compact_pruned(const struct compact_input *in, size_t i);

#endif
