#include "session/memory_desk.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "index/transcripts.h"
#include "session/desk.h"
#include "session/learned_operations.h"
#include "session/memories.h"
#include "session/memory_operations.h"
#include "session/memory_sink.h"
#include "session/operation.h"

/* By priority: remove forgotten texts from the index and the journal; index deferred messages;
 * follow a session that was left; wait until the next session has been idle for long enough; keep
 * the index fast; make missing vectors and the graph over vectors. */
enum memory_chore {
    CHORE_PURGE,
    CHORE_INDEX,
    CHORE_FOLLOW,
    CHORE_AWAIT,
    CHORE_TIDY,
    CHORE_EMBED,
    MEMORY_CHORES
};

/* Progress of vectors and sessions, and the part of it that was sent as a notice. */
struct memory_work {
    int64_t left;       /* entries without a vector */
    int64_t told_at_ms; /* time of the last notice */
    bool told;          /* the last notice said that vectors are made */
    struct error why;   /* why making vectors waits; ERR_OK: it does not */
    int64_t idle_in_ms; /* until the next session is idle; -1: no session is waited for */
    bool came;          /* entries were indexed since the last notice */
    bool backlog_told;  /* the last notice said that older sessions are indexed */
};

struct memory_desk {
    struct desk desk;
    const struct config *config;
    char *project;
    int patience_ms;
    int64_t began_ms; /* clock_wall_ms() */
    pthread_mutex_t lock;
    struct text_list left; /* under the lock: sessions of a store without locks that were left and
                              are not followed yet */
    char *taken;           /* under the lock: of these the one that has_left() found last */

    /* The thread's own. */
    struct operation_context context;
    struct memories *memories; /* of the context */
    struct graphs *graphs;     /* likewise */
    struct memory_sink sink;
    struct memory_follow follow;
    struct memory_work work;
};

static const struct chore memory_chores[MEMORY_CHORES];

/* Between two steps other connections must find the database free; they look every few ms. */
enum { PATIENCE_MS = 5000, TELL_EVERY_MS = 250, AGAIN_MS = 1000, REST_MS = 20 };

/* A chore that cannot be begun now is done at the next occasion. */
static void want(struct memory_desk *d, enum memory_chore chore)
{
    struct error e;
    if (d->desk.place->kind != PLACE_READS && !worker_want(d->desk.worker, chore, &e))
        log_line(LOG_ERROR, "%s of memory: %s", memory_chores[chore].name, e.text);
}

/* --- the state -------------------------------------------------------------------------------- */

static void add_work(const struct memory_work *w, bool works, struct memory_stats *s)
{
    s->embedding = works;
    s->pending = !works ? 0 : w->left > 0 ? w->left : s->missing;
    s->waits_for = w->why.code != ERR_OK ? mem_strdup(w->why.text) : NULL;
}

/* A state that cannot be read is not sent; memory/stats reports the error. */
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

static int embed_some(void *desk, const struct wakeup *wakeup)
{
    struct memory_desk *d = desk;
    int64_t left = 0;
    int retry_ms = 0;
    struct error why = {0};
    if (!d->desk.store)
        return CHORE_DONE;
    struct memory_work *w = &d->work;
    enum recall_work did = recall_work(&d->memories->recall, wakeup, &left, &retry_ms, &why);
    bool tells = w->told; /* whether the surface is told */
    if (did == RECALL_WORKED)
        tells =
            w->why.code != ERR_OK || !w->told || clock_mono_ms() - w->told_at_ms >= TELL_EVERY_MS;
    else if (did == RECALL_WAITS)
        tells = strcmp(w->why.text, why.text) != 0;
    else
        w->told = false;
    w->why = did == RECALL_WAITS ? why : (struct error){0};
    if (did != RECALL_WAITS)
        w->left = did == RECALL_WORKED ? left : 0;
    if (tells)
        tell_state(d, wakeup, did != RECALL_IDLE);
    return did == RECALL_WORKED ? 0 : did == RECALL_WAITS ? retry_ms : CHORE_DONE;
}

/* --- the index -------------------------------------------------------------------------------- */

typedef bool desk_step(struct memory_desk *d, bool *more, struct error *e);

/* Takes a step that does not wait for another process that writes, because requests would wait for
 * the step. False: it is due again after *next (CHORE_DONE: there is no store); a fault is logged
 * under `name` (NULL: not logged). */
static bool take_step(struct memory_desk *d, desk_step *step, const char *name, bool *more,
                      int *next)
{
    struct error e;
    *more = false;
    *next = CHORE_DONE;
    if (!d->desk.store)
        return false;
    store_set_patience(d->desk.store, 0, 0, NULL, NULL);
    bool ok = step(d, more, &e);
    store_set_patience(d->desk.store, d->patience_ms, 0, worker_ends, d->desk.worker);
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
        want(d, CHORE_TIDY);
    return next;
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
    want(d, CHORE_TIDY);
    want(d, CHORE_EMBED);
    return CHORE_DONE;
}

static const char following[] = "following a session";

/* At the end of the program: follows the sessions that it has left. The next program does the rest.
 */
static int follow_last(struct memory_desk *d)
{
    struct error e;
    bool more = false;
    bool ok = memory_follow_since(&d->follow, d->began_ms, &more, &e);
    for (bool indexes = more; ok && indexes;)
        ok = memory_sink_work(&d->sink, d->desk.store, &indexes, &e);
    if (!ok) {
        log_line(LOG_ERROR, "%s: %s", following, e.text);
        return AGAIN_MS;
    }
    return more ? 0 : CHORE_DONE;
}

static bool follow_next(struct memory_desk *d, bool *more, struct error *e)
{
    return memory_follow_next(&d->follow, more, &d->work.idle_in_ms, e);
}

/* The session that has_left() found is followed. */
static void forget_left(struct memory_desk *d)
{
    pthread_mutex_lock(&d->lock);
    for (size_t i = d->left.items.len; d->taken && i > 0; i--)
        if (strcmp(d->left.items.items[i - 1], d->taken) == 0) {
            free(d->left.items.items[i - 1]);
            vec_remove(&d->left.items, i - 1, 1);
        }
    mem_replace(&d->taken, NULL);
    pthread_mutex_unlock(&d->lock);
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
    if (more)
        forget_left(d);
    /* Tell the progress of older sessions. */
    struct memory_backlog_count count;
    struct error e;
    struct memory *m = d->memories->recall.memory;
    bool wanted = m->ops->backlog(m, &count, &e) && count.sessions[BACKLOG_WANTED] > 0;
    bool works = wanted || (more && d->work.backlog_told);
    bool due = !d->work.backlog_told || clock_mono_ms() - d->work.told_at_ms >= TELL_EVERY_MS;
    if (works ? due : d->work.backlog_told)
        tell_state(d, wakeup, worker_wants(d->desk.worker, CHORE_EMBED));
    d->work.backlog_told = works;
    if (more)
        want(d, CHORE_INDEX);
    else if (d->work.idle_in_ms >= 0)
        want(d, CHORE_AWAIT);
    return more ? REST_MS : CHORE_DONE;
}

/* Only determines when to follow. Wanting a chore does not shorten its wait, and a session that was
 * left is followed at once, so CHORE_FOLLOW itself does not wait. */
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
        want(d, CHORE_FOLLOW);
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

static const struct chore memory_chores[MEMORY_CHORES] = {
    [CHORE_PURGE] = {"purging", purge_some, true},
    [CHORE_INDEX] = {"indexing", index_some, true},
    [CHORE_FOLLOW] = {"following", follow_some, true},
    [CHORE_AWAIT] = {"waiting", await_idle, false},
    [CHORE_TIDY] = {"tidying", tidy_some, false},
    [CHORE_EMBED] = {"embedding", embed_some, false},
};

/* --- the desk --------------------------------------------------------------------------------- */

/* The session stays in the list until it was followed: a step may fail, or only ask when the next
 * one is due. */
static bool has_left(void *desk, const char *session_id)
{
    struct memory_desk *d = desk;
    bool found = false;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->left.items.len && !found; i++)
        found = strcmp(d->left.items.items[i], session_id) == 0;
    if (found)
        mem_replace(&d->taken, mem_strdup(session_id));
    pthread_mutex_unlock(&d->lock);
    return found;
}

static void begin(struct desk *desk)
{
    struct memory_desk *d = (struct memory_desk *)desk;
    store_set_patience(d->desk.store, d->patience_ms, 0, worker_ends, d->desk.worker);
    d->memories = memories_new(d->config, desk->store, desk->place->directory, d->project);
    d->memories->recall.alone = desk->place->kind == PLACE_READS;
    d->memories->recall.memory->lazy = true;
    d->graphs = graphs_new(d->config, desk->store);
    d->graphs->lazy = true;
    d->context = (struct operation_context){.config = d->config,
                                            .project = d->project,
                                            .met = NEED_STORE | NEED_MEMORY | NEED_LEARNED |
                                                   NEED_GRAPH | NEED_WRITE,
                                            .memories = d->memories,
                                            .graphs = d->graphs};
    memory_sink_init(&d->sink, d->memories->recall.memory, d->config);
    d->follow = (struct memory_follow){.sink = &d->sink,
                                       .store = desk->store,
                                       .directory = desk->place->directory,
                                       .has_left = has_left,
                                       .context = d};
    want(d, CHORE_PURGE); /* the program may have been killed last time */
    want(d, CHORE_INDEX);
}

static void end(struct desk *desk)
{
    struct memory_desk *d = (struct memory_desk *)desk;
    memories_free(d->memories);
    graphs_free(d->graphs);
}

static bool call(struct desk *desk, const struct operation_request *r, void *result,
                 struct error *e)
{
    struct memory_desk *d = (struct memory_desk *)desk;
    d->memories->session = *r->session ? r->session : NULL;
    d->memories->wakeup = desk->wakeup;
    (void)memories_work_in(d->memories, NULL, e);
    if (!operation_call(&d->context, r->operation, r->params, result, e))
        return false;
    if ((r->operation->needs & NEED_WRITE) && (r->operation->needs & NEED_MEMORY))
        memory_desk_work(d);
    else if (r->operation->needs & NEED_WRITE)
        want(d, CHORE_PURGE);
    if ((r->operation->needs & NEED_WRITE) && strncmp(r->operation->name, "learned/", 8) == 0)
        mailbox_push(desk->notices,
                     learned_notice(desk->store, memories_directory(d->memories), false));
    if (r->operation == &operation_memory_stats)
        add_work(&d->work, worker_wants(d->desk.worker, CHORE_EMBED), result);
    return true;
}

static const struct desk_role role = {.mode = STORE_READ_WRITE,
                                      .call = call,
                                      .opened = begin,
                                      .closes = end,
                                      .chores = memory_chores,
                                      .chore_count = MEMORY_CHORES};

struct memory_desk *memory_desk_new(const struct config *config, struct place *place,
                                    const char *project, struct mailbox *notices)
{
    struct memory_desk *d = mem_alloc(sizeof *d);
    *d = (struct memory_desk){.config = config,
                              .project = mem_strdup(project),
                              .patience_ms = PATIENCE_MS,
                              .began_ms = clock_wall_ms()};
    pthread_mutex_init(&d->lock, NULL);
    desk_init(&d->desk, &role, place, notices);
    return d;
}

void memory_desk_set_patience(struct memory_desk *d, int ms)
{
    d->patience_ms = ms;
}

void memory_desk_free(struct memory_desk *d)
{
    if (!d)
        return;
    desk_release(&d->desk);
    pthread_mutex_destroy(&d->lock);
    vec_free_each(&d->left.items);
    free(d->taken);
    free(d->project);
    free(d);
}

void memory_desk_work(struct memory_desk *d)
{
    want(d, CHORE_PURGE);
    want(d, CHORE_INDEX);
    memory_desk_follow(d);
    want(d, CHORE_EMBED);
}

/* A deletion by the model, on its way to the desk's thread. */
struct gone_job {
    struct job job;
    struct graph_part gone;
};

static void run_gone(struct job *job, void *desk, const struct wakeup *wakeup)
{
    struct memory_desk *d = desk;
    (void)wakeup;
    if (d->graphs)
        graphs_keep_gone(d->graphs, &((struct gone_job *)job)->gone);
}

static void release_gone(struct job *job)
{
    struct gone_job *j = (struct gone_job *)job;
    graph_part_release(&j->gone);
    free(j);
}

void memory_desk_keep_gone(struct memory_desk *d, struct graph_part *gone)
{
    struct gone_job *j = mem_alloc(sizeof *j);
    struct error e;
    *j = (struct gone_job){.job = {.run = run_gone, .release = release_gone}, .gone = *gone};
    *gone = (struct graph_part){0};
    if (!worker_submit(d->desk.worker, &j->job, &e)) {
        log_line(LOG_ERROR, "what was deleted of the graph cannot be undone: %s", e.text);
        release_gone(&j->job);
    }
    memory_desk_purge(d);
}

void memory_desk_purge(struct memory_desk *d)
{
    want(d, CHORE_PURGE);
}

void memory_desk_follow(struct memory_desk *d)
{
    if (memory_follow_is_on(d->config))
        want(d, CHORE_FOLLOW);
}

void memory_desk_left(struct memory_desk *d, const char *session_id)
{
    pthread_mutex_lock(&d->lock);
    vec_push(&d->left.items, mem_strdup(session_id));
    pthread_mutex_unlock(&d->lock);
    memory_desk_follow(d);
}
