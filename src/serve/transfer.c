#include "serve/transfer.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/worker.h"
#include "session/capability.h"
#include "session/operation.h"

struct waiting {
    uint64_t id;
    transfer_done *done;
    void *context;
};

struct transfers {
    struct server *server;
    const struct config *config;
    char *store_path, *project; /* the first NULL: the default */
    bool persist;
    struct worker *worker;
    struct mailbox *over; /* of struct outcome */
    struct watch *watch;
    VEC(struct waiting) waiting;
    uint64_t started;
};

/* What came of one; the answer's request has its id. */
struct outcome {
    struct operation_answer *answer;
    struct buf text;
};

struct transfer {
    struct job job; /* the first member */
    struct transfers *transfers;
    struct operation_request *request; /* NULL: the outcome has it */
    char *text;
    size_t len;
};

static void free_outcome(void *item)
{
    struct outcome *o = item;
    operation_answer_free(o->answer);
    buf_release(&o->text);
    free(o);
}

/* --- on the worker's thread ------------------------------------------------------------------- */

static bool write_text(void *context, const char *bytes, size_t len, struct error *e)
{
    return buf_try_add(context, bytes, len) ||
           err_set(e, ERR_USAGE, "the export has more than %zu bytes; write it to a file",
                   TRANSFER_MAX);
}

static bool call(struct transfer *t, struct outcome *out, const struct wakeup *wakeup,
                 struct error *e)
{
    const struct transfers *all = t->transfers;
    const struct operation *o = t->request->operation;
    struct operation_stream stream = {.in = t->len > 0 ? fmemopen(t->text, t->len, "r") : NULL,
                                      .name = "content",
                                      .write = write_text,
                                      .wake_fd = wakeup->fd,
                                      .context = &out->text};
    struct operation_context c;
    bool opened = (!t->text || stream.in ||
                   err_set(e, ERR_USAGE, "\"content\" is empty; give the text to read")) &&
                  capability_need_store(all->persist, e) &&
                  operation_open(&c, o, all->config, all->store_path, all->project, e);
    bool ok = opened;
    if (opened) {
        c.stream = &stream;
        c.wakeup = wakeup;
        ok = operation_call(&c, o, t->request->params, out->answer->result, e);
        operation_close(&c);
    }
    if (stream.in)
        fclose(stream.in);
    return ok;
}

static void run(struct job *job, void *context, const struct wakeup *wakeup)
{
    struct transfer *t = (struct transfer *)job;
    struct outcome *out = mem_alloc(sizeof *out);
    struct error e;
    (void)context;
    buf_init(&out->text, TRANSFER_MAX);
    out->answer = operation_answer_new(t->request);
    if (!call(t, out, wakeup, &e))
        operation_answer_fail(out->answer, &e);
    t->request = NULL;
    mailbox_push(t->transfers->over, out);
}

static void release(struct job *job)
{
    struct transfer *t = (struct transfer *)job;
    operation_request_free(t->request);
    free(t->text);
    free(t);
}

/* --- on the loop's ---------------------------------------------------------------------------- */

static bool take_waiting(struct transfers *t, uint64_t id, struct waiting *out)
{
    for (size_t i = 0; i < t->waiting.len; i++)
        if (t->waiting.items[i].id == id) {
            *out = t->waiting.items[i];
            vec_remove(&t->waiting, i, 1);
            return true;
        }
    return false;
}

static void on_over(void *context, short revents)
{
    struct transfers *t = context;
    struct outcome *o;
    (void)revents;
    while ((o = mailbox_pop(t->over))) {
        const struct operation_answer *a = o->answer;
        bool failed = a->error.code != ERR_OK;
        struct waiting w;
        if (take_waiting(t, a->request->id, &w))
            w.done(w.context, a->result, failed ? NULL : o->text.data, failed ? &a->error : NULL);
        free_outcome(o);
    }
}

static const struct worker_role role = {0};

struct transfers *transfers_new(struct server *s, const struct engine_options *options)
{
    const char *directory = options->directory ? options->directory : ".";
    struct transfers *t = mem_alloc(sizeof *t);
    t->server = s;
    t->config = options->config;
    t->store_path = mem_strdup(options->store_path);
    t->project = realpath(directory, NULL);
    if (!t->project)
        t->project = mem_strdup(directory);
    t->persist = options->persist;
    t->over = mailbox_new(free_outcome);
    t->watch = server_watch(s, mailbox_fd(t->over), POLLIN, on_over, t);
    t->worker = worker_new(&role, t);
    return t;
}

void transfers_free(struct transfers *t)
{
    if (!t)
        return;
    worker_free(t->worker);
    server_unwatch(t->server, t->watch);
    mailbox_free(t->over);
    vec_release(&t->waiting);
    free(t->store_path);
    free(t->project);
    free(t);
}

uint64_t transfers_start(struct transfers *t, const struct operation *o, const void *params,
                         const char *text, transfer_done *done, void *context, struct error *e)
{
    struct transfer *made = mem_alloc(sizeof *made);
    *made = (struct transfer){.job = {run, release, ++t->started, operation_lasts(o)},
                              .transfers = t,
                              .request = operation_request_new(o, params),
                              .text = mem_strdup(text),
                              .len = text ? strlen(text) : 0};
    uint64_t id = made->request->id = t->started;
    if (!worker_submit(t->worker, &made->job, e)) {
        release(&made->job);
        return 0;
    }
    vec_push(&t->waiting, (struct waiting){id, done, context});
    return id;
}

void *transfers_withdraw(struct transfers *t, uint64_t id)
{
    struct waiting gone;
    if (!take_waiting(t, id, &gone))
        return NULL;
    worker_withdraw(t->worker, id);
    return gone.context;
}
