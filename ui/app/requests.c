#include "ui/app/requests.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/worker.h"

/* Requests to the engine */

void asked_release(struct asked *s)
{
    vec_release(&s->requests);
}

uint64_t asked_start(struct asked *s, struct engine *engine, const struct operation *o,
                     const void *params, struct asked_request by)
{
    by.id = engine_start(engine, o, params);
    by.lasts = operation_lasts(o);
    vec_push(&s->requests, by);
    return by.id;
}

static void withdraw_at(struct asked *s, struct engine *engine, size_t at)
{
    engine_withdraw(engine, s->requests.items[at].id);
    vec_remove(&s->requests, at, 1);
}

void asked_withdraw(struct asked *s, struct engine *engine, uint64_t id)
{
    for (size_t i = s->requests.len; i > 0; i--)
        if (s->requests.items[i - 1].id == id)
            withdraw_at(s, engine, i - 1);
}

void asked_withdraw_view(struct asked *s, struct engine *engine, const struct view *v)
{
    for (size_t i = s->requests.len; i > 0; i--) {
        struct asked_request *r = &s->requests.items[i - 1];
        if (r->view == v && r->lasts)
            *r = (struct asked_request){.id = r->id};
        else if (r->view == v)
            withdraw_at(s, engine, i - 1);
    }
}

bool asked_find(struct asked *s, uint64_t id, struct asked_request *out)
{
    for (size_t i = 0; i < s->requests.len; i++)
        if (s->requests.items[i].id == id) {
            *out = s->requests.items[i];
            vec_remove(&s->requests, i, 1);
            return true;
        }
    return false;
}

bool asked_give(struct app *app, const struct asked_request *r, struct operation_answer *a,
                const char *words)
{
    if (r->view)
        return r->take_view && r->take_view(r->view, a, words);
    return r->take && r->take(app, a, words);
}

/* Errands */

/* Shared with the workers; the last user frees it. */
struct errands {
    struct mailbox *back;
    atomic_int users;
    struct worker *worker; /* the screen's, like `away` */
    int away;              /* errands that have not returned yet */
};

struct way {
    struct job job;
    struct errands *errands;
    struct errand *errand;
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

static void run(struct job *job, void *context, const struct wakeup *wakeup)
{
    struct way *way = (struct way *)job;
    (void)context;
    (void)wakeup;
    way->errand->run(way->errand);
    mailbox_push(way->errands->back, way->errand);
}

static void release(struct job *job)
{
    struct way *way = (struct way *)job;
    drop(way->errands);
    free(way);
}

void errand_start(struct errands *s, struct errand *e)
{
    struct error fault;
    struct way *way = mem_alloc(sizeof *way);
    *way = (struct way){
        .job = {.run = run, .release = release, .lasting = true}, .errands = s, .errand = e};
    e->errands = s;
    if (s->away > 0) { /* the worker may hang: it is left to its errand */
        worker_leave(s->worker);
        s->worker = worker_new(&role, NULL);
    }
    s->away++;
    atomic_fetch_add(&s->users, 1);
    if (worker_submit(s->worker, &way->job, &fault))
        return;
    e->refused = true;
    mailbox_push(s->back, e);
    release(&way->job);
}

void errand_finish(struct app *app, struct errand *e)
{
    e->errands->away--;
    e->done(app, e);
    e->release(e);
}
