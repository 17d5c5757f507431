#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall() */
#endif
#include "base/worker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#endif

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"

/* --- waiting ---------------------------------------------------------------------------------- */

/* Milliseconds until the clock shows this, at least 0. */
static int remaining(int64_t deadline)
{
    int64_t left = deadline - clock_mono_ms();
    if (left > INT_MAX)
        return INT_MAX;
    return left > 0 ? (int)left : 0;
}

int wakeup_timeout(const struct wakeup *w, int timeout_ms)
{
    if (!w || w->deadline_ms == 0)
        return timeout_ms;
    int left = remaining(w->deadline_ms);
    return timeout_ms < 0 || left < timeout_ms ? left : timeout_ms;
}

bool wakeup_late(const struct wakeup *w)
{
    return w && w->deadline_ms != 0 && clock_mono_ms() >= w->deadline_ms;
}

bool wakeup_sleep(const struct wakeup *w, int timeout_ms)
{
    struct pollfd waker = {.fd = w ? w->fd : -1, .events = POLLIN};
    int64_t end = clock_mono_ms() + timeout_ms;
    int left = timeout_ms;
    for (;;) {
        int ready = poll(&waker, 1, wakeup_timeout(w, left));
        bool woken = ready > 0 && (waker.revents & POLLIN);
        if ((woken || wakeup_late(w)) && !w->go_on(w->context))
            return false;
        if (ready < 0 && errno != EINTR)
            return true;
        if (ready > 0 && !woken)
            waker.fd = -1; /* hung up: it would be ready for ever */
        if (timeout_ms >= 0)
            left = remaining(end);
        if (timeout_ms >= 0 && left == 0)
            return true;
    }
}

/* --- threads ---------------------------------------------------------------------------------- */

/* The usual limit of a login shell, whatever the limit of ours. Only used pages take memory. */
enum { STACK_BYTES = 8 << 20 };

bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                   pthread_create(thread, &attributes, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

void thread_give_way(void)
{
#ifdef __linux__
    enum { NICENESS = 10 };
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
#endif
}

/* --- mailboxes -------------------------------------------------------------------------------- */

/* Invariants under the lock: the pipe has one byte if `signalled`, else none; waiting items are
 * unsignalled only if all of them were pushed lazily while the reader dozed. So a push into a
 * signalled queue costs no system call, and the pipe cannot fill up. */
struct mailbox {
    pthread_mutex_t lock;
    int reader, writer;
    void (*free_item)(void *item);
    void **ring;
    size_t cap, head, len;
    bool signalled, dozes;
};

struct mailbox *mailbox_new(void (*free_item)(void *item))
{
    struct mailbox *m = mem_alloc(sizeof *m);
    int ends[2];
    if (pthread_mutex_init(&m->lock, NULL) != 0 || !descriptors_pipe(ends))
        die("cannot make a pipe between threads");
    for (int i = 0; i < 2; i++) {
        int flags = fcntl(ends[i], F_GETFL);
        if (flags < 0 || fcntl(ends[i], F_SETFL, flags | O_NONBLOCK) < 0)
            die("cannot set up a pipe");
    }
    m->reader = ends[0];
    m->writer = ends[1];
    m->free_item = free_item;
    return m;
}

void mailbox_free(struct mailbox *m)
{
    if (!m)
        return;
    for (void *item; (item = mailbox_pop(m));) {
        if (m->free_item)
            m->free_item(item);
    }
    close(m->reader);
    close(m->writer);
    pthread_mutex_destroy(&m->lock);
    free(m->ring);
    free(m);
}

static void raise_signal(struct mailbox *m)
{
    ssize_t done;
    if (m->signalled)
        return;
    m->signalled = true;
    do
        done = write(m->writer, "", 1);
    while (done < 0 && errno == EINTR);
    assert(done == 1);
    (void)done;
}

void mailbox_put(struct mailbox *m, void *item, bool lazily)
{
    assert(item);
    pthread_mutex_lock(&m->lock);
    if (m->len == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 16;
        void **ring = mem_alloc(cap * sizeof *ring);
        for (size_t i = 0; i < m->len; i++)
            ring[i] = m->ring[(m->head + i) % m->cap];
        free(m->ring);
        m->ring = ring;
        m->cap = cap;
        m->head = 0;
    }
    m->ring[(m->head + m->len++) % m->cap] = item;
    if (!lazily || !m->dozes)
        raise_signal(m);
    pthread_mutex_unlock(&m->lock);
}

void mailbox_doze(struct mailbox *m, bool dozes)
{
    pthread_mutex_lock(&m->lock);
    m->dozes = dozes;
    if (!dozes && m->len > 0)
        raise_signal(m);
    pthread_mutex_unlock(&m->lock);
}

void *mailbox_pop(struct mailbox *m)
{
    void *item = NULL;
    pthread_mutex_lock(&m->lock);
    if (m->len) {
        item = m->ring[m->head];
        m->head = (m->head + 1) % m->cap;
        m->len--;
    }
    if (item && m->len == 0 && m->signalled) {
        char byte;
        ssize_t done;
        m->signalled = false;
        do
            done = read(m->reader, &byte, 1);
        while (done < 0 && errno == EINTR);
        assert(done == 1);
        (void)done;
    }
    pthread_mutex_unlock(&m->lock);
    return item;
}

size_t mailbox_count(struct mailbox *m, bool (*is)(const void *item))
{
    pthread_mutex_lock(&m->lock);
    size_t count = is ? 0 : m->len;
    for (size_t i = 0; is && i < m->len; i++)
        count += is(m->ring[(m->head + i) % m->cap]);
    pthread_mutex_unlock(&m->lock);
    return count;
}

void *mailbox_wait(struct mailbox *m, int timeout_ms)
{
    int64_t deadline = clock_mono_ms() + timeout_ms;
    int left = timeout_ms;
    for (;;) {
        void *item = mailbox_pop(m);
        if (item)
            return item;
        struct pollfd ready = {.fd = m->reader, .events = POLLIN};
        if (poll(&ready, 1, left) == 0)
            return mailbox_pop(m);
        if (timeout_ms >= 0)
            left = remaining(deadline);
    }
}

int mailbox_fd(const struct mailbox *m)
{
    return m->reader;
}

/* --- workers ---------------------------------------------------------------------------------- */

struct chore_state {
    bool asked;    /* a request of worker_want() is in the box; under the lock */
    bool wanted;   /* this and the next are the thread's own */
    int64_t at_ms; /* clock_mono_ms() before which no step is taken; 0: at once */
};

struct worker {
    const struct worker_role *role;
    void *context;
    struct mailbox *box;
    pthread_t thread;

    pthread_mutex_t lock; /* over these */
    bool started, ends, ended, left;
    size_t load;               /* jobs that are not released yet */
    const struct job *running; /* NULL: none */

    struct chore_state *chores;
    VEC(struct job *) waiting; /* the thread's own: jobs taken out of the box */
};

static void release_job(void *item)
{
    struct job *job = item;
    job->release(job);
}

struct worker *worker_new(const struct worker_role *role, void *context)
{
    struct worker *w = mem_alloc(sizeof *w);
    *w = (struct worker){.role = role, .context = context, .box = mailbox_new(release_job)};
    w->chores = mem_alloc((role->chore_count + 1) * sizeof *w->chores);
    pthread_mutex_init(&w->lock, NULL);
    return w;
}

static void free_worker(struct worker *w)
{
    mailbox_free(w->box);
    vec_release(&w->waiting);
    pthread_mutex_destroy(&w->lock);
    free(w->chores);
    free(w);
}

bool worker_ends(void *worker)
{
    struct worker *w = worker;
    pthread_mutex_lock(&w->lock);
    bool ends = w->ends;
    pthread_mutex_unlock(&w->lock);
    return ends;
}

static void drop_job(struct worker *w, struct job *job)
{
    job->release(job);
    pthread_mutex_lock(&w->lock);
    w->load--;
    pthread_mutex_unlock(&w->lock);
}

static bool supersedes(const struct job *newer, const struct job *older)
{
    return newer->topic != 0 && newer->topic == older->topic;
}

static void add_waiting(struct worker *w, struct job *job)
{
    for (size_t i = w->waiting.len; i > 0; i--) {
        struct job *older = w->waiting.items[i - 1];
        if (supersedes(job, older)) {
            vec_remove(&w->waiting, i - 1, 1);
            drop_job(w, older);
        }
    }
    vec_push(&w->waiting, job);
}

/* Takes all new jobs out of the box. */
static void take_waiting(struct worker *w)
{
    for (struct job *job; (job = mailbox_pop(w->box));)
        add_waiting(w, job);
}

/* The wakeup of a job: go on unless it is superseded, or the worker ends and it is not lasting. */
static bool job_goes_on(void *worker)
{
    struct worker *w = worker;
    take_waiting(w);
    for (size_t i = 0; i < w->waiting.len; i++)
        if (supersedes(w->waiting.items[i], w->running))
            return false;
    return w->running->lasting || !worker_ends(w);
}

static bool chore_goes_on(void *worker)
{
    struct worker *w = worker;
    take_waiting(w);
    return w->waiting.len == 0 && !worker_ends(w);
}

static void set_running(struct worker *w, const struct job *job)
{
    pthread_mutex_lock(&w->lock);
    w->running = job;
    pthread_mutex_unlock(&w->lock);
}

/* Takes one step. Returns whether the next one may follow at once. */
static bool step_chore(struct worker *w, size_t which)
{
    const struct wakeup wakeup = {.fd = mailbox_fd(w->box), .go_on = chore_goes_on, .context = w};
    struct chore_state *chore = &w->chores[which];
    int wait_ms = w->role->chores[which].step(w->context, &wakeup);
    chore->wanted = wait_ms != CHORE_DONE;
    chore->at_ms = wait_ms > 0 ? clock_mono_ms() + wait_ms : 0;
    return wait_ms == 0;
}

bool worker_wants(const struct worker *w, size_t chore)
{
    return w->chores[chore].wanted;
}

/* Runs jobs, and chores while no job waits, until the worker ends. */
static void work(struct worker *w)
{
    const struct wakeup wakeup = {.fd = mailbox_fd(w->box), .go_on = job_goes_on, .context = w};
    for (;;) {
        /* Asked first: all jobs of before the end are in the box then. */
        bool ends = worker_ends(w);
        take_waiting(w);
        if (w->waiting.len > 0) {
            struct job *job = w->waiting.items[0];
            vec_remove(&w->waiting, 0, 1);
            set_running(w, job);
            if (job_goes_on(w))
                job->run(job, w->context, &wakeup);
            set_running(w, NULL);
            drop_job(w, job);
            continue;
        }
        if (ends)
            return;
        int due_ms = -1; /* of the chore that is due next; -1: none */
        size_t next = 0;
        for (size_t i = 0; i < w->role->chore_count; i++) {
            int left = remaining(w->chores[i].at_ms);
            if (w->chores[i].wanted && (due_ms < 0 || left < due_ms)) {
                due_ms = left;
                next = i;
            }
        }
        struct job *job = mailbox_wait(w->box, due_ms);
        if (job)
            add_waiting(w, job);
        else if (remaining(w->chores[next].at_ms) == 0)
            step_chore(w, next);
    }
}

static void *thread_main(void *worker)
{
    struct worker *w = worker;
    if (w->role->open)
        w->role->open(w->context);
    work(w);
    for (size_t i = 0; i < w->role->chore_count; i++)
        for (bool more = w->role->chores[i].finishes && w->chores[i].wanted; more;)
            more = step_chore(w, i);
    if (w->role->close)
        w->role->close(w->context);
    pthread_mutex_lock(&w->lock);
    bool left = w->left;
    w->ended = true;
    pthread_mutex_unlock(&w->lock);
    if (left)
        free_worker(w);
    return NULL;
}

/* These hold the lock, so that the running job does not end meanwhile. */

static bool start(struct worker *w, struct error *e)
{
    if (w->load >= WORKER_JOBS_MAX)
        return err_set(e, ERR_AGENT_ERROR, "too much is asked at once; try again");
    w->started = w->started || thread_start(&w->thread, thread_main, w);
    return w->started || err_set(e, ERR_AGENT_ERROR, "the system cannot start another thread");
}

static void push(struct worker *w, struct job *job)
{
    bool superseded = w->running && supersedes(job, w->running);
    w->load++;
    mailbox_push(w->box, job);
    if (superseded && w->role->interrupt)
        w->role->interrupt(w->context);
}

bool worker_submit(struct worker *w, struct job *job, struct error *e)
{
    pthread_mutex_lock(&w->lock);
    bool ok = start(w, e);
    if (ok)
        push(w, job);
    pthread_mutex_unlock(&w->lock);
    return ok;
}

/* A job of our own: it says that a chore is wanted, or does nothing but wake the thread and
 * supersede the jobs of its topic. */
struct request {
    struct job job;
    struct worker *worker;
    struct chore_state *chore; /* NULL: does nothing */
};

static void run_request(struct job *job, void *context, const struct wakeup *wakeup)
{
    struct request *request = (struct request *)job;
    struct worker *w = request->worker;
    (void)context;
    (void)wakeup;
    if (!request->chore)
        return;
    pthread_mutex_lock(&w->lock);
    request->chore->asked = false;
    pthread_mutex_unlock(&w->lock);
    request->chore->wanted = true;
}

static void release_request(struct job *job)
{
    free(job);
}

static void push_request(struct worker *w, struct chore_state *chore, uint64_t topic)
{
    struct request *request = mem_alloc(sizeof *request);
    *request = (struct request){
        .job = {.run = run_request, .release = release_request, .topic = topic, .lasting = true},
        .worker = w,
        .chore = chore};
    push(w, &request->job);
}

bool worker_want(struct worker *w, size_t chore, struct error *e)
{
    pthread_mutex_lock(&w->lock);
    bool asked = w->chores[chore].asked, ok = asked || start(w, e);
    if (ok && !asked) {
        w->chores[chore].asked = true;
        push_request(w, &w->chores[chore], 0);
    }
    pthread_mutex_unlock(&w->lock);
    return ok;
}

void worker_withdraw(struct worker *w, uint64_t topic)
{
    pthread_mutex_lock(&w->lock);
    if (w->load > 0)
        push_request(w, NULL, topic);
    pthread_mutex_unlock(&w->lock);
}

/* Holds the lock. */
static void end(struct worker *w)
{
    w->ends = true;
    push_request(w, NULL, 0);
    if (w->running && !w->running->lasting && w->role->interrupt)
        w->role->interrupt(w->context);
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    bool started = w->started;
    if (started)
        end(w);
    pthread_mutex_unlock(&w->lock);
    if (started)
        pthread_join(w->thread, NULL);
    free_worker(w);
}

void worker_leave(struct worker *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    bool works = w->started && !w->ended;
    if (works) {
        w->left = true;
        pthread_detach(w->thread);
        end(w);
    }
    pthread_mutex_unlock(&w->lock);
    if (!works)
        worker_free(w);
}
