/* A thread of the engine's: signals are the surface's, so that it sees none. */
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wakeup.h"

/* False: the system has no thread to give. */
bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* From now on the calling thread gives way to others of the program, where the system gives threads
 * a priority each (Linux). */
void thread_give_way(void);

/* A queue between two threads. Items are whole and immutable once pushed; who pops one owns it.
 * The reader sleeps in poll() on mailbox_fd(); the descriptor is readable while items wait,
 * but for what was pushed lazily while the reader dozed. */

struct mailbox;

/* `free_item` frees what is left at mailbox_free(). */
struct mailbox *mailbox_new(void (*free_item)(void *item));
void mailbox_free(struct mailbox *m);

void mailbox_push(struct mailbox *m, void *item);

/* For items that can wait for the reader's next look: does not wake a reader that dozes. */
void mailbox_push_lazily(struct mailbox *m, void *item);

/* The reader will look again soon whatever comes: until mailbox_doze(m, false) only mailbox_push()
 * wakes it. Ending the doze makes the descriptor readable if anything waits. */
void mailbox_doze(struct mailbox *m, bool dozes);

/* NULL when empty; never waits. */
void *mailbox_pop(struct mailbox *m);

size_t mailbox_len(struct mailbox *m);

/* Whether an item of this kind waits; it stays. Never waits itself. */
bool mailbox_has(struct mailbox *m, bool (*is)(const void *item));

/* Waits up to timeout_ms (-1: for ever). NULL on timeout. */
void *mailbox_wait(struct mailbox *m, int timeout_ms);

int mailbox_fd(const struct mailbox *m);

/* A thread that works off a queue of jobs in the order in which they came, and while none waits
 * does chores, a bounded step at a time. It starts with the first job or wish. */

/* The first member of what a job carries, which is the worker's from worker_submit() on. */
struct job {
    /* On the worker's thread. What it waits for polls `wakeup`, which says stop when the job is
     * superseded, or the worker ends and the job is not lasting. */
    void (*run)(struct job *job, void *context, const struct wakeup *wakeup);
    void (*release)(struct job *job); /* frees it; also one that was not run */
    uint64_t topic; /* a newer job of the same topic, or worker_withdraw(), supersedes this one: it
                       is stopped, or not run at all; 0: nothing does */
    bool lasting;   /* it changes something: run also while the worker ends */
};

/* What a chore's step returns in place of milliseconds. */
enum { CHORE_DONE = -1 };

/* What is done while no job waits. */
struct chore {
    const char *name;
    /* A bounded part, which ends early when `wakeup` says stop: a job waits, or the worker ends.
     * Returns after how many milliseconds the next one is due (0: at once; of one that failed, when
     * it is tried again), or CHORE_DONE until it is wanted anew. */
    int (*step)(void *context, const struct wakeup *wakeup);
    bool finishes; /* when the worker ends, steps are taken until one must wait */
};

/* What a kind of worker is; any function may be NULL. */
struct worker_role {
    void (*open)(void *context);      /* on its thread, before all else */
    void (*close)(void *context);     /* on its thread, after all else; not if it never started */
    void (*interrupt)(void *context); /* on any thread, while a job runs that is to stop */
    const struct chore *chores;       /* by priority: of those that are due the first is done */
    size_t chore_count;
};

enum { WORKER_JOBS_MAX = 1024 }; /* that wait or run */

struct worker;

/* Both are borrowed. */
struct worker *worker_new(const struct worker_role *role, void *context);

/* Any thread. Takes the job, but on failure: AGENT_ERROR when WORKER_JOBS_MAX wait, or no thread is
 * to be had. */
bool worker_submit(struct worker *w, struct job *job, struct error *e);

/* Any thread. The jobs of this topic are superseded, by nothing. */
void worker_withdraw(struct worker *w, uint64_t topic);

/* Any thread. The chore, an index into the role's, is due; one that waits after a step is not
 * hurried. The same errors. */
bool worker_want(struct worker *w, size_t chore, struct error *e);

/* On its thread: whether the chore has something to do, now or later. */
bool worker_wants(const struct worker *w, size_t chore);

/* Any thread: whether it ends; for what asks every few milliseconds. Of a `struct worker`. */
bool worker_ends(void *worker);

/* Ends and frees it; NULL is fine. What runs is stopped unless it is lasting; what is lasting and
 * waits is run, the rest released. worker_free() waits for that. */
void worker_free(struct worker *w);
/* The same without waiting: the thread frees the worker when it comes back, if it ever does. */
void worker_leave(struct worker *w);

#endif
