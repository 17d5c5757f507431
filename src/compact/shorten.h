/* Tool results with less in them. */
#ifndef COMPACT_SHORTEN_H
#define COMPACT_SHORTEN_H

#include "compact/plan.h"

/* Whether this result of a tool is what one of the two below left of it. */
bool compact_is_shortened(const char *text);

/* Whether pruning makes message `i` smaller; `newest` is compact_newest_turn(). */
bool compact_prunes(const struct compact_input *in, size_t i, size_t newest);

/* That message with placeholders in place of its long results. */
struct message compact_pruned(const struct compact_input *in, size_t i);

/* Micro-compaction: tool results longer than micro_bytes outside the newest turn, cut to their
 * first 1,000 bytes at a grapheme border with a note of their size. False: there are none. */
bool compact_micro(const struct compact_input *in, struct rebuild *out);
bool compact_micro_useful(const struct compact_input *in);

/* Enough: the estimate falls to target_percent of the effective window (unknown: of the threshold)
 * and below the threshold. */
bool compact_micro_enough(const struct compact_input *in, int64_t effective_window,
                          int64_t estimate_after);

#endif
