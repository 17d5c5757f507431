/* Where a fork parts from its session. Pure.
 *
 * A message is a user's input (run_started), one model call's answer (turn_started and what follows
 * until turn_completed) or the results of its tools (tool_execution_completed…). A fork takes along
 * everything up to the end of the message that it was made at, and the end of the run where that
 * comes right after it. A user's message without its answer is no history: it becomes the draft of
 * the fork, which then ends before it, and before what it retried.
 *
 * As a session was before one of its compactions (`before`), a fork ends with the last run that
 * ended before that; the user's message of the run that it came in is the draft. */
#ifndef SESSION_FORK_H
#define SESSION_FORK_H

#include <stdbool.h>

#include "chat/event.h"
#include "chat/session_info.h"

/* A log up to one of its events. */
struct fork_stand {
    int64_t seq;               /* 0: nothing of it */
    struct session_info tally; /* what chat/session_tally.h counts */
};

struct fork_point {
    int64_t at;                /* asked for; 0: the end */
    int64_t before;            /* nothing from this event on, and no part of a run; 0: no bound */
    int64_t last;              /* the last event to take along; 0: none */
    bool open;                 /* the run goes on behind it: the fork's log needs a run_completed */
    bool found;                /* `at` is within the log */
    char *draft;               /* NULL: none; owned */
    struct session_info tally; /* of the events up to `last` */

    /* While it looks: */
    struct fork_stand now, message, run; /* so far; before the message, the run that now is at */
    struct fork_stand compaction;        /* before the one that has begun, with `before` */
    bool compacting;
    enum fork_part { FORK_OUTSIDE, FORK_INPUT, FORK_ANSWER, FORK_RESULTS } part;
    int64_t run_seq;    /* the newest run_started; 0 before the first */
    bool run_answered;  /* that run has a text or a call */
    bool part_answered; /* so has this part of it */
    char *input;        /* and what the user said */
};

void fork_point_begin(struct fork_point *p, int64_t at);

/* The same before the event of this number. */
void fork_point_begin_before(struct fork_point *p, int64_t before);

/* Events in ascending order, until it returns false. */
bool fork_point_look(struct fork_point *p, const struct event *ev);

/* Behind the last of them: fills in the results. */
void fork_point_end(struct fork_point *p);
void fork_point_release(struct fork_point *p);

#endif
