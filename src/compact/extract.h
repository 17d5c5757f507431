/* What a program can say of messages without a model: an extract, and what is still known of those
 * that went in earlier compactions (earlier.c). The same messages give the same bytes. */
#ifndef COMPACT_EXTRACT_H
#define COMPACT_EXTRACT_H

#include "base/buf.h"
#include "compact/plan.h"

/* Of the messages that go: counts; sorted tool names; the last 3 requests (160 bytes each); pending
 * work; at most 8 sorted file paths; current work (200 bytes); a timeline of the first 3 and
 * last 5. An earlier summary among them has its own heading behind the counts; it is bounded, so
 * that merging does not grow without end. The caller frees. */
char *compact_extract(const struct compact_input *in, const struct compact_plan *p);

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
