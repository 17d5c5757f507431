/* What `tiro run` prints: one row a format. */
#ifndef CLI_RUN_OUTPUT_H
#define CLI_RUN_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"
#include "chat/event.h"

/* --- what one turn used, what it was refused and warned of, gathered from its events --- */

/* A tool call that was not allowed to run. */
struct denied_call {
    char *id, *name, *args, *reason;
};

struct run_tally {
    int64_t turn; /* of the conversation; -1: no model was called yet */
    int model_calls, tool_calls;
    struct usage usage[2]; /* of all model calls; the share of it of those for summaries */
    double cost;           /* USD of those whose cost is known; negative: of none is it */
    int unpriced;          /* the others */
    VEC(struct denied_call) denied;
    VEC(struct event *) requested; /* tool calls of the newest answer */
    VEC(struct event *) warnings;  /* of the budget */
};

void run_tally_init(struct run_tally *t);
void run_tally_release(struct run_tally *t);

void run_tally_event(struct run_tally *t, const struct event *ev);

/* "120 tokens in, 7 tokens out, 1 model call, $0.0012". What was not measured is left out, and so
 * is a cost of nothing. */
void run_tally_line(const struct run_tally *t, struct buf *out);

/* Sets usage, cost, turns, model_calls, tool_calls, denied and budget_warnings. */
void run_tally_json(const struct run_tally *t, struct json *object);

/* --- output --- */

struct run_output;

struct output_format {
    const char *name;
    void (*event)(struct run_output *o, const struct event *ev);
    /* After the last event, also when there was none. `e` is what failed; NULL: nothing. */
    void (*finish)(struct run_output *o, const struct error *e);
};

extern const struct output_format output_formats[]; /* ends with a NULL name */

/* NULL, with the nearest name in `e` (USAGE), when there is none. */
const struct output_format *output_format_find(const char *name, struct error *e);

struct run_output {
    const struct output_format *format;
    bool terminal; /* standard output is one: clean what is written */
    bool hints;    /* tell below a compaction how to choose another mode */
    bool progress; /* standard error is a terminal: tell of retries */
    bool quiet;    /* tell only what is wrong */
    bool mid_line; /* the last character was no newline */
    bool mid_text; /* an earlier model call of the turn wrote text */
    char session_id[UUID_LEN + 1];
    char *provider, *model; /* owned; NULL until known */
    struct buf answer;      /* text of the newest model call, whole or partial */
    struct run_tally tally;
    int64_t began_ms;
    struct event *end; /* run_completed, run_failed or interrupted; NULL before */
};

void run_output_init(struct run_output *o, const struct output_format *format);
void run_output_release(struct run_output *o);

/* Prints the event and keeps what finish() will need. False when standard output is closed. */
bool run_output_event(struct run_output *o, const struct event *ev);
bool run_output_finish(struct run_output *o, const struct error *e);

#endif
