/* The output of `tiro run`, by format. */
#ifndef CLI_RUN_OUTPUT_H
#define CLI_RUN_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "chat/event.h"

/* --- the usage of one turn, its refused tool calls and its warnings, gathered from its events ---
 */

/* A tool call that was not allowed to run. */
struct denied_call {
    char *id, *name, *args, *reason;
};

struct run_tally {
    int64_t turn; /* of the conversation; -1: no model was called yet */
    int model_calls, tool_calls;
    struct usage usage[2]; /* of all model calls; of those that wrote summaries */
    double cost;           /* USD of the model calls whose cost is known; negative: none is known */
    int unpriced;          /* model calls whose cost is not known */
    VEC(struct denied_call) denied;
    VEC(struct event *) requested; /* tool calls of the newest answer */
    VEC(struct event *) warnings;  /* of the budget */
};

/* --- output --- */

struct run_output;

struct output_format {
    const char *name;
    void (*event)(struct run_output *o, const struct event *ev);
    /* After the last event, also when there was none. `e` is the error; NULL: none. */
    void (*finish)(struct run_output *o, const struct error *e);
};

extern const struct output_format output_formats[]; /* ends with a NULL name */

/* NULL, with the nearest name in `e` (USAGE), when there is none. */
const struct output_format *output_format_find(const char *name, struct error *e);

struct run_output {
    const struct output_format *format;
    bool terminal; /* standard output is one: clean what is written */
    bool hints;    /* print below a compaction how to choose another mode */
    bool progress; /* standard error is a terminal: print retries */
    bool quiet;    /* print only warnings and errors on standard error */
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

/* Prints the event and keeps its data for finish(). False when standard output is closed. */
bool run_output_event(struct run_output *o, const struct event *ev);

#endif
