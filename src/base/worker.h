/* Threads, the mailboxes between them, and workers. */
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wakeup.h"

/* Starts a thread that receives no signals: they belong to the surface's thread. False: the system
 * cannot start one. */
bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* Lowers the priority of the calling thread, where the system has a priority for each thread
 * (Linux). */
void thread_give_way(void);

/* ---- mailboxes ---- A queue between two threads. Items are whole and immutable once pushed; who
 * pops one owns it. The reader sleeps in poll() on mailbox_fd(); the descriptor is readable while
 * items wait, except those pushed lazily while the reader dozed. */

struct mailbox;

/* `free_item` frees the items that are left at mailbox_free(). */
struct mailbox *mailbox_new(void (*free_item)(void *item));
void mailbox_free(struct mailbox *m);

/* With `lazily` it does not wake a reader that dozes. */
void mailbox_put(struct mailbox *m, void *item, bool lazily);
static inline void mailbox_push(struct mailbox *m, void *item)
{
    mailbox_put(m, item, false);
}

/* The reader will look again soon in any case: until mailbox_doze(m, false) only mailbox_push()
 * wakes it. Ending the doze makes the descriptor readable if anything waits. */
void mailbox_doze(struct mailbox *m, bool dozes);

/* NULL when empty; never waits. */
void *mailbox_pop(struct mailbox *m);

/* The number of items that wait; with `is`, of those that it accepts. Never waits itself. */
size_t mailbox_count(struct mailbox *m, bool (*is)(const void *item));

/* Waits up to timeout_ms (-1: for ever). NULL on timeout. */
void *mailbox_wait(struct mailbox *m, int timeout_ms);

int mailbox_fd(const struct mailbox *m);

/* ---- workers ---- A thread that runs jobs in the order in which they came, and chores, a bounded
 * step at a time, while no job waits. It starts with the first job or wanted chore. */

/* The first member of a job's own struct. The worker owns it from worker_submit() on. */
struct job {
    /* On the worker's thread. Whatever it waits for polls `wakeup`, which says stop when the job is
     * superseded, or the worker ends and the job is not lasting. */
    void (*run)(struct job *job, void *context, const struct wakeup *wakeup);
    void (*release)(struct job *job); /* frees it; also called for a job that was not run */
    uint64_t topic; /* a newer job of the same topic, or worker_withdraw(), supersedes this one: it
                       is stopped, or not run at all; 0: nothing does */
    bool lasting;   /* it changes something: run also while the worker ends */
};

/* Returned by a chore's step instead of milliseconds. */
enum { CHORE_DONE = -1 };

/* Work for the time while no job waits. */
struct chore {
    const char *name;
    /* Does a bounded part, and ends early when `wakeup` says stop: a job waits, or the worker ends.
     * Returns the milliseconds until the next step is due (0: at once; after a failure, until the
     * next try), or CHORE_DONE until the chore is wanted again. */
    int (*step)(void *context, const struct wakeup *wakeup);
    bool finishes; /* when the worker ends, steps are taken until one must wait */
};

/* A kind of worker; any function may be NULL. */
struct worker_role {
    void (*open)(void *context);      /* on its thread, first */
    void (*close)(void *context);     /* on its thread, last; not if it never started */
    void (*interrupt)(void *context); /* on any thread, while a job runs that is to stop */
    const struct chore *chores;       /* by priority: the first of those that are due is done */
    size_t chore_count;
};

enum { WORKER_JOBS_MAX = 1024 }; /* that wait or run */

struct worker;

/* Both are borrowed. */
struct worker *worker_new(const struct worker_role *role, void *context);

/* Any thread. Takes the job unless it fails: AGENT_ERROR when WORKER_JOBS_MAX jobs wait, or no
 * thread can be started. */
bool worker_submit(struct worker *w, struct job *job, struct error *e);

/* Any thread. Supersedes the jobs of this topic. */
void worker_withdraw(struct worker *w, uint64_t topic);

/* Any thread. Makes the chore, an index into the role's, due; a chore that waits after a step keeps
 * waiting. The same errors. */
bool worker_want(struct worker *w, size_t chore, struct error *e);

/* On its thread: whether the chore has something to do, now or later. */
bool worker_wants(const struct worker *w, size_t chore);

/* Any thread: whether the worker (a struct worker *) ends; for code that polls. */
bool worker_ends(void *worker);

/* Ends and frees it; NULL is fine. A running job is stopped unless it is lasting; waiting lasting
 * jobs are run, the others released. worker_free() waits for that. */
void worker_free(struct worker *w);
/* The same without waiting: the thread frees the worker when it returns, if it ever does. */
void worker_leave(struct worker *w);

#endif
