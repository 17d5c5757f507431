#include "serve/server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "serve/contract.h"
#include "serve/notification.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"

/* Of one round, so that neither a stream of notices nor long answers starve a descriptor. */
enum { NOTICES_AT_ONCE = 1024, NOTICES_MS = 10 };

struct watch {
    int fd; /* -1: unwatched */
    short events;
    void (*ready)(void *context, short revents);
    void *context;
};

struct timer {
    int64_t due_ms;             /* clock_mono_ms() */
    void (*due)(void *context); /* NULL: taken back, or over */
    void *context;
};

struct listener {
    void (*notice)(void *context, const struct notice *n); /* NULL: deafened */
    void *context;
};

struct surface_end {
    void (*stop)(void *context); /* NULL: taken back */
    bool (*is_written)(void *context);
    void *context;
};

struct ask {
    uint64_t id;
    server_answered *done;
    void *context;
};

struct busy {
    char session[UUID_LEN + 1];
};

struct server {
    const struct config *config;
    struct engine_options options;
    struct engine *engine;
    struct mailbox *notices;
    struct transfers *transfers;
    struct tails *tails;
    struct questions *questions;
    VEC(struct watch *) watches; /* those that are gone are freed between two rounds, as others */
    VEC(struct pollfd) polled;   /* first the mailbox, then as `watches` */
    VEC(struct timer *) timers;
    VEC(struct listener *) listeners;
    VEC(struct surface_end *) ends;
    VEC(struct ask) asks;
    VEC(struct busy) busy; /* sessions in which a turn or a compaction runs */
    int holds;
    bool stops;
    int64_t stop_by_ms;
};

struct server *server_new(const struct engine_options *options)
{
    struct server *s = mem_alloc(sizeof *s);
    s->config = options->config;
    s->options = *options;
    s->engine = engine_new(options);
    s->notices = engine_notices(s->engine);
    s->transfers = transfers_new(s, options);
    s->tails = tails_new();
    s->questions = questions_new();
    return s;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    transfers_free(s->transfers);
    tails_free(s->tails);
    questions_free(s->questions);
    engine_free(s->engine);
    vec_free_each(&s->watches);
    vec_free_each(&s->timers);
    vec_free_each(&s->listeners);
    vec_free_each(&s->ends);
    vec_release(&s->polled);
    vec_release(&s->asks);
    vec_release(&s->busy);
    free(s);
}

bool server_open_store(struct server *s, struct error *e)
{
    return engine_open_store(s->engine, e);
}

const struct config *server_config(const struct server *s)
{
    return s->config;
}

const struct engine_options *server_options(const struct server *s)
{
    return &s->options;
}

struct transfers *server_transfers(struct server *s)
{
    return s->transfers;
}

const struct tails *server_tails(const struct server *s)
{
    return s->tails;
}

const struct questions *server_questions(const struct server *s)
{
    return s->questions;
}

/* --- descriptors and times -------------------------------------------------------------------- */

struct watch *server_watch(struct server *s, int fd, short events,
                           void (*ready)(void *context, short revents), void *context)
{
    struct watch *w = mem_alloc(sizeof *w);
    *w = (struct watch){fd, events, ready, context};
    vec_push(&s->watches, w);
    return w;
}

void watch_events(struct watch *w, short events)
{
    w->events = events;
}

void server_unwatch(struct server *s, struct watch *w)
{
    (void)s;
    if (w)
        w->fd = -1;
}

struct timer *server_after(struct server *s, int ms, void (*due)(void *context), void *context)
{
    struct timer *t = mem_alloc(sizeof *t);
    *t = (struct timer){clock_mono_ms() + ms, due, context};
    vec_push(&s->timers, t);
    return t;
}

void server_take_back(struct server *s, struct timer *t)
{
    (void)s;
    if (t)
        t->due = NULL;
}

static void call_due(struct server *s)
{
    int64_t now = clock_mono_ms();
    for (size_t i = 0; i < s->timers.len; i++) {
        struct timer *t = s->timers.items[i];
        void (*due)(void *context) = t->due;
        if (!due || t->due_ms > now)
            continue;
        t->due = NULL;
        due(t->context);
    }
}

#define SWEEP(v, is_gone)                                                                          \
    do {                                                                                           \
        size_t kept = 0;                                                                           \
        for (size_t i = 0; i < (v)->len; i++)                                                      \
            if (is_gone((v)->items[i]))                                                            \
                free((v)->items[i]);                                                               \
            else                                                                                   \
                (v)->items[kept++] = (v)->items[i];                                                \
        (v)->len = kept;                                                                           \
    } while (0)

static bool is_unwatched(const struct watch *w)
{
    return w->fd < 0;
}

static bool is_over(const struct timer *t)
{
    return !t->due;
}

static bool is_deaf(const struct listener *l)
{
    return !l->notice;
}

static bool is_taken_back(const struct surface_end *end)
{
    return !end->stop;
}

static void sweep(struct server *s)
{
    SWEEP(&s->ends, is_taken_back);
    SWEEP(&s->watches, is_unwatched);
    SWEEP(&s->timers, is_over);
    SWEEP(&s->listeners, is_deaf);
}

/* --- the engine ------------------------------------------------------------------------------- */

uint64_t server_ask(struct server *s, const struct operation *o, const void *params,
                    server_answered *done, void *context)
{
    uint64_t id = engine_start(s->engine, o, params);
    vec_push(&s->asks, (struct ask){id, done, context});
    return id;
}

/* False: nobody waits for it. */
static bool take_ask(struct server *s, uint64_t id, struct ask *out)
{
    for (size_t i = 0; i < s->asks.len; i++)
        if (s->asks.items[i].id == id) {
            *out = s->asks.items[i];
            vec_remove(&s->asks, i, 1);
            return true;
        }
    return false;
}

void *server_withdraw(struct server *s, uint64_t id)
{
    struct ask gone;
    if (!take_ask(s, id, &gone))
        return NULL;
    engine_withdraw(s->engine, id);
    return gone.context;
}

bool server_cancel(struct server *s, uint64_t id, void **context)
{
    bool undone = engine_cancel(s->engine, id);
    *context = server_withdraw(s, id);
    return undone;
}

struct listener *server_listen(struct server *s,
                               void (*notice)(void *context, const struct notice *n), void *context)
{
    struct listener *l = mem_alloc(sizeof *l);
    *l = (struct listener){notice, context};
    vec_push(&s->listeners, l);
    return l;
}

void server_deafen(struct server *s, struct listener *l)
{
    (void)s;
    if (l)
        l->notice = NULL;
}

/* Nobody waits for the answer: what matters is that the turn ends. */
static void interrupt(struct server *s, const struct busy *b)
{
    (void)engine_start(s->engine, &operation_turn_interrupt,
                       &(struct session_params){.session = b->session});
}

static void note_busy(struct server *s, const struct notice *n)
{
    struct busy now;
    memcpy(now.session, n->session, sizeof now.session);
    for (size_t i = s->busy.len; i-- > 0;)
        if (strcmp(s->busy.items[i].session, now.session) == 0)
            vec_remove(&s->busy, i, 1);
    if (n->flag)
        vec_push(&s->busy, now);
    if (n->flag && s->stops)
        interrupt(s, &now);
}

static void hand_out(struct server *s, const struct notice *n)
{
    struct ask ask;
    if (n->type == NOTICE_ANSWER) {
        if (take_ask(s, n->answer->request->id, &ask))
            ask.done(ask.context, n->answer);
        return;
    }
    if (n->type == NOTICE_BUSY)
        note_busy(s, n);
    tails_note(s->tails, n);
    questions_note(s->questions, n);
    for (size_t i = 0; i < s->listeners.len; i++)
        if (s->listeners.items[i]->notice)
            s->listeners.items[i]->notice(s->listeners.items[i]->context, n);
}

static void hand_out_notices(struct server *s)
{
    struct notice *n;
    int64_t until = clock_mono_ms() + NOTICES_MS;
    for (int i = 0; i < NOTICES_AT_ONCE && (n = mailbox_pop(s->notices)); i++) {
        hand_out(s, n);
        notice_free(n);
        if (clock_mono_ms() >= until)
            return;
    }
}

/* --- the loop --------------------------------------------------------------------------------- */

void server_hold(struct server *s)
{
    s->holds++;
}

void server_let_go(struct server *s)
{
    if (--s->holds == 0)
        server_stop(s);
}

struct surface_end *server_at_end(struct server *s, void (*stop)(void *context),
                                  bool (*is_written)(void *context), void *context)
{
    struct surface_end *end = mem_alloc(sizeof *end);
    *end = (struct surface_end){stop, is_written, context};
    vec_push(&s->ends, end);
    return end;
}

void server_take_end(struct server *s, struct surface_end *end)
{
    (void)s;
    if (end)
        end->stop = NULL;
}

bool server_stopping(const struct server *s)
{
    return s->stops;
}

void server_stop(struct server *s)
{
    if (s->stops)
        return;
    s->stops = true;
    s->stop_by_ms = clock_mono_ms() + SERVER_STOP_MS;
    for (size_t i = 0; i < s->busy.len; i++)
        interrupt(s, &s->busy.items[i]);
    for (size_t i = 0; i < s->ends.len; i++)
        if (s->ends.items[i]->stop)
            s->ends.items[i]->stop(s->ends.items[i]->context);
}

static bool is_written(const struct server *s)
{
    for (size_t i = 0; i < s->watches.len; i++)
        if (!is_unwatched(s->watches.items[i]) && s->watches.items[i]->events & POLLOUT)
            return false;
    for (size_t i = 0; i < s->ends.len; i++)
        if (s->ends.items[i]->stop && !s->ends.items[i]->is_written(s->ends.items[i]->context))
            return false;
    return true;
}

static bool goes_on(const struct server *s)
{
    if (!s->stops)
        return s->holds > 0;
    bool done = s->busy.len == 0 && s->asks.len == 0 && is_written(s);
    return !done && clock_mono_ms() < s->stop_by_ms;
}

/* -1: nothing is due. */
static int next_due(const struct server *s)
{
    int64_t due = s->stops ? s->stop_by_ms : INT64_MAX;
    for (size_t i = 0; i < s->timers.len; i++)
        if (s->timers.items[i]->due && s->timers.items[i]->due_ms < due)
            due = s->timers.items[i]->due_ms;
    if (due == INT64_MAX)
        return -1;
    int64_t left = due - clock_mono_ms();
    return left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static bool sleep_until_something(struct server *s)
{
    vec_clear(&s->polled);
    vec_push(&s->polled, (struct pollfd){.fd = mailbox_fd(s->notices), .events = POLLIN});
    for (size_t i = 0; i < s->watches.len; i++)
        vec_push(&s->polled, (struct pollfd){.fd = s->watches.items[i]->fd,
                                             .events = s->watches.items[i]->events});
    return poll(s->polled.items, (nfds_t)s->polled.len, next_due(s)) >= 0;
}

static void call_ready(struct server *s)
{
    for (size_t i = 1; i < s->polled.len; i++) {
        struct watch *w = s->watches.items[i - 1];
        if (s->polled.items[i].revents && !is_unwatched(w))
            w->ready(w->context, s->polled.items[i].revents);
    }
}

int server_run(struct server *s)
{
    while (goes_on(s)) {
        if (sleep_until_something(s))
            call_ready(s);
        else if (errno != EINTR && errno != EAGAIN && errno != ENOMEM)
            return 1;
        call_due(s);
        hand_out_notices(s);
        sweep(s);
    }
    return 0;
}
