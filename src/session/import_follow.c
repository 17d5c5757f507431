#include "session/import_follow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "import/watch.h"
#include "session/lock.h"
#include "session/memories.h"
#include "session/memory_sink.h"

/* LOCK_MS: between two looks whether another process has ended. STEP_MS, SHARE: a step that gives
 * way, and the part of the time that it takes. CAME_MAX: sessions of one scan that are indexed
 * before others. */
enum { LOCK_MS = 5000, AGAIN_MS = 5000, REST_MS = 10, STEP_MS = 80, SHARE = 4, CAME_MAX = 256 };

struct import_follow {
    struct store *store;
    char *directory; /* of the store; NULL: it is in memory */
    struct text_list paths;
    char *from, *project;
    struct import_options options;
    struct import_watch *watch;
    int lock;
    bool gives_way;
    const struct wakeup *wakeup; /* of the present step */
    int64_t rested_ms;           /* cpu_ms() at the last rest */
    int rest_ms;                 /* before the next part of the indexing */

    struct memories *memories; /* NULL: nothing is indexed */
    struct memory_sink sink;
    struct memory_follow left;
    struct text_list came; /* sessions that got something new and are not indexed yet */
    bool indexes;          /* there may be something to index */
};

/* The processor time of this thread. */
static int64_t cpu_ms(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* After a step: other connections, which try every few ms, write meanwhile. */
static int rest_ms(const struct import_follow *f)
{
    int took = (int)(cpu_ms() - f->rested_ms) * (SHARE - 1);
    return f->gives_way && took > REST_MS ? took : REST_MS;
}

/* Comes between two transactions. What is new does not wait for the rest of a long scan. */
static bool tell(void *follow, int64_t done, int64_t of)
{
    struct import_follow *f = follow;
    (void)done;
    bool on = wakeup_sleep(f->wakeup, rest_ms(f));
    f->rested_ms = cpu_ms();
    return on && !(of > 0 && f->options.changed->items.len == 0 && import_watch_came(f->watch));
}

static void came(void *follow, const char *session_id)
{
    struct import_follow *f = follow;
    bool last = f->came.items.len > 0 && strcmp(vec_last(&f->came.items), session_id) == 0;
    if (f->memories && !last && f->came.items.len < CAME_MAX)
        vec_push(&f->came.items, mem_strdup(session_id));
}

struct import_follow *import_follow_new(struct operation_context *c, const struct import_params *p,
                                        bool memory, bool gives_way, struct error *e)
{
    struct import_follow *f = mem_alloc(sizeof *f);
    *f = (struct import_follow){.store = c->catalog.store,
                                .directory = mem_strdup(c->catalog.directory),
                                .lock = -1,
                                .gives_way = gives_way};
    if (!import_options_of(c, p, &f->options, &f->paths, e)) {
        import_follow_free(f);
        return NULL;
    }
    f->options.from = f->from = mem_strdup(f->options.from);
    f->options.project = f->project = mem_strdup(f->options.project);
    f->options.tell = tell;
    f->options.came = came;
    f->options.own = NULL; /* no agent writes one */
    f->options.context = f;
    f->options.step_ms = gives_way ? STEP_MS : 0;
    f->options.watch = f->watch =
        import_watch_new(&(struct import_watch_options){.paths = &f->paths, .from = f->from});
    if (memory && memory_follow_is_on(c->config)) {
        f->memories = memories_new(c->config, f->store, f->directory, c->project);
        f->memories->recall.memory->lazy = true;
        memory_sink_init(&f->sink, f->memories->recall.memory, c->config);
        f->left =
            (struct memory_follow){.sink = &f->sink, .store = f->store, .directory = f->directory};
    }
    return f;
}

void import_follow_free(struct import_follow *f)
{
    if (!f)
        return;
    import_watch_free(f->watch);
    memories_free(f->memories);
    lock_drop(&f->lock);
    vec_free_each(&f->paths.items);
    vec_free_each(&f->came.items);
    free(f->directory);
    free(f->from);
    free(f->project);
    free(f);
}

/* A part of the indexing: what was deferred, sessions that came, then older ones. */
static bool index_some(struct import_follow *f, bool *more, struct error *e)
{
    int64_t wait_ms;
    if (!memory_sink_work(&f->sink, f->store, more, e) || *more)
        return *more;
    if (f->came.items.len == 0)
        return f->gives_way || memory_follow_next(&f->left, more, &wait_ms, e);
    auto_free char *id = vec_last(&f->came.items);
    f->came.items.len--;
    *more = true;
    return memory_sink_follow(&f->sink, f->store, id, e);
}

/* Reads what changed. Returns whether something was new. */
static bool read_some(struct import_follow *f, struct text_list *changed, struct import_report *out)
{
    struct error e;
    int64_t messages = 0;
    f->options.changed = changed;
    if (!import_scan(f->store, &f->paths, &f->options, out, &e)) {
        if (e.code != ERR_INTERRUPTED)
            log_line(LOG_ERROR, "histories of other agents: %s", e.text);
        import_watch_again(f->watch, e.code == ERR_INTERRUPTED ? 0 : AGAIN_MS);
    }
    vec_free_each(&changed->items);
    for (size_t i = 0; i < out->sources.len; i++)
        messages += out->sources.items[i].messages;
    if (messages == 0)
        import_report_release(out);
    return messages > 0;
}

bool import_follow_step(struct import_follow *f, const struct wakeup *wakeup,
                        struct import_report *out)
{
    struct error e = {0};
    bool waits = false;
    if (f->lock < 0 && f->directory &&
        (!lock_try(f->directory, LOCK_IMPORT, &f->lock, &waits, &e) || waits)) {
        wakeup_sleep(wakeup, LOCK_MS);
        return false;
    }
    struct text_list changed;
    enum import_event event =
        import_watch_wait(f->watch, wakeup, f->indexes ? f->rest_ms : -1, &changed);
    f->wakeup = wakeup;
    f->rested_ms = cpu_ms();
    bool came = event == IMPORT_CHANGED && read_some(f, &changed, out);
    if (event == IMPORT_QUIET && !index_some(f, &f->indexes, &e)) {
        log_line(LOG_ERROR, "indexing histories: %s", e.text);
        f->indexes = false;
    }
    f->indexes = f->indexes || (event == IMPORT_CHANGED && f->memories);
    f->rest_ms = rest_ms(f);
    if (!f->indexes) { /* nothing is to be done until something changes */
        store_rest(f->store);
        mem_return_unused();
    }
    return came;
}
