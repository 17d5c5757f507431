/* The beginning and the end of a child: its pipes and its supervisor. For child.c alone. */
#ifndef BASE_CHILD_START_H
#define BASE_CHILD_START_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/child.h"
#include "base/err.h"
#include "base/supervisor.h"

struct child_process {
    pid_t supervisor;  /* ours until child_reap() */
    pid_t program;     /* the supervisor's; 0: not known yet */
    int in, out;       /* our ends of the program's pipes, not blocking; -1: none, or closed */
    int news;          /* ready for child_hear() */
    int leash;         /* -1: let go */
    int64_t latest_ms; /* then: clock_mono_ms() at which no more is waited for */
};

/* Does not wait: whether the program itself starts is among the news. */
bool child_start(const struct child_command *c, struct child_process *p, struct error *e);

void child_ask_to_end(const struct child_process *p); /* SIGTERM to the group */
void child_end_all(struct child_process *p);          /* at once; does not wait */

/* The next news. False when there will be none any more. */
bool child_hear(struct child_process *p, struct supervisor_news *news);

/* Ends all and waits for that, 3 seconds at most since child_end_all(). The program's pipes stay
 * open. `left_some`: some that it started could not be ended. */
bool child_reap(struct child_process *p, bool *left_some, struct error *e);

#endif
