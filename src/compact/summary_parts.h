/* What is to be summarised, as messages of requests in parts that fit a model's window. Pure. */
#ifndef COMPACT_SUMMARY_PARTS_H
#define COMPACT_SUMMARY_PARTS_H

#include <stdint.h>

#include "compact/plan.h"

struct summary_part {
    VEC(struct message) messages; /* owned */
    int64_t tokens;               /* of all of them */
};
struct summary_parts {
    VEC(struct summary_part) items;
};

/* The messages that go (tool calls and results as text, reasoning left out, images named) in parts
 * of at most `budget` tokens (message_estimate_tokens()); budget 0: one part. A message that is
 * longer than a part is split at grapheme borders; one without anything to say is left out. */
void summary_parts_make(const struct compact_input *in, const struct compact_plan *p,
                        int64_t budget, struct summary_parts *out);
void summary_parts_release(struct summary_parts *p);

/* The messages that stay but the system's, as the text of one message of at most `budget` tokens
 * (0: no limit) that says what they are there for. What does not fit is left out from the oldest
 * on. NULL: none. The caller frees. */
#define SUMMARY_STAYS "[This stays in the context, for orientation, do not repeat:]"
char *summary_parts_stay(const struct compact_input *in, const struct compact_plan *p,
                         int64_t budget);

#endif
