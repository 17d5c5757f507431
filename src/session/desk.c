#include "session/desk.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

/* --- the worker's thread ---------------------------------------------------------------------- */

static void open_store(void *desk)
{
    struct desk *d = desk;
    if (store_open(d->path, d->role->mode, &d->store, &d->fault) && d->role->opened)
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

void desk_init(struct desk *d, const struct desk_role *role, const char *path,
               struct mailbox *notices)
{
    d->role = role;
    d->path = mem_strdup(path);
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
    free(d->path);
}

/* --- answers ---------------------------------------------------------------------------------- */

struct question {
    struct job job;
    const struct answer *answer;
    struct command *command;
};

static const struct answer *find_answer(const struct desk *d, enum command_type type)
{
    const struct answer *answer = d->role->answers;
    while (answer->command != type) {
        answer++;
        assert(answer < d->role->answers + d->role->answer_count);
    }
    return answer;
}

static struct notice *notice_for(const struct command *c, enum notice_type type)
{
    struct notice *n = notice_new(type);
    n->command = c->type;
    n->text = mem_strdup(c->text);
    return n;
}

static struct notice *fault_for(const struct command *c, const struct error *e)
{
    struct notice *n = notice_for(c, NOTICE_ERROR);
    n->error = *e;
    return n;
}

static struct notice *answer(struct desk *d, const struct question *q)
{
    struct error e = d->fault;
    struct notice *n = notice_for(q->command, q->answer->notice);
    if (d->store && q->answer->run(d, q->command, n, &e))
        return n;
    notice_free(n);
    return fault_for(q->command, &e);
}

static void run_question(struct job *job, void *desk, const struct wakeup *wakeup)
{
    struct desk *d = desk;
    d->wakeup = wakeup;
    struct notice *n = answer(d, (struct question *)job);
    if (wakeup->go_on(wakeup->context))
        mailbox_push(d->notices, n);
    else
        notice_free(n);
}

static void release_question(struct job *job)
{
    struct question *q = (struct question *)job;
    command_free(q->command);
    free(q);
}

void desk_ask(struct desk *d, struct command *c)
{
    struct error e;
    const struct answer *answer = find_answer(d, c->type);
    struct question *q = mem_alloc(sizeof *q);
    *q = (struct question){.job = {.run = run_question,
                                   .release = release_question,
                                   .topic = answer->topic,
                                   .lasting = answer->lasting},
                           .answer = answer,
                           .command = c};
    if (worker_submit(d->worker, &q->job, &e))
        return;
    mailbox_push(d->notices, fault_for(c, &e));
    release_question(&q->job);
}
