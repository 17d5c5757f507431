/* What one turn used, what it was refused and what it was warned of, gathered from its events. */
#ifndef CLI_RUN_TALLY_H
#define CLI_RUN_TALLY_H

#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/vec.h"
#include "chat/event.h"

/* A tool call that was not allowed to run. */
struct denied_call {
    char *id, *name, *args, *reason;
};

struct run_tally {
    int64_t turn; /* of the conversation; -1: no model was called yet */
    int model_calls, tool_calls;
    struct usage usage[2]; /* of all model calls; the share of it of those for summaries */
    double cost;           /* USD of those whose cost is known; negative: of none is it */
    int unpriced;       /* the others */
    VEC(struct denied_call) denied;
    VEC(struct event *) requested; /* tool calls of the newest answer */
    VEC(struct event *) warnings;  /* of the budget */
};

void run_tally_init(struct run_tally *t);
void run_tally_release(struct run_tally *t);

void run_tally_event(struct run_tally *t, const struct event *ev);

/* "120 tokens in, 7 tokens out, 1 model call, $0.0012". What was not measured is left out, and so is
 * a cost of nothing. */
void run_tally_line(const struct run_tally *t, struct buf *out);

/* Sets usage, cost, turns, model_calls, tool_calls, denied and budget_warnings. */
void run_tally_json(const struct run_tally *t, struct json *object);

#endif
