#include "session/memory_desk_private.h"

#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "index/transcripts.h"

/* Between two steps other connections must find the database free, who look every few ms. */
enum { TELL_EVERY_MS = 250, AGAIN_MS = 1000, REST_MS = 20 };

/* --- the state -------------------------------------------------------------------------------- */

static void add_work(const struct memory_work *w, bool works, struct memory_stats *s)
{
    s->embedding = works;
    s->pending = !works ? 0 : w->left > 0 ? w->left : s->missing;
    s->waits_for = w->why.code != ERR_OK ? mem_strdup(w->why.text) : NULL;
}

void memory_work_add(struct memory_desk *d, struct memory_stats *s)
{
    add_work(&d->work, worker_wants(d->desk.worker, CHORE_EMBED), s);
}

/* A state that cannot be read is not told; who asks for it is told why. */
static void tell_state(struct memory_desk *d, const struct wakeup *wakeup, bool works)
{
    struct error e;
    struct notice *n = notice_new(NOTICE_MEMORY_STATE);
    d->work.told = works;
    d->work.told_at_ms = clock_mono_ms();
    if (recall_stats(&d->memories->recall, wakeup, &n->stats, &e)) {
        add_work(&d->work, works, &n->stats);
        mailbox_push(d->desk.notices, n);
    } else {
        notice_free(n);
    }
}

/* --- vectors and the graph -------------------------------------------------------------------- */

static int no_vectors_lack(struct memory_desk *d, const struct wakeup *wakeup)
{
    bool told = d->work.told;
    d->work.left = 0;
    d->work.told = false;
    d->work.why = (struct error){0};
    if (told)
        tell_state(d, wakeup, false);
    return CHORE_DONE;
}

static int vectors_came(struct memory_desk *d, const struct wakeup *wakeup, int64_t left)
{
    struct memory_work *w = &d->work;
    bool waited = w->why.code != ERR_OK;
    w->left = left;
    w->why = (struct error){0};
    if (waited || !w->told || clock_mono_ms() - w->told_at_ms >= TELL_EVERY_MS)
        tell_state(d, wakeup, true);
    return 0;
}

static int vectors_wait(struct memory_desk *d, const struct wakeup *wakeup, int retry_ms,
                        const struct error *why)
{
    bool news = strcmp(d->work.why.text, why->text) != 0;
    d->work.why = *why;
    if (news)
        tell_state(d, wakeup, true);
    return retry_ms;
}

static int embed_some(void *desk, const struct wakeup *wakeup)
{
    struct memory_desk *d = desk;
    int64_t left = 0;
    int retry_ms = 0;
    struct error why = {0};
    if (!d->desk.store)
        return CHORE_DONE;
    switch (recall_work(&d->memories->recall, wakeup, &left, &retry_ms, &why)) {
    case RECALL_WORKED:
        return vectors_came(d, wakeup, left);
    case RECALL_WAITS:
        return vectors_wait(d, wakeup, retry_ms, &why);
    default:
        return no_vectors_lack(d, wakeup);
    }
}

/* --- the index -------------------------------------------------------------------------------- */

typedef bool desk_step(struct memory_desk *d, bool *more, struct error *e);

/* A step that does not wait for another process that writes: who asks something waits for it.
 * False: it is due again after *next (CHORE_DONE: there is no store); a fault is logged under its
 * name. */
static bool take_step(struct memory_desk *d, desk_step *step, const char *name, bool *more,
                      int *next)
{
    struct error e;
    *more = false;
    *next = CHORE_DONE;
    if (!d->desk.store)
        return false;
    store_set_patience(d->desk.store, 0, NULL, NULL);
    bool ok = step(d, more, &e);
    memory_desk_be_patient(d);
    if (!ok && name)
        log_line(LOG_ERROR, "%s: %s", name, e.text);
    *next = AGAIN_MS;
    return ok;
}

static bool purge(struct memory_desk *d, bool *more, struct error *e)
{
    struct memory *m = d->memories->recall.memory;
    return m->ops->purge(m, more, e) && (*more || graph_purge(&d->graphs->graph, more, e));
}

static bool index_deferred(struct memory_desk *d, bool *more, struct error *e)
{
    return memory_sink_work(&d->sink, d->desk.store, more, e);
}

static bool tidy(struct memory_desk *d, bool *more, struct error *e)
{
    struct memory *m = d->memories->recall.memory;
    return m->ops->tidy(m, more, e) && (*more || transcripts_tidy(d->desk.store, more, e)) &&
           (*more || graph_tidy(&d->graphs->graph, more, e));
}

static int purge_some(void *desk, const struct wakeup *wakeup)
{
    struct memory_desk *d = desk;
    bool more;
    int next;
    (void)wakeup;
    if (!take_step(d, purge, NULL, &more, &next))
        return next;
    if (more)
        return 0;
    next = desk_settle(&d->desk);
    if (next == CHORE_DONE)
        memory_desk_want(d, CHORE_TIDY);
    return next;
}

/* How far the sessions from before are. */
static void tell_backlog(struct memory_desk *d, const struct wakeup *wakeup, bool goes_on)
{
    struct memory_backlog_count count;
    struct error e;
    struct memory *m = d->memories->recall.memory;
    bool wanted = m->ops->backlog(m, &count, &e) && count.sessions[BACKLOG_WANTED] > 0;
    bool works = wanted || (goes_on && d->work.backlog_told);
    bool due = !d->work.backlog_told || clock_mono_ms() - d->work.told_at_ms >= TELL_EVERY_MS;
    if (works ? due : d->work.backlog_told)
        tell_state(d, wakeup, worker_wants(d->desk.worker, CHORE_EMBED));
    d->work.backlog_told = works;
}

static int index_some(void *desk, const struct wakeup *wakeup)
{
    struct memory_desk *d = desk;
    bool more;
    int next;
    if (!take_step(d, index_deferred, "indexing what was deferred", &more, &next))
        return next;
    bool came = d->work.came;
    d->work.came = more;
    if (more)
        return worker_ends(d->desk.worker) ? 0 : REST_MS;
    if (came)
        tell_state(d, wakeup, worker_wants(d->desk.worker, CHORE_EMBED));
    memory_desk_want(d, CHORE_TIDY);
    memory_desk_want(d, CHORE_EMBED);
    return CHORE_DONE;
}

static const char following[] = "following a session";

static int cannot_follow(const struct error *e)
{
    log_line(LOG_ERROR, "%s: %s", following, e->text);
    return AGAIN_MS;
}

/* Of a program that ends: what it has left itself, at once. The next one does the rest. */
static int follow_last(struct memory_desk *d)
{
    struct error e;
    bool more = false;
    if (!memory_follow_since(&d->follow, d->began_ms, &more, &e))
        return cannot_follow(&e);
    for (bool indexes = more; indexes;)
        if (!memory_sink_work(&d->sink, d->desk.store, &indexes, &e))
            return cannot_follow(&e);
    return more ? 0 : CHORE_DONE;
}

static bool follow_next(struct memory_desk *d, bool *more, struct error *e)
{
    return memory_follow_next(&d->follow, more, &d->work.idle_in_ms, e);
}

static int follow_some(void *desk, const struct wakeup *wakeup)
{
    struct memory_desk *d = desk;
    bool more;
    int next;
    if (d->desk.store && worker_ends(d->desk.worker))
        return follow_last(d);
    if (!take_step(d, follow_next, following, &more, &next))
        return next;
    tell_backlog(d, wakeup, more);
    if (more)
        memory_desk_want(d, CHORE_INDEX);
    else if (d->work.idle_in_ms >= 0)
        memory_desk_want(d, CHORE_AWAIT);
    return more ? REST_MS : CHORE_DONE;
}

/* Only looks: a chore that waits is not hurried, and a session that is left does not wait. */
static int await_idle(void *desk, const struct wakeup *wakeup)
{
    struct memory_desk *d = desk;
    struct error e;
    int64_t wait_ms = -1;
    bool due = false;
    (void)wakeup;
    if (!d->desk.store || worker_ends(d->desk.worker))
        return CHORE_DONE;
    if (!memory_follow_wait(&d->follow, &due, &wait_ms, &e))
        return AGAIN_MS;
    if (due)
        memory_desk_want(d, CHORE_FOLLOW);
    return due || wait_ms < 0 ? CHORE_DONE : (int)wait_ms;
}

static int tidy_some(void *desk, const struct wakeup *wakeup)
{
    struct memory_desk *d = desk;
    bool more;
    int next;
    (void)wakeup;
    if (!take_step(d, tidy, NULL, &more, &next))
        return next;
    if (more)
        return REST_MS;
    store_give_back_memory(d->desk.store);
    mem_return_unused();
    return CHORE_DONE;
}

const struct chore memory_chores[MEMORY_CHORES] = {
    [CHORE_PURGE] = {"purging", purge_some, true},
    [CHORE_INDEX] = {"indexing", index_some, true},
    [CHORE_FOLLOW] = {"following", follow_some, true},
    [CHORE_AWAIT] = {"waiting", await_idle, false},
    [CHORE_TIDY] = {"tidying", tidy_some, false},
    [CHORE_EMBED] = {"embedding", embed_some, false},
};
