/* The state of a turn, and the functions of its parts: agent.c (the loop, its model calls and what
 * it tells), turn_tools.c (tool calls and whether they may run), turn_compact.c (making room for a
 * call), budget.c (budget and time). */
#ifndef AGENT_TURN_H
#define AGENT_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"

/* A tool call that failed; no call has succeeded since. */
struct failed_call {
    char *call; /* tool and arguments */
    int times;  /* answers in which it failed: the model sees no result within an answer */
    int last;   /* number of the newest of these answers */
};

struct turn {
    struct agent *a;
    struct error *e;
    bool lost;          /* emit() failed: say no more */
    int64_t started_ms; /* clock_mono_ms() */
    int64_t paused_ms;  /* when the open question was asked */
    int64_t waited_ms;  /* for the user's answers: time that counts for nobody */
    int number;         /* of the turn in its session */
    int calls;          /* model calls so far */
    int tool_calls;
    VEC(struct failed_call) failed;
    struct usage usage;
    struct usage overhead; /* of summaries: part of the budget, not of the answer */
    double cost;           /* USD, of the calls whose cost is known; negative: of none is it */
    int64_t summary_ms;    /* left for summaries until a compaction succeeds; -1: no limit */
    int64_t compacted;     /* tokens of the history after the turn's last compaction; 0: none */
    bool guard_bypassed;   /* a compaction passed by the loop guard, and made no room */
    bool overflowed;       /* the newest request was rejected as too long, and compacted for */
    int64_t max_bytes;     /* of a summary's request, after an overflow; 0: as configured */
    bool accounted;        /* the newest call's usage is in turn_completed */
    const struct compact_job *compacting; /* of the last compaction; not valid after it */
    bool admitted; /* that compaction applied a mode: hooks were asked, and none refused */
    struct summariser summariser; /* the turn's own model, where it is the one */
    struct response response;     /* of the newest call */
    size_t told;                  /* blocks of it that are told */
    struct failure failure;
    struct error end; /* of OUTCOME_FAILED */
};

enum outcome { OUTCOME_DONE, OUTCOME_MORE, OUTCOME_FAILED, OUTCOME_INTERRUPTED };

/* budget.c */
int64_t turn_elapsed_ms(const struct turn *t); /* without the waiting */

/* Whether another model call or tool may begin; else the reason is in `end`. */
bool turn_has_budget(struct turn *t);
void turn_warn(struct turn *t); /* of budgets that near their end, once each */
/* Tokens of the next answer: at most `most`, and at most the rest of the budget. */
int64_t turn_output_within(const struct turn *t, int64_t most);

/* Sets the wakeup's deadline to the end of the time that the budget leaves. */
void turn_set_deadline(struct turn *t);
void turn_clear_deadline(struct turn *t);

/* Around a question to the user. */
void turn_pause(struct turn *t);
void turn_resume(struct turn *t);

/* How the turn ends after the wakeup said stop: the time is used up, else it was the user. */
enum outcome turn_stopped(struct turn *t);

/* turn_tools.c */
enum outcome turn_run_tools(struct turn *t);    /* runs the tools that the newest answer calls */
enum outcome turn_end_at_limit(struct turn *t); /* warns that [tools] max_calls is reached */

/* agent.c */
void turn_emit(struct turn *t, struct event *ev); /* takes it */
void turn_tell_warning(struct turn *t, const char *code, const char *detail);
void turn_tell_end(struct turn *t, enum outcome outcome);
void turn_pin_last(struct turn *t); /* the newest message */
/* One model call with its retries, which are told. `failure` has the reason of the last. */
bool turn_call_model(struct turn *t, const struct provider *provider,
                     const struct provider_call *call, const struct request *request,
                     struct response *response, struct failure *failure);

/* turn_compact.c */
/* Bytes that the result of a tool may have so that the next request can hold it beside all that the
 * turn has found; SIZE_MAX: no limit is known. */
size_t turn_room(const struct turn *t);

/* Before a model call: compacts if it is time to. A failure is told and changes nothing; false:
 * the turn cannot go on (interrupted, or the record is lost), with the outcome. */
bool turn_make_room(struct turn *t, enum outcome *outcome);

/* After a model call that failed: if it was rejected as too long, compacts, once until an answer
 * comes. True: call again. False with the outcome where the turn cannot go on; else the failure
 * stands, and the outcome is untouched. */
bool turn_recover_overflow(struct turn *t, enum outcome *outcome);

#endif
