#include "session/desk.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct place *place_new(const char *path, enum place_kind kind)
{
    struct place *p = mem_alloc(sizeof *p);
    p->asked = mem_strdup(path);
    p->kind = kind;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

#define KEEPS_NOTHING "nothing is kept: sessions are not saved ([session] persist, --no-persist)"

void place_free(struct place *p)
{
    if (!p)
        return;
    store_close(p->first);
    pthread_mutex_destroy(&p->lock);
    free(p->asked);
    free(p->path);
    free(p->directory);
    free(p);
}

/* False: the file cannot be used now; the next call tries again. */
static bool settle(struct place *p)
{
    enum store_mode mode = p->kind == PLACE_READS ? STORE_READ_ONLY : STORE_READ_WRITE;
    if (p->asked && store_open(p->asked, mode, &p->first, &p->fault)) {
        const char *slash = strrchr(p->asked, '/');
        p->path = mem_strdup(p->asked);
        p->directory =
            !slash ? mem_strdup(".")
                   : mem_strndup(p->asked, slash == p->asked ? 1 : (size_t)(slash - p->asked));
    } else if (!p->asked || p->kind != PLACE_KEPT) {
        struct error e;
        p->path = store_memory_path();
        if (!store_open(p->path, STORE_READ_WRITE, &p->first, &e))
            die(e.text);
    }
    p->settled = p->path != NULL;
    return p->settled;
}

bool place_open(struct place *p, enum store_mode mode, struct store **out, struct error *e)
{
    pthread_mutex_lock(&p->lock);
    bool settled = p->settled || settle(p), reads = p->kind == PLACE_READS;
    if (reads && p->directory)
        mode = STORE_READ_ONLY;
    *out = NULL;
    if (settled && p->directory && mode == STORE_READ_WRITE) {
        *out = p->first;
        p->first = NULL;
    }
    if (!settled)
        *e = p->fault;
    pthread_mutex_unlock(&p->lock);
    bool opened = *out || (settled && store_open(p->path, mode, out, e));
    if (opened && reads)
        store_set_refusal(*out, KEEPS_NOTHING);
    return opened;
}

bool place_settle(struct place *p, struct error *e)
{
    pthread_mutex_lock(&p->lock);
    if (!p->settled)
        settle(p);
    *e = p->fault;
    pthread_mutex_unlock(&p->lock);
    return e->code == ERR_OK;
}

bool place_take_fault(struct place *p, struct error *e)
{
    pthread_mutex_lock(&p->lock);
    *e = p->fault;
    p->fault = (struct error){0};
    pthread_mutex_unlock(&p->lock);
    return e->code != ERR_OK;
}

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

/* A store that could not be opened earlier may open now. */
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
        ((a->request->operation->needs & NEED_WRITE) && d->place->kind == PLACE_READS &&
         !err_set(&e, ERR_SESSION_PERSISTENCE_DISABLED, KEEPS_NOTHING)) ||
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

void desk_start(struct desk *d, struct operation_request *r)
{
    bool lasting = operation_lasts(r->operation);
    struct request_job *j = mem_alloc(sizeof *j);
    struct error e;
    *j = (struct request_job){.job = {.run = run_request,
                                      .release = release_request,
                                      .topic = lasting ? 0 : r->id,
                                      .lasting = lasting},
                              .answer = operation_answer_new(r)};
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

static bool call_reading(struct desk *d, const struct operation_request *r, void *result,
                         struct error *e)
{
    struct operation_context context = {.met = NEED_STORE, .wakeup = d->wakeup};
    catalog_borrow(&context.catalog, d->store, d->place->directory, "");
    bool ok = operation_call(&context, r->operation, r->params, result, e);
    operation_close(&context);
    return ok;
}

const struct desk_role reader_role = {.mode = STORE_READ_ONLY, .call = call_reading};
