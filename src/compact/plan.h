/* Which messages a compaction lets go, and the messages that result. Pure: no model, no clock, no
 * store; messages without blocks are read from their source. */
#ifndef COMPACT_PLAN_H
#define COMPACT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/history.h"
#include "chat/rebuild.h"
#include "compact/policy.h"

/* A conversation before a compaction. All is borrowed. */
struct compact_input {
    const struct message *messages;
    size_t count;
    struct message_source *source; /* of those without blocks; NULL: all have them */
    const int64_t *estimates;      /* message_estimate_tokens() of each */
    size_t open; /* index of the running turn's user message; `count`: no turn runs */
    const struct compact_settings *settings;
    int64_t threshold; /* tokens, compact_threshold() */
    int64_t fit;       /* tokens that the kept messages may take at most; 0: no limit */
    const bool *kept;  /* one a message: it stays, whatever the mode lets go; NULL: none */
};

struct compact_input compact_input_of(const struct history *h, const struct compact_settings *s,
                                      const struct compact_limits *l);

/* A turn, or what earlier compactions left of it. */
struct turn_span {
    size_t first, end; /* messages, the end exclusive */
    int64_t tokens;    /* without earlier summaries */
};
struct turn_spans {
    VEC(struct turn_span) items;
};

/* The complete turns in order, without those that have only pins and earlier summaries left. */
void compact_turns(const struct compact_input *in, struct turn_spans *out);

/* First message of the newest turn, complete or not; `count` without messages. */
size_t compact_newest_turn(const struct compact_input *in);

/* Tokens of messages [first, end), without earlier summaries. */
int64_t compact_tokens(const struct compact_input *in, size_t first, size_t end);

/* Begins the user message that stands for the messages that went (spec). */
#define COMPACT_PREFIX "[Context compacted]"

/* A message stays, goes, or stays without its tool calls (a pinned one keeps its text and images,
 * and its calls if their results are pinned). */
enum compact_fate { FATE_STAYS, FATE_GOES, FATE_TEXT_STAYS };

struct compact_plan {
    VEC(enum compact_fate) fates; /* one a message */
    size_t gone;                  /* messages that go */
};
void compact_plan_release(struct compact_plan *p);

/* Whether the message never goes: the system's, a pinned one, the running turn's user message, one
 * of `kept`. */
bool compact_is_held(const struct compact_input *in, size_t i);

/* The fates by a mode. Where `fit` asks for it more goes than the mode lets go: behind the gap,
 * oldest first, then the head. Results of a pinned message that only calls stay too. An earlier
 * summary goes with the others, never alone. False: nothing can go, and the plan says that all
 * stay. True with `gone` 0: nothing goes, but tool results are pruned; no summary is wanted. */
bool compact_plan_make(const struct compact_mode *mode, const struct compact_input *in,
                       struct compact_plan *p);

/* The messages after it. `text` is the whole text of the user message that takes the place of the
 * first one that goes (with its seq and turn, marked as a summary). NULL: there is none, unless an
 * answer would come first. Kept tool results are pruned where the mode prunes; calls and results
 * are paired; the first message is the user's if it was before. */
void compact_plan_rebuild(const struct compact_mode *mode, const struct compact_input *in,
                          const struct compact_plan *p, const char *text, struct rebuild *out);

/* Pairs calls and results again: a call without a result gets an error result in a message behind
 * it, a result without a call is removed, and so is a message left empty. Well paired messages do
 * not change. */
void compact_repair_pairs(const struct compact_input *in, struct rebuild *r);

/* Whether this tool result was pruned or cut by micro-compaction. */
bool compact_is_shortened(const struct block *b);

/* Micro-compaction: tool results longer than micro_bytes outside the newest turn, cut to their
 * first 1,000 bytes at a grapheme border with a note of their size. False: there are none. */
bool compact_micro(const struct compact_input *in, struct rebuild *out);
bool compact_micro_useful(const struct compact_input *in);

/* Enough: the estimate falls to target_percent of the effective window (unknown: of the threshold)
 * and below the threshold. */
bool compact_micro_enough(const struct compact_input *in, int64_t effective_window,
                          int64_t estimate_after);

#endif
