#include "ui/app/errand.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/worker.h"

/* Shared with the workers; who is last to leave frees it. */
struct errands {
    struct mailbox *back;
    atomic_int users;
    struct worker *worker; /* the screen's, like `away` */
    int away;              /* errands that did not come back yet */
};

struct way {
    struct job job;
    struct errands *errands;
    struct errand *errand; /* NULL: it came back */
};

static const struct worker_role role = {.chore_count = 0};

static void free_item(void *item)
{
    struct errand *e = item;
    e->release(e);
}

struct errands *errands_new(void)
{
    struct errands *s = mem_alloc(sizeof *s);
    s->back = mailbox_new(free_item);
    s->worker = worker_new(&role, NULL);
    atomic_init(&s->users, 1);
    return s;
}

static void drop(struct errands *s)
{
    if (atomic_fetch_sub(&s->users, 1) > 1)
        return;
    mailbox_free(s->back);
    free(s);
}

void errands_free(struct errands *s)
{
    if (!s)
        return;
    worker_leave(s->worker);
    drop(s);
}

struct mailbox *errands_back(struct errands *s)
{
    return s->back;
}

static void come_back(struct way *way)
{
    mailbox_push(way->errands->back, way->errand);
    way->errand = NULL;
}

static void run(struct job *job, void *context, const struct wakeup *wakeup)
{
    struct way *way = (struct way *)job;
    (void)context;
    (void)wakeup;
    way->errand->run(way->errand);
    come_back(way);
}

static void release(struct job *job)
{
    struct way *way = (struct way *)job;
    drop(way->errands);
    free(way);
}

/* One that hangs holds up no other: its worker is left to it. */
static void need_idle_worker(struct errands *s)
{
    if (s->away == 0)
        return;
    worker_leave(s->worker);
    s->worker = worker_new(&role, NULL);
}

void errand_start(struct errands *s, struct errand *e)
{
    struct error fault;
    struct way *way = mem_alloc(sizeof *way);
    *way = (struct way){
        .job = {.run = run, .release = release, .lasting = true}, .errands = s, .errand = e};
    e->errands = s;
    need_idle_worker(s);
    s->away++;
    atomic_fetch_add(&s->users, 1);
    if (worker_submit(s->worker, &way->job, &fault))
        return;
    e->refused = true;
    come_back(way);
    release(&way->job);
}

void errand_finish(struct app *app, struct errand *e)
{
    e->errands->away--;
    e->done(app, e);
    e->release(e);
}
