#include "session/corpora_desk.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/worker.h"
#include "session/desk.h"
#include "session/lock.h"
#include "session/operation.h"

/* Takes the lock if it is not held. *waits: another process has it. */
static bool take(const char *directory, const char *name, int *lock, bool *waits, struct error *e)
{
    *waits = false;
    return !directory || *lock >= 0 || lock_try(directory, name, lock, waits, e);
}

bool corpora_turn_ingest(struct corpora_turn *t, struct ingest *in, const struct wakeup *wakeup,
                         bool *more, bool *waits, struct error *e)
{
    *more = true;
    if (!take(t->directory, LOCK_INGEST, &t->lock, waits, e))
        return false;
    if (*waits)
        return true;
    bool ok = ingest_step(in, wakeup, more, e);
    if (!ok || !ingest_is_writing(in))
        lock_drop(&t->lock);
    return ok;
}

enum corpora_work corpora_turn_embed(const struct corpora_turn *t, struct corpora *c,
                                     const struct wakeup *wakeup, int64_t *left, int *retry_ms,
                                     struct error *why)
{
    int lock = -1;
    bool waits;
    if (!corpora_wants_vectors(c))
        return corpora_embed(c, wakeup, left, retry_ms, why);
    *left = 0;
    *retry_ms = CORPORA_TURN_MS;
    *why = (struct error){0};
    if (!take(t->directory, LOCK_VECTORS, &lock, &waits, why) || waits)
        return CORPORA_WAITS;
    enum corpora_work work = corpora_embed(c, wakeup, left, retry_ms, why);
    lock_drop(&lock);
    return work;
}

/* By priority: ingest documents, remove deleted passages from the index, keep the index fast, make
 * missing vectors. */
enum chore_kind { CHORE_INGEST, CHORE_PURGE, CHORE_TIDY, CHORE_EMBED, CHORES };

/* PATIENCE_MS: wait for another process's transaction. REST_MS: pause between two steps, in which
 * other connections, which try every few ms, get the database and conversations the processor. */
enum { PATIENCE_MS = 5000, TELL_EVERY_MS = 250, AGAIN_MS = 1000, STEP_MS = 30, REST_MS = 10 };

struct corpora_desk {
    struct desk desk;
    const struct config *config;

    /* Used by the desk's thread alone. */
    struct operation_context context;
    struct corpora *corpora; /* of the context */
    struct ingest *ingest;   /* in progress; NULL: none */
    struct corpora_turn turn;
    int64_t told_at_ms;
    bool told_vectors; /* the last notice about vectors said that some are missing */
};

/* A failure is logged: the next call tries again. */
static void want(struct corpora_desk *d, enum chore_kind chore)
{
    struct error e;
    if (d->desk.place->kind != PLACE_READS && !worker_want(d->desk.worker, chore, &e))
        log_line(LOG_ERROR, "work on corpora: %s", e.text);
}

/* --- ingest ----------------------------------------------------------------------------------- */

static void push_state(struct corpora_desk *d, struct notice *n)
{
    d->told_at_ms = clock_mono_ms();
    mailbox_push(d->desk.notices, n);
}

static void tell_ingest(struct corpora_desk *d, const struct error *fault)
{
    struct notice *n = notice_new(NOTICE_CORPORA_STATE);
    ingest_progress(d->ingest, &n->progress);
    if (fault)
        n->error = *fault;
    push_state(d, n);
}

static int end_ingest(struct corpora_desk *d, const struct error *fault)
{
    tell_ingest(d, fault);
    ingest_free(d->ingest);
    d->ingest = NULL;
    want(d, CHORE_PURGE);
    want(d, CHORE_EMBED);
    return fault ? CHORE_DONE : 0; /* other ingests may wait */
}

static int ingest_some(void *desk, const struct wakeup *wakeup)
{
    struct corpora_desk *d = desk;
    struct error e = {0};
    bool more = false, waits = false;
    if (!d->desk.store)
        return CHORE_DONE;
    if (!d->ingest && !ingest_resume(d->corpora, &d->ingest, &e)) {
        log_line(LOG_ERROR, "ingest: %s", e.text);
        return CHORE_DONE;
    }
    if (!d->ingest)
        return CHORE_DONE;
    if (!corpora_turn_ingest(&d->turn, d->ingest, wakeup, &more, &waits, &e))
        return end_ingest(d, &e);
    if (!more)
        return end_ingest(d, NULL);
    if (clock_mono_ms() - d->told_at_ms >= TELL_EVERY_MS)
        tell_ingest(d, NULL);
    return waits ? CORPORA_TURN_MS : REST_MS;
}

/* --- the index -------------------------------------------------------------------------------- */

static int purge_some(void *desk, const struct wakeup *wakeup)
{
    struct corpora_desk *d = desk;
    struct error e;
    bool more = true;
    int64_t until_ms = clock_mono_ms() + STEP_MS;
    if (!d->desk.store)
        return CHORE_DONE;
    while (more && clock_mono_ms() < until_ms && wakeup->go_on(wakeup->context))
        if (!corpora_purge(d->corpora, &more, &e))
            return AGAIN_MS;
    if (more)
        return REST_MS;
    int next = desk_settle(&d->desk);
    if (next == CHORE_DONE)
        want(d, CHORE_TIDY);
    return next;
}

static int tidy_some(void *desk, const struct wakeup *wakeup)
{
    struct corpora_desk *d = desk;
    struct error e;
    bool more = false;
    (void)wakeup;
    if (!corpora_tidy(d->corpora, &more, &e))
        return AGAIN_MS;
    return more ? REST_MS : CHORE_DONE;
}

static int embed_some(void *desk, const struct wakeup *wakeup)
{
    struct corpora_desk *d = desk;
    struct error why;
    int64_t left = 0;
    int retry_ms = 0;
    if (!d->desk.store)
        return CHORE_DONE;
    enum corpora_work did =
        corpora_turn_embed(&d->turn, d->corpora, wakeup, &left, &retry_ms, &why);
    if (did == CORPORA_WAITS && why.code == ERR_OK)
        return retry_ms;
    bool due = clock_mono_ms() - d->told_at_ms >= TELL_EVERY_MS;
    if (did == CORPORA_IDLE ? d->told_vectors : did == CORPORA_WAITS || (left > 0 && due)) {
        struct notice *n = notice_new(NOTICE_CORPORA_STATE);
        n->number = did == CORPORA_IDLE ? 0 : left > 0 ? left : 1;
        n->flag = true;
        n->error = why;
        d->told_vectors = n->number > 0;
        push_state(d, n);
    }
    return did == CORPORA_WORKED ? 0 : did == CORPORA_WAITS ? retry_ms : CHORE_DONE;
}

static const struct chore chores[CHORES] = {
    [CHORE_INGEST] = {"ingest", ingest_some, false},
    [CHORE_PURGE] = {"purging", purge_some, true},
    [CHORE_TIDY] = {"tidying", tidy_some, false},
    [CHORE_EMBED] = {"embedding", embed_some, false},
};

/* --- the desk --------------------------------------------------------------------------------- */

static void begin(struct desk *desk)
{
    struct corpora_desk *d = (struct corpora_desk *)desk;
    thread_give_way(); /* an ingest takes all of a processor */
    store_set_patience(desk->store, PATIENCE_MS, 0, worker_ends, desk->worker);
    d->corpora = corpora_open(d->config, desk->store, desk->place->directory);
    d->corpora->alone = desk->place->kind == PLACE_READS;
    d->turn = (struct corpora_turn){desk->place->directory, -1};
    d->context = (struct operation_context){
        .config = d->config, .met = NEED_STORE | NEED_CORPORA | NEED_WRITE, .corpora = d->corpora};
    corpora_desk_work(d); /* the program may have been killed last time */
}

static void end(struct desk *desk)
{
    struct corpora_desk *d = (struct corpora_desk *)desk;
    lock_drop(&d->turn.lock);
    ingest_free(d->ingest);
    corpora_close(d->corpora);
}

static bool call(struct desk *desk, const struct operation_request *r, void *result,
                 struct error *e)
{
    struct corpora_desk *d = (struct corpora_desk *)desk;
    d->context.wakeup = desk->wakeup;
    bool ok = operation_call(&d->context, r->operation, r->params, result, e);
    if (ok && (r->operation->needs & NEED_WRITE))
        corpora_desk_work(d);
    return ok;
}

static const struct desk_role role = {.mode = STORE_READ_WRITE,
                                      .call = call,
                                      .opened = begin,
                                      .closes = end,
                                      .chores = chores,
                                      .chore_count = CHORES};

struct corpora_desk *corpora_desk_new(const struct config *config, struct place *place,
                                      struct mailbox *notices)
{
    struct corpora_desk *d = mem_alloc(sizeof *d);
    *d = (struct corpora_desk){.config = config};
    desk_init(&d->desk, &role, place, notices);
    return d;
}

void corpora_desk_free(struct corpora_desk *d)
{
    if (!d)
        return;
    desk_release(&d->desk);
    free(d);
}

void corpora_desk_work(struct corpora_desk *d)
{
    want(d, CHORE_INGEST);
    want(d, CHORE_PURGE);
    want(d, CHORE_EMBED);
}
