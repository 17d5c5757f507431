/* What is still known of messages that went in earlier compactions, without asking a model: their
 * counts and the summary that stands for them. */
#ifndef COMPACT_EARLIER_H
#define COMPACT_EARLIER_H

#include "base/buf.h"
#include "compact/plan.h"

/* Is the message among what goes, and no earlier summary? */
bool compact_goes(const struct compact_input *in, const struct compact_plan *p, size_t i);

/* "[Context compacted] 6 earlier messages were dropped: 3 user, 3 assistant, 0 tool." of what goes,
 * with what such a line in an earlier summary counts. */
void compact_add_counts(struct buf *out, const struct compact_input *in,
                        const struct compact_plan *p);

/* The texts of earlier summaries among what goes, below their heading after an empty line; nothing
 * where they only count. Bounded by the threshold: the first and the last lines stay. */
void compact_add_earlier(struct buf *out, const struct compact_input *in,
                         const struct compact_plan *p);

#endif
