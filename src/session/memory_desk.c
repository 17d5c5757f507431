#include "session/memory_desk.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "session/learned_operations.h"
#include "session/memory_desk_private.h"
#include "session/memory_operations.h"

enum { PATIENCE_MS = 5000 };

void memory_desk_be_patient(struct memory_desk *d)
{
    store_set_patience(d->desk.store, d->patience_ms, worker_ends, d->desk.worker);
}

/* It is followed once. */
static bool has_left(void *desk, const char *session_id)
{
    struct memory_desk *d = desk;
    bool found = false;
    pthread_mutex_lock(&d->lock);
    for (size_t i = d->left.items.len; i > 0; i--)
        if (strcmp(d->left.items.items[i - 1], session_id) == 0) {
            free(d->left.items.items[i - 1]);
            vec_remove(&d->left.items, i - 1, 1);
            found = true;
        }
    pthread_mutex_unlock(&d->lock);
    return found;
}

static void begin(struct desk *desk)
{
    struct memory_desk *d = (struct memory_desk *)desk;
    memory_desk_be_patient(d);
    d->memories = memories_new(d->config, desk->store, place_directory(desk->place), d->project);
    d->memories->recall.alone = place_reads(desk->place);
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
                                       .directory = place_directory(desk->place),
                                       .has_left = has_left,
                                       .context = d};
    memory_desk_want(d, CHORE_PURGE); /* the program may have been killed last time */
    memory_desk_want(d, CHORE_INDEX);
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
        memory_desk_want(d, CHORE_PURGE);
    if ((r->operation->needs & NEED_WRITE) && strncmp(r->operation->name, "learned/", 8) == 0)
        mailbox_push(desk->notices,
                     learned_notice(desk->store, memories_directory(d->memories), false));
    if (r->operation == &operation_memory_stats)
        memory_work_add(d, result);
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
    free(d->project);
    free(d);
}

/* What cannot be begun now is done at the next occasion. */
void memory_desk_want(struct memory_desk *d, enum memory_chore chore)
{
    struct error e;
    if (!place_reads(d->desk.place) && !worker_want(d->desk.worker, chore, &e))
        log_line(LOG_ERROR, "%s of memory: %s", memory_chores[chore].name, e.text);
}

void memory_desk_work(struct memory_desk *d)
{
    memory_desk_want(d, CHORE_PURGE);
    memory_desk_want(d, CHORE_INDEX);
    memory_desk_follow(d);
    memory_desk_want(d, CHORE_EMBED);
}

/* What the model deleted, on its way to the desk's thread. */
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
    memory_desk_want(d, CHORE_PURGE);
}

void memory_desk_follow(struct memory_desk *d)
{
    if (memory_follow_is_on(d->config))
        memory_desk_want(d, CHORE_FOLLOW);
}

void memory_desk_left(struct memory_desk *d, const char *session_id)
{
    pthread_mutex_lock(&d->lock);
    vec_push(&d->left.items, mem_strdup(session_id));
    pthread_mutex_unlock(&d->lock);
    memory_desk_follow(d);
}

void memory_desk_start(struct memory_desk *d, struct operation_request *r)
{
    desk_start(&d->desk, r);
}

void memory_desk_withdraw(struct memory_desk *d, uint64_t id)
{
    desk_withdraw(&d->desk, id);
}
