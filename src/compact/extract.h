/* The deterministic extract: what a program can say of messages without a model. The same messages
 * give the same bytes. */
#ifndef COMPACT_EXTRACT_H
#define COMPACT_EXTRACT_H

#include "compact/plan.h"

/* Of the messages that go: counts; sorted tool names; the last 3 requests (160 bytes each); pending
 * work; at most 8 sorted file paths; current work (200 bytes); a timeline of the first 3 and
 * last 5. An earlier summary among them has its own heading behind the counts; it is bounded, so
 * that merging does not grow without end. The caller frees. */
char *compact_extract(const struct compact_input *in, const struct compact_plan *p);

#endif
