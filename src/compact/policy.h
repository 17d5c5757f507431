/* When a history is compacted: a pure function of counters that the session keeps (spec:
 * compaction, When). */
#ifndef COMPACT_POLICY_H
#define COMPACT_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/history.h"
#include "config/config.h"

struct compact_mode;

/* COMPACT_AUTO keeps the newest COMPACT_AUTO_TURNS turns, and older ones while the kept messages
 * take at most COMPACT_AUTO_SHARE of the threshold and of the history. doc/reach.md shows how the
 * share was chosen. */
enum { COMPACT_AUTO = -1, COMPACT_AUTO_TURNS = 4 };
#define COMPACT_AUTO_SHARE 0.4

/* [compaction] as numbers: read once, clamped with a warning that names the key. */
struct compact_settings {
    const struct compact_mode *mode;
    int64_t auto_threshold;   /* tokens */
    double threshold_percent; /* 0.10 … 0.95 of the effective window */
    int recent_turns;         /* COMPACT_AUTO: by the room that there is */
    int64_t max_summary_tokens;
    int min_turns; /* model calls between attempts */
    double target_percent;
    int64_t micro_bytes;
    int protect_head, protect_tail_min;
    double tail_ratio; /* 0.05 … 0.80 */
    int prune_chars;
    int64_t summary_ms; /* that a turn waits for summaries until one is there */
    int max_failures;
    bool preview;
};

/* A text for each key that was out of its bounds: "[compaction] threshold_percent = 1.5: 0.95 is
 * used". */
struct compact_warnings {
    char text[2][160];
    int count;
};

void compact_settings_read(struct compact_settings *s, const struct config *config,
                           struct compact_warnings *w);

enum compact_trigger {
    TRIGGER_NONE,
    TRIGGER_INPUT_TOKENS, /* last_input reached the threshold */
    TRIGGER_ESTIMATE,     /* the history's estimate did */
    TRIGGER_REQUEST,      /* the whole next request reached its own, or cannot fit */
    TRIGGER_OVERFLOW,     /* the provider rejected it as too long */
    TRIGGER_MANUAL
};
const char *compact_trigger_name(enum compact_trigger trigger); /* "input_tokens" */

struct compact_limits {
    int64_t window;     /* tokens of the session's model; 0 unknown */
    int64_t max_output; /* the model's own limit of output; 0 unknown */
    int64_t max_bytes;  /* of a request; 0 unknown */
};

static inline int64_t compact_lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* window - min(max_summary_tokens, max_output, window / 8); 0 where the window is unknown. */
int64_t compact_effective_window(const struct compact_settings *s, const struct compact_limits *l);

/* Threshold of the whole next request: the lesser of threshold_percent x effective window and four
 * fifths of max_bytes at four bytes a token; 0 where both are unknown. */
int64_t compact_request_threshold(const struct compact_settings *s, const struct compact_limits *l);

/* Threshold of the history: min(auto_threshold, threshold_percent x effective window). */
int64_t compact_threshold(const struct compact_settings *s, const struct compact_limits *l);

/* Whether a request of so many tokens is within the effective window and max_bytes; unknown limits
 * hold nothing back. */
bool compact_request_fits(const struct compact_settings *s, const struct compact_limits *l,
                          int64_t request);

struct compact_counters {
    int boundary;       /* model calls of the session before the next one */
    int last_attempt;   /* as struct compaction_state has it, in the same unit; -1 never */
    int64_t last_input; /* tokens of the last response; -1 unknown */
    int64_t estimate;   /* of the history with the new message */
    int64_t request;    /* of the whole next request: system, tools, history */
    bool suspended;     /* the breaker is open for the mode and model that would be used */
    bool bypassed;      /* the guard was passed by in this turn, and no room was made */
    bool compacted;     /* this turn compacted, and has not taken half the threshold since */
    bool micro_useful;  /* there is a tool result that micro-compaction may shorten */
};

struct compact_decision {
    enum compact_trigger trigger; /* NONE: not now */
    bool micro_only;              /* boundary 0: no summary */
    bool must_fit; /* the whole request has to become smaller, not the history alone */
    bool bypasses; /* the loop guard; if it makes no room, not again in this turn */
};
struct compact_decision compact_decide(const struct compact_settings *s,
                                       const struct compact_limits *l,
                                       const struct compact_counters *c);

/* Whether the breaker is open: failures reached the maximum with this mode and model. For any other
 * mode or model it is closed. */
bool compact_suspended(const struct compaction_state *state, const char *mode, const char *model);

/* The number of failures after one more, and whether automatic compaction stops. "cancelled" does
 * not count, "too_small" only where a call was made. */
struct compact_failure_count {
    int failures;
    bool suspended;
};
struct compact_failure_count compact_count_failure(const struct compact_settings *s,
                                                   const struct compaction_state *state,
                                                   const char *mode, const char *model,
                                                   const char *reason, bool called);

#endif
