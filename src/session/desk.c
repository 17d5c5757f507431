#include "session/desk.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct place {
    char *asked;
    bool kept, reads;
    pthread_mutex_t
        lock; /* over the rest, which once it is settled changes no more but for `first` */
    bool settled;
    char *path, *directory;
    struct store *first; /* of a file: for whoever opens it next; in memory: what keeps it there */
    struct error fault;
};

struct place *place_new(const char *path, bool kept)
{
    struct place *p = mem_alloc(sizeof *p);
    p->asked = mem_strdup(path);
    p->kept = path && kept;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

struct place *place_new_reading(const char *path)
{
    struct place *p = place_new(path, false);
    p->reads = true;
    return p;
}

bool place_reads(const struct place *p)
{
    return p->reads;
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

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return mem_strdup(".");
    return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* False: it may be otherwise next time. */
static bool settle(struct place *p)
{
    enum store_mode mode = p->reads ? STORE_READ_ONLY : STORE_READ_WRITE;
    if (p->asked && store_open(p->asked, mode, &p->first, &p->fault)) {
        p->path = mem_strdup(p->asked);
        p->directory = directory_of(p->asked);
    } else if (!p->kept) {
        struct error e;
        p->path = store_memory_path();
        if (!store_open(p->path, STORE_READ_WRITE, &p->first, &e))
            die(e.text);
    }
    p->settled = p->path != NULL;
    return p->settled;
}

/* NULL: there is none to be had. */
static struct store *take_first(struct place *p, enum store_mode mode)
{
    struct store *first = p->first;
    if (mode != STORE_READ_WRITE || !p->directory)
        return NULL;
    p->first = NULL;
    return first;
}

bool place_open(struct place *p, enum store_mode mode, struct store **out, struct error *e)
{
    pthread_mutex_lock(&p->lock);
    bool settled = p->settled || settle(p);
    if (p->reads && p->directory)
        mode = STORE_READ_ONLY;
    *out = settled ? take_first(p, mode) : NULL;
    if (!settled)
        *e = p->fault;
    pthread_mutex_unlock(&p->lock);
    bool opened = *out || (settled && store_open(p->path, mode, out, e));
    if (opened && p->reads)
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

const char *place_directory(const struct place *p)
{
    return p->directory;
}

bool place_take_fault(struct place *p, struct error *e)
{
    pthread_mutex_lock(&p->lock);
    *e = p->fault;
    p->fault = (struct error){0};
    pthread_mutex_unlock(&p->lock);
    return e->code != ERR_OK;
}

const char *place_path(const struct place *p)
{
    return p->asked;
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
        ((a->request->operation->needs & NEED_WRITE) &&
         !(!d->place->reads || err_set(&e, ERR_SESSION_PERSISTENCE_DISABLED, KEEPS_NOTHING))) ||
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

struct reader {
    struct desk desk;
};

static bool call(struct desk *d, const struct operation_request *r, void *result, struct error *e)
{
    struct operation_context context = {.met = NEED_STORE, .wakeup = d->wakeup};
    catalog_borrow(&context.catalog, d->store, place_directory(d->place), "");
    bool ok = operation_call(&context, r->operation, r->params, result, e);
    operation_close(&context);
    return ok;
}

static const struct desk_role role = {.mode = STORE_READ_ONLY, .call = call};

struct reader *reader_new(struct place *place, struct mailbox *notices)
{
    struct reader *r = mem_alloc(sizeof *r);
    desk_init(&r->desk, &role, place, notices);
    return r;
}

void reader_free(struct reader *r)
{
    if (!r)
        return;
    desk_release(&r->desk);
    free(r);
}

void reader_start(struct reader *r, struct operation_request *request)
{
    desk_start(&r->desk, request);
}

void reader_withdraw(struct reader *r, uint64_t id)
{
    desk_withdraw(&r->desk, id);
}
