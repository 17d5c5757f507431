#include "serve/server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/worker.h"
#include "serve/notification.h"
#include "session/capability.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"

/* Notices of one round, so that neither a stream of them nor long answers starve a descriptor. */
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

struct stop_handler {
    void (*stop)(void *context); /* NULL: taken back */
    bool (*is_written)(void *context);
    void *context;
};

/* A call that waits for its answer: every surface has its pending calls here. */
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
    struct worker *transfers;
    struct mailbox *transferred; /* of struct operation_answer */
    struct watch *transfer_watch;
    char *store_path, *project; /* the first NULL: the default */
    uint64_t transfers_begun;
    struct tails tails;
    struct questions questions;
    VEC(struct watch *) watches; /* freed between two rounds, as timers and listeners are */
    VEC(struct pollfd) polled;   /* first the mailbox, then as `watches` */
    VEC(struct timer *) timers;
    VEC(struct listener *) listeners;
    VEC(struct stop_handler *) ends;
    VEC(struct ask) asks;
    VEC(struct busy) busy; /* sessions in which a turn or a compaction runs */
    int holds;
    bool stops;
    int64_t stop_by_ms;
};

/* --- operations on a thread of their own --------------------------------------------------------
 */

/* Marks the ids of transfers, which are counted by themselves. */
#define TRANSFER (UINT64_C(1) << 63)

struct transfer {
    struct job job; /* the first member */
    struct server *server;
    struct operation_request *request; /* NULL: the answer has it */
    char *text;
};

static bool write_text(void *context, const char *bytes, size_t len, struct error *e)
{
    return buf_try_add(context, bytes, len) ||
           err_set(e, ERR_USAGE, "the export has more than %zu bytes; write it to a file",
                   SERVER_TEXT_MAX);
}

static void run_transfer(struct job *job, void *context, const struct wakeup *wakeup)
{
    struct transfer *t = (struct transfer *)job;
    const struct server *s = t->server;
    const struct operation *o = t->request->operation;
    struct operation_answer *answer = operation_answer_new(t->request);
    AUTO(buf_release) struct buf written = BUF_INIT;
    struct operation_stream stream = {
        .name = "content", .write = write_text, .wake_fd = wakeup->fd, .context = &written};
    struct operation_context c;
    struct error e;
    (void)context;
    buf_init(&written, SERVER_TEXT_MAX);
    if (t->text && *t->text)
        stream.in = fmemopen(t->text, strlen(t->text), "r");
    bool ok = (!t->text || stream.in ||
               err_set(&e, ERR_USAGE, "\"content\" is empty; give the text to read")) &&
              capability_need_store(s->options.persist, &e) &&
              operation_open(&c, o, s->config, s->store_path, s->project, &e);
    if (ok) {
        c.stream = &stream;
        c.wakeup = wakeup;
        ok = operation_call(&c, o, t->request->params, answer->result, &e);
        operation_close(&c);
    }
    if (stream.in)
        fclose(stream.in);
    answer->text = ok ? buf_take(&written) : NULL;
    if (!ok)
        operation_answer_fail(answer, &e);
    t->request = NULL;
    mailbox_push(t->server->transferred, answer);
}

static void release_transfer(struct job *job)
{
    struct transfer *t = (struct transfer *)job;
    operation_request_free(t->request);
    free(t->text);
    free(t);
}

static void answer_ask(struct server *s, const struct operation_answer *a);

static void on_transferred(void *context, short revents)
{
    struct server *s = context;
    struct operation_answer *a;
    (void)revents;
    while ((a = mailbox_pop(s->transferred))) {
        answer_ask(s, a);
        operation_answer_free(a);
    }
}

static void free_answer(void *answer)
{
    operation_answer_free(answer);
}

/* --- lifecycle ----------------------------------------------------------------------------------
 */

struct server *server_new(const struct engine_options *options)
{
    static const struct worker_role role = {0};
    const char *directory = options->directory ? options->directory : ".";
    struct server *s = mem_alloc(sizeof *s);
    s->config = options->config;
    s->options = *options;
    s->engine = engine_new(options);
    s->notices = engine_notices(s->engine);
    s->store_path = mem_strdup(options->store_path);
    s->project = realpath(directory, NULL);
    if (!s->project)
        s->project = mem_strdup(directory);
    s->transferred = mailbox_new(free_answer);
    s->transfer_watch = server_watch(s, mailbox_fd(s->transferred), POLLIN, on_transferred, s);
    s->transfers = worker_new(&role, s);
    return s;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    worker_free(s->transfers);
    mailbox_free(s->transferred);
    free(s->store_path);
    free(s->project);
    tails_release(&s->tails);
    for (size_t i = 0; i < s->questions.items.len; i++)
        free(s->questions.items.items[i].params);
    vec_release(&s->questions.items);
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

const struct tails *server_tails(const struct server *s)
{
    return &s->tails;
}

const struct questions *server_questions(const struct server *s)
{
    return &s->questions;
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

void server_cancel_timer(struct server *s, struct timer *t)
{
    (void)s;
    if (t)
        t->due = NULL;
}

/* Frees what was given up, by a condition on the item's members. */
#define SWEEP(v, is_gone)                                                                          \
    do {                                                                                           \
        size_t kept = 0;                                                                           \
        for (size_t i = 0; i < (v)->len; i++)                                                      \
            if ((v)->items[i]->is_gone)                                                            \
                free((v)->items[i]);                                                               \
            else                                                                                   \
                (v)->items[kept++] = (v)->items[i];                                                \
        (v)->len = kept;                                                                           \
    } while (0)

/* --- the engine ------------------------------------------------------------------------------- */

uint64_t server_ask(struct server *s, const struct operation *o, const void *params,
                    server_answered *done, void *context)
{
    uint64_t id = engine_start(s->engine, o, params);
    vec_push(&s->asks, (struct ask){id, done, context});
    return id;
}

uint64_t server_ask_with(struct server *s, const struct operation *o, const void *params,
                         const char *text, server_answered *done, void *context, struct error *e)
{
    /* The thread of the engine has no stream, and its reader cannot write. */
    bool transfers =
        o == &operation_session_export
            ? !((const struct session_export_params *)params)->path
            : o->needs & NEED_STREAM || (o->executor == OPERATION_READ && o->needs & NEED_WRITE);
    if (!transfers)
        return server_ask(s, o, params, done, context);
    uint64_t id = ++s->transfers_begun | TRANSFER;
    struct transfer *t = mem_alloc(sizeof *t);
    *t = (struct transfer){.job = {run_transfer, release_transfer, id, operation_lasts(o)},
                           .server = s,
                           .request = operation_request_new(o, params),
                           .text = mem_strdup(text)};
    t->request->id = id;
    if (!worker_submit(s->transfers, &t->job, e)) {
        release_transfer(&t->job);
        return 0;
    }
    vec_push(&s->asks, (struct ask){id, done, context});
    return id;
}

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

static void answer_ask(struct server *s, const struct operation_answer *a)
{
    struct ask ask;
    if (take_ask(s, a->request->id, &ask) && ask.done)
        ask.done(ask.context, a);
}

void server_withdraw(struct server *s, uint64_t id)
{
    struct ask gone;
    if (!take_ask(s, id, &gone))
        return;
    if (id & TRANSFER)
        worker_withdraw(s->transfers, id);
    else
        engine_withdraw(s->engine, id);
}

bool server_cancel(struct server *s, uint64_t id)
{
    bool undone = !(id & TRANSFER) && engine_cancel(s->engine, id);
    server_withdraw(s, id);
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

void server_unlisten(struct server *s, struct listener *l)
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

static void hand_out(struct server *s, const struct notice *n)
{
    if (n->type == NOTICE_ANSWER) {
        answer_ask(s, n->answer);
        return;
    }
    if (n->type == NOTICE_BUSY) {
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
    tails_note(&s->tails, n);
    questions_note(&s->questions, n);
    for (size_t i = 0; i < s->listeners.len; i++)
        if (s->listeners.items[i]->notice)
            s->listeners.items[i]->notice(s->listeners.items[i]->context, n);
}

/* --- the loop --------------------------------------------------------------------------------- */

void server_hold(struct server *s)
{
    s->holds++;
}

void server_unhold(struct server *s)
{
    if (--s->holds == 0)
        server_stop(s);
}

struct stop_handler *server_on_stop(struct server *s, void (*stop)(void *context),
                                    bool (*is_written)(void *context), void *context)
{
    struct stop_handler *end = mem_alloc(sizeof *end);
    *end = (struct stop_handler){stop, is_written, context};
    vec_push(&s->ends, end);
    return end;
}

void server_remove_stop(struct server *s, struct stop_handler *end)
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

static bool goes_on(const struct server *s)
{
    if (!s->stops)
        return s->holds > 0;
    bool done = s->busy.len == 0 && s->asks.len == 0;
    for (size_t i = 0; i < s->watches.len && done; i++)
        done = s->watches.items[i]->fd < 0 || !(s->watches.items[i]->events & POLLOUT);
    for (size_t i = 0; i < s->ends.len && done; i++) {
        const struct stop_handler *end = s->ends.items[i];
        done = !end->stop || !end->is_written || end->is_written(end->context);
    }
    return !done && clock_mono_ms() < s->stop_by_ms;
}

/* Milliseconds until the next timer, or the end of a stop; -1: nothing is due. */
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

int server_run(struct server *s)
{
    while (goes_on(s)) {
        vec_clear(&s->polled);
        vec_push(&s->polled, (struct pollfd){.fd = mailbox_fd(s->notices), .events = POLLIN});
        for (size_t i = 0; i < s->watches.len; i++)
            vec_push(&s->polled, (struct pollfd){.fd = s->watches.items[i]->fd,
                                                 .events = s->watches.items[i]->events});
        int ready = poll(s->polled.items, (nfds_t)s->polled.len, next_due(s));
        if (ready < 0 && errno != EINTR && errno != EAGAIN && errno != ENOMEM)
            return 1;
        for (size_t i = 1; ready > 0 && i < s->polled.len; i++) {
            struct watch *w = s->watches.items[i - 1];
            if (s->polled.items[i].revents && w->fd >= 0)
                w->ready(w->context, s->polled.items[i].revents);
        }
        int64_t now = clock_mono_ms();
        for (size_t i = 0; i < s->timers.len; i++) {
            struct timer *t = s->timers.items[i];
            void (*due)(void *context) = t->due;
            if (!due || t->due_ms > now)
                continue;
            t->due = NULL;
            due(t->context);
        }
        struct notice *n;
        int64_t until = clock_mono_ms() + NOTICES_MS;
        for (int i = 0; i < NOTICES_AT_ONCE && (n = mailbox_pop(s->notices)); i++) {
            hand_out(s, n);
            notice_free(n);
            if (clock_mono_ms() >= until)
                break;
        }
        SWEEP(&s->ends, stop == NULL);
        SWEEP(&s->watches, fd < 0);
        SWEEP(&s->timers, due == NULL);
        SWEEP(&s->listeners, notice == NULL);
    }
    return 0;
}
