/* What every decision about a compaction looks at. */
#ifndef COMPACT_INPUT_H
#define COMPACT_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "chat/history.h"
#include "compact/policy.h"

/* A conversation on the eve of a compaction. All is borrowed. */
struct compact_input {
    const struct message *messages;
    size_t count;
    struct message_source *source; /* of those without blocks; NULL: all have them */
    const int64_t *estimates; /* message_estimate_tokens() of each */
    size_t open;              /* index of the running turn's user message; `count`: no turn runs */
    const struct compact_settings *settings;
    int64_t threshold; /* tokens, compact_threshold() */
    int64_t fit;       /* tokens that what stays may take at most; 0: as the mode likes */
};

struct compact_input compact_input_of(const struct history *h, const struct compact_settings *s,
                                      const struct compact_limits *l);

/* A turn as compaction sees it: not all of them are whole any more. */
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
