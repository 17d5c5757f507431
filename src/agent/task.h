/* Tasks: commands of the model that run on threads of their own.
 *
 * A call of run_command starts a task and waits for it. In the background a task has a number and
 * runs until it ends, task_stop ends it, or the session is left. None outlives the program: the
 * supervisor of base/child.h ends it. All functions are for the thread of the conversation. */
#ifndef AGENT_TASK_H
#define AGENT_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/err.h"
#include "base/sandbox.h"
#include "base/wakeup.h"

enum {
    TASKS_MOST = 16,       /* that run in the background */
    TASK_PIECE = 8 * 1024, /* bytes that are shown at once; at most twice as many */
    TASK_GRACE_MS = 4000   /* the longest time from task_stop() or task_kill() to the end */
};

struct task_thread;

struct task {
    int number;             /* 0: a call waits for it */
    char *command;          /* owned */
    bool confined, network; /* it has a sandbox, which lets it use the network */
    int64_t started_ms;     /* clock_mono_ms() */
    bool stopped;           /* by task_stop() while it ran */
    bool told, announced;   /* its end: to the model, to the user */

    bool over; /* as task_is_over() found; then the rest is set */
    int64_t ended_ms;
    struct error fault; /* ERR_OK: it was run, with this result */
    struct child_result result;
    struct task_thread *thread;
};

struct tasks {
    struct task *items[TASKS_MOST]; /* in the background, the oldest first; some may be over */
    size_t count;
    int last;           /* number of the newest; 0: there was none yet */
    struct task *front; /* that a call waits for; NULL: none */
    bool aside;         /* the user puts it into the background */
    /* A task has ended; called on its thread. NULL: nobody wants to know. */
    void (*ended)(void *context);
    void *context;
};

struct task_command {
    const char *text;        /* for /bin/sh */
    const char *directory;   /* an absolute path */
    const char *environment; /* names of further variables; NULL: none */
    struct sandbox *sandbox; /* taken, also on failure; NULL: it is not confined */
    bool network;
    int64_t deadline_ms; /* clock_mono_ms() at which it is killed, while a call waits for it */
    size_t max_output;   /* bytes that are kept until they are taken, about */
    bool shown;          /* task_unshown() is wanted */
};

/* NULL with the reason: it cannot be started. To be freed, or put into the background. */
struct task *task_start(struct tasks *t, const struct task_command *c, struct error *e);
void task_free(struct task *task); /* kills it, if it runs */

bool task_is_over(struct task *task);

/* Waits for the end of the task, until `until_ms` (clock_mono_ms()) or until the wakeup was asked.
 * False: the wakeup (NULL: none) says stop. */
bool task_wait(struct task *task, const struct wakeup *wakeup, int64_t until_ms);

/* Do not wait. */
void task_kill(struct task *task); /* SIGKILL to all that it started */
void task_stop(struct task *task); /* SIGTERM, and SIGKILL half a second later */

/* Appends the output since the last call, cleaned, with a note where some was left out. */
void task_take_output(struct task *task, struct buf *out);

/* Appends the bytes since the last call. True: some before them were left out, and `out` had what
 * was before those: it is emptied first. */
bool task_unshown(struct task *task, struct buf *out);

/* Whether another task may be put into the background; the table forgets one that is over if it is
 * full. */
bool tasks_have_room(struct tasks *t, struct error *e);
/* Gives the task a number and no deadline. There is room. */
void tasks_put_aside(struct tasks *t, struct task *task);

size_t tasks_running(struct tasks *t); /* in the background */

/* Ends all tasks as task_stop() and forgets them. Returns how many ran. */
size_t tasks_end(struct tasks *t);

#endif
