/* What every decision about a compaction looks at. */
#ifndef COMPACT_PLAN_H
#define COMPACT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/history.h"
#include "chat/rebuild.h"
#include "compact/policy.h"

/* A conversation on the eve of a compaction. All is borrowed. */
struct compact_input {
    const struct message *messages;
    size_t count;
    struct message_source *source; /* of those without blocks; NULL: all have them */
    const int64_t *estimates;      /* message_estimate_tokens() of each */
    size_t open; /* index of the running turn's user message; `count`: no turn runs */
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

/* What goes, what stays, and the messages that come of it. Pure: no model, no clock, no store. */

/* Begins the user message that stands for what went (spec). */
#define COMPACT_PREFIX "[Context compacted]"

/* For each message: stays as it is, goes, or stays as a text alone (a pinned message that has tool
 * calls keeps its words and images). */
enum compact_fate { FATE_STAYS, FATE_GOES, FATE_TEXT_STAYS };

struct compact_plan {
    VEC(enum compact_fate) fates; /* one a message */
    size_t gone;                  /* messages that go */
};
void compact_plan_release(struct compact_plan *p);

/* Whatever the mode: the system's, pinned ones, the running turn's user message. */
bool compact_is_held(const struct compact_input *in, size_t i);

/* The fates by a mode; where the rest must fit, more goes than the mode would let go: behind the
 * gap, oldest first, then the head. System messages, pinned messages and the running turn's user
 * message never go; of pinned ones that only call, the results stay too. An earlier summary goes
 * with whatever else goes, never alone. False: nothing can go (the plan then says that all stay).
 * True with `gone` 0: nothing goes, but tool results are pruned; then no summary is wanted. */
bool compact_plan_make(const struct compact_mode *mode, const struct compact_input *in,
                       struct compact_plan *p);

/* The messages after it: `text` is the whole text of the one user message that stands where the
 * first that goes stood (with its seq and turn, marked as a summary; NULL: none, unless an answer
 * would come first; not used where nothing goes); kept tool results are pruned where the mode
 * prunes; every call is answered and every result has its call; the first message is the user's if
 * it was. */
void compact_plan_rebuild(const struct compact_mode *mode, const struct compact_input *in,
                          const struct compact_plan *p, const char *text, struct rebuild *out);

/* pairs.c: what a rebuild of the messages breaks of pairs, mended in place: a call without result
 * gets an error result (a message behind it), a result without call is removed, a message left
 * empty too. For messages that are well paired it changes nothing. */
void compact_repair_pairs(const struct compact_input *in, struct rebuild *r);

/* Tool results with less in them. */

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
