/* The turns of a conversation as compaction sees them: not all of them are whole any more. */
#ifndef COMPACT_TURNS_H
#define COMPACT_TURNS_H

#include "compact/plan.h"

struct turn_span {
    size_t first, end; /* messages; `end` is behind the last */
    int64_t tokens;    /* without earlier summaries */
};
struct turn_spans {
    VEC(struct turn_span) items;
};

/* The complete turns of which something can go, in order: where pins and earlier summaries are all
 * that is left of a turn, it is none. */
void compact_turns(const struct compact_input *in, struct turn_spans *out);

/* Where the newest turn begins, be it complete or not; `count` without messages. */
size_t compact_newest_turn(const struct compact_input *in);

/* Of messages [first, end), without earlier summaries. */
int64_t compact_tokens(const struct compact_input *in, size_t first, size_t end);

#endif
