/* What the parts of a run share: agent.c (the loop and its model calls), run_tools.c (tool calls
 * and whether they may run), run_limits.c (budget and time), run_events.c (what is told). */
#ifndef AGENT_RUN_H
#define AGENT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"

struct run {
    struct agent *a;
    struct error *e;
    bool lost;          /* emit() failed: say no more */
    int64_t started_ms; /* clock_mono_ms() */
    int64_t paused_ms;  /* when the open question was asked */
    int64_t waited_ms;  /* for the user's answers: time that counts for nobody */
    int turn;           /* of the session */
    int calls;          /* model calls so far */
    int tool_calls;
    struct usage usage;
    double cost;              /* USD, of the calls whose cost is known */
    bool accounted;           /* the newest call's usage is in turn_completed */
    struct response response; /* of the newest call */
    struct failure failure;
    struct error end; /* of OUTCOME_FAILED */
};

enum outcome { OUTCOME_DONE, OUTCOME_MORE, OUTCOME_FAILED, OUTCOME_INTERRUPTED };

/* run_limits.c */
int64_t run_elapsed_ms(const struct run *r); /* without the waiting */

/* Whether another model call or tool may begin; else the reason is in `end`. */
bool run_has_budget(struct run *r);
void run_warn(struct run *r);                  /* of budgets that near their end, once each */
int64_t run_output_limit(const struct run *r); /* tokens of the next answer */

/* From here on the wakeup ends what waits when the time is used up. */
void run_set_deadline(struct run *r);
void run_clear_deadline(struct run *r);

/* Around a question to the user. */
void run_pause(struct run *r);
void run_resume(struct run *r);

/* How the run ends after the wakeup said stop: the time is used up, else it was the user. */
enum outcome run_stopped(struct run *r);

/* run_tools.c */
size_t run_offered_tools(const struct agent *a, struct tool_spec **out); /* the caller frees */
enum outcome run_tools(struct run *r); /* those that the newest answer calls */

/* run_events.c */
void run_emit(struct run *r, struct event *ev); /* takes it */
bool run_tell_delta(void *run, enum block_type type, const char *text, size_t len);
void run_tell_started(struct run *r, const char *input, const char *attachments, int64_t retries);
void run_tell_call(struct run *r);
void run_tell_retrying(struct run *r, int attempt, int of, int64_t wait_ms);
void run_tell_warning(struct run *r, const char *code, const char *detail);
void run_tell_answer(struct run *r, bool partial);
void run_tell_call_completed(struct run *r);
void run_tell_completed(struct run *r);
void run_tell_cut(struct run *r, enum outcome outcome);

#endif
