/* The limits of a session ([budget]). Pure arithmetic: the caller keeps the figures and acts. */
#ifndef AGENT_BUDGET_H
#define AGENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "chat/history.h"
#include "config/config.h"

/* X(NAME, key of [budget], unit, decimals that are shown, what helps where it is used up) */
#define BUDGET_KINDS(X)                                                                            \
    X(TOKENS, "max_tokens", "tokens", 0, "start a new session")                                    \
    X(DURATION, "max_duration", "seconds", 1, "start a new session")                               \
    X(TURN_DURATION, "max_turn_duration", "seconds", 1, "go on with the next message")             \
    X(TOOL_CALLS, "max_tool_calls", "tool calls", 0, "start a new session")                        \
    X(COST, "max_cost", "USD", 4, "start a new session")

enum budget_kind {
#define X(id, key, unit, decimals, way_out) BUDGET_##id,
    BUDGET_KINDS(X)
#undef X
        BUDGET_KIND_COUNT
};

/* 0: no limit. In the units of the table. */
struct budget {
    double limit[BUDGET_KIND_COUNT];
    int warned[BUDGET_KIND_COUNT]; /* the highest percentage that was warned of: 0, 80 or 95 */
};

struct budget_use {
    double used[BUDGET_KIND_COUNT]; /* negative: unknown, as the cost of an unknown model is */
};

void budget_read(struct budget *b, const struct config *config);
const char *budget_kind_name(enum budget_kind kind); /* "max_tokens" */

/* Percent of the limit that is used, rounded down; -1 without a limit or a figure. */
int budget_percent(const struct budget *b, const struct budget_use *use, enum budget_kind kind);

/* The limit that is nearest its end; false when there is none. */
bool budget_nearest(const struct budget *b, const struct budget_use *use, enum budget_kind *kind);

/* The next warning that is due (80 %, 95 %) and was not given yet; call until it is false. What
 * was passed at once is warned of once, with the higher one. */
bool budget_next_warning(struct budget *b, const struct budget_use *use, enum budget_kind *kind,
                         int *percent);

/* BUDGET_EXHAUSTED, naming the limit, what was used and what to do, when one is reached. */
bool budget_allows(const struct budget *b, const struct budget_use *use, struct error *e);

/* A new turn of this session: its duration begins anew, and what was warned of in the session, be
 * it by another process, is not warned of again. */
void budget_begin_turn(struct budget *b, const struct history *h);

/* Milliseconds until a limit of time is reached; -1: none. */
int64_t budget_time_left_ms(const struct budget *b, const struct budget_use *use);

/* Tokens that are left; -1: no limit. */
int64_t budget_tokens_left(const struct budget *b, const struct budget_use *use);

#endif
