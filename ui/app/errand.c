#include "ui/app/errand.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"

/* Shared with the threads that work; the last one to leave frees. */
struct errands {
    struct mailbox *back;
    atomic_int users;
};

static void free_item(void *item)
{
    struct errand *e = item;
    e->release(e);
}

struct errands *errands_new(void)
{
    struct errands *s = mem_alloc(sizeof *s);
    s->back = mailbox_new(free_item);
    atomic_init(&s->users, 1);
    return s;
}

void errands_free(struct errands *s)
{
    if (!s || atomic_fetch_sub(&s->users, 1) > 1)
        return;
    mailbox_free(s->back);
    free(s);
}

struct mailbox *errands_back(struct errands *s)
{
    return s->back;
}

static void *work(void *argument)
{
    struct errand *e = argument;
    struct errands *s = e->errands;
    e->run(e);
    mailbox_push(s->back, e);
    errands_free(s);
    return NULL;
}

void errand_start(struct errands *s, struct errand *e)
{
    sigset_t all, before; /* signals are the screen's */
    pthread_t thread;
    e->errands = s;
    atomic_fetch_add(&s->users, 1);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, work, e) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_detach(thread);
        return;
    }
    e->refused = true;
    mailbox_push(s->back, e);
    errands_free(s);
}

void errand_finish(struct app *app, struct errand *e)
{
    e->done(app, e);
    e->release(e);
}
