#include "session/desk.h"

#include <stdlib.h>

#include "base/mem.h"

enum { SETTLE_MS = 200 };

/* --- the worker's thread ---------------------------------------------------------------------- */

static void open_store(void *desk)
{
    struct desk *d = desk;
    if (place_open(d->place, d->role->mode, &d->store, &d->fault) && d->role->opened)
        d->role->opened(d);
}

static void close_store(void *desk)
{
    struct desk *d = desk;
    if (d->store && d->role->closes)
        d->role->closes(d);
    store_close(d->store);
    d->store = NULL;
}

static void interrupt(void *desk)
{
    struct desk *d = desk;
    if (d->store)
        store_interrupt(d->store);
}

void desk_init(struct desk *d, const struct desk_role *role, struct place *place,
               struct mailbox *notices)
{
    d->role = role;
    d->place = place;
    d->notices = notices;
    d->worker_role = (struct worker_role){.open = open_store,
                                          .close = close_store,
                                          .interrupt = interrupt,
                                          .chores = role->chores,
                                          .chore_count = role->chore_count};
    d->worker = worker_new(&d->worker_role, d);
}

void desk_release(struct desk *d)
{
    worker_free(d->worker);
}

int desk_settle(struct desk *d)
{
    bool done = d->settles && store_settle(d->store);
    d->settles = !done;
    return done ? CHORE_DONE : SETTLE_MS;
}

/* --- requests --------------------------------------------------------------------------------- */

struct request_job {
    struct job job;
    struct operation_answer *answer; /* NULL: it was told */
};

static void tell_answer(struct desk *d, struct request_job *j)
{
    struct notice *n = notice_new(NOTICE_ANSWER);
    n->answer = j->answer;
    j->answer = NULL;
    notice_name_session(n, n->answer->request->session);
    mailbox_push(d->notices, n);
}

/* What could not be used may be by now. */
static void run_request(struct job *job, void *desk, const struct wakeup *wakeup)
{
    struct desk *d = desk;
    struct request_job *j = (struct request_job *)job;
    struct operation_answer *a = j->answer;
    struct error e;
    if (!d->store)
        open_store(d);
    e = d->fault;
    d->wakeup = wakeup;
    if (!d->store ||
        ((a->request->operation->needs & NEED_WRITE) && !place_may_write(d->place, &e)) ||
        !d->role->call(d, a->request, a->result, &e))
        operation_answer_fail(a, &e);
    if (wakeup->go_on(wakeup->context))
        tell_answer(d, j);
}

static void release_request(struct job *job)
{
    struct request_job *j = (struct request_job *)job;
    operation_answer_free(j->answer);
    free(j);
}

static struct request_job *new_request_job(struct operation_request *r)
{
    bool lasting = operation_lasts(r->operation);
    struct request_job *j = mem_alloc(sizeof *j);
    *j = (struct request_job){.job = {.run = run_request,
                                      .release = release_request,
                                      .topic = lasting ? 0 : r->id,
                                      .lasting = lasting},
                              .answer = operation_answer_new(r)};
    return j;
}

void desk_start(struct desk *d, struct operation_request *r)
{
    struct error e;
    struct request_job *j = new_request_job(r);
    if (worker_submit(d->worker, &j->job, &e))
        return;
    operation_answer_fail(j->answer, &e);
    tell_answer(d, j);
    release_request(&j->job);
}

void desk_withdraw(struct desk *d, uint64_t id)
{
    worker_withdraw(d->worker, id);
}
