/* What is to be summarised, as messages of requests in parts that fit a model's window. Of a long
 * conversation one part at a time is in memory. */
#ifndef COMPACT_SUMMARY_PARTS_H
#define COMPACT_SUMMARY_PARTS_H

#include <stdint.h>

#include "compact/plan.h"

/* Where a part begins: a message that goes, and how much of its text came before. */
struct summary_place {
    size_t message, byte;
};
struct summary_part {
    struct summary_place begin;
    int64_t tokens; /* of all its messages, at most */
};
struct summary_parts {
    VEC(struct summary_part) items;
};

/* The messages that go (tool calls and results as text, reasoning left out, images named) in parts
 * of at most `budget` tokens (message_estimate_tokens()); budget 0: one part. A message that is
 * longer than a part is split at grapheme borders; one without anything to say is left out. What is
 * kept elsewhere and fits into a part is not read, but counted as its estimate. */
void summary_parts_make(const struct compact_input *in, const struct compact_plan *p,
                        int64_t budget, struct summary_parts *out);

/* Those of one of the parts that were made with this budget. None where all of them say nothing. */
struct summary_messages {
    VEC(struct message) items; /* owned */
};
void summary_part_read(const struct compact_input *in, const struct compact_plan *p, int64_t budget,
                       const struct summary_parts *parts, size_t index,
                       struct summary_messages *out);
void summary_messages_release(struct summary_messages *m);

/* The messages that stay but the system's, as the text of one message of at most `budget` tokens
 * (0: no limit) that says what they are there for. What does not fit is left out from the oldest
 * on. NULL: none. The caller frees. */
#define SUMMARY_STAYS "[This stays in the context, for orientation, do not repeat:]"
char *summary_parts_stay(const struct compact_input *in, const struct compact_plan *p,
                         int64_t budget);

#endif
