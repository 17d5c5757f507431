#include "session/space_desk.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/learned_operations.h"
#include "session/memories.h"
#include "session/space_operations.h"

/* A line is to be found on another machine within a second of its push. */
enum { POLL_MS = 500, RETRY_LEAST_MS = 1000, RETRY_MOST_MS = 60 * 1000, PATIENCE_MS = 5000 };
/* Facts and members are read again; what waits for longer is told. */
enum { REFRESH_MS = 60 * 1000, TELL_AFTER_MS = 60 * 1000 };

/* A space with its connection, which stays open. */
struct kept_link {
    struct space_link link;
    int64_t refresh_at_ms, retry_at_ms;
    int retry_ms; /* 0: it works */
};

struct space_desk {
    struct desk desk;
    const struct config *config;
    char *project;
    struct memory_desk *memory; /* borrowed */

    /* The thread's own. */
    struct operation_context context;
    struct memories *memories;
    struct wakeup wakeup; /* of the present step: connections stay open between steps */
    VEC(struct kept_link) links;
    int64_t told; /* lines that wait, as the last notice said */
};

static void drop_links(struct space_desk *d)
{
    for (size_t i = 0; i < d->links.len; i++)
        space_link_close(&d->links.items[i].link);
    vec_release(&d->links);
}

/* Makes the list of links that of the spaces; others may have joined or left one. */
static bool read_links(struct space_desk *d, struct error *e)
{
    struct spaces all;
    if (!spaces_read(d->desk.store, &all, e))
        return false;
    bool same = all.items.len == d->links.len;
    for (size_t i = 0; i < all.items.len && same; i++)
        same = all.items.items[i].number == d->links.items[i].link.space.number;
    if (!same) {
        drop_links(d);
        for (size_t i = 0; i < all.items.len; i++) {
            vec_push(&d->links, (struct kept_link){.link = {.space = all.items.items[i]}});
            all.items.items[i] = (struct space){0};
        }
    }
    spaces_release(&all);
    return true;
}

static bool sync_one(struct space_desk *d, struct kept_link *k, struct space_news *news,
                     struct error *e)
{
    struct memory *m = d->memories->recall.memory;
    int64_t now = clock_mono_ms();
    if (!k->link.carrier || now >= k->refresh_at_ms) {
        bool ok = k->link.carrier ? space_refresh(d->desk.store, &k->link.space, k->link.carrier, e)
                                  : space_link_open(&k->link, d->desk.store, &d->wakeup, e);
        if (!ok)
            return false;
        k->refresh_at_ms = now + REFRESH_MS;
    }
    return space_link_sync(&k->link, d->desk.store, m, &d->wakeup, news, e);
}

static void tell(struct space_desk *d)
{
    int64_t waiting = 0, since = 0;
    const char *name = "";
    struct error e;
    for (size_t i = 0; i < d->links.len; i++) {
        struct space_state state;
        const struct space *s = &d->links.items[i].link.space;
        if (!space_state(d->desk.store, s, &state, &e) || state.waiting <= waiting)
            continue;
        waiting = state.waiting;
        since = state.waiting_since_ms;
        name = s->name;
    }
    if (waiting > 0 && clock_wall_ms() - since < TELL_AFTER_MS)
        waiting = 0;
    if (waiting == d->told)
        return;
    struct notice *n = notice_new(NOTICE_SPACE_STATE);
    n->text = mem_strdup(name);
    n->number = d->told = waiting;
    mailbox_push(d->desk.notices, n);
}

static int sync_some(void *desk, const struct wakeup *wakeup)
{
    struct space_desk *d = desk;
    struct space_news news = {0};
    struct error e;
    if (!d->desk.store || worker_ends(d->desk.worker))
        return CHORE_DONE;
    d->wakeup = *wakeup;
    if (!read_links(d, &e))
        return RETRY_LEAST_MS;
    if (d->links.len == 0)
        return CHORE_DONE;
    for (size_t i = 0; i < d->links.len; i++) {
        struct kept_link *k = &d->links.items[i];
        if (clock_mono_ms() < k->retry_at_ms)
            continue;
        if (sync_one(d, k, &news, &e)) {
            k->retry_ms = 0;
            continue;
        }
        if (!wakeup_sleep(wakeup, 0)) /* a request waits: this is no failure */
            return 0;
        carrier_close(k->link.carrier);
        k->link.carrier = NULL;
        k->retry_ms = k->retry_ms == 0                  ? RETRY_LEAST_MS
                      : 2 * k->retry_ms > RETRY_MOST_MS ? RETRY_MOST_MS
                                                        : 2 * k->retry_ms;
        k->retry_at_ms = clock_mono_ms() + k->retry_ms;
        log_line(LOG_INFO, "space %s: %s", k->link.space.name, e.text);
        if (!space_expire(d->desk.store, d->memories->recall.memory, &k->link.space, &e))
            log_line(LOG_ERROR, "space %s: %s", k->link.space.name, e.text);
    }
    tell(d);
    if (news.applied > 0)
        memory_desk_work(d->memory);
    if (news.proposed > 0)
        mailbox_push(d->desk.notices,
                     learned_notice(d->desk.store, memories_directory(d->memories), false));
    return POLL_MS;
}

static const struct chore chores[] = {{"sharing", sync_some, false}};

static void begin(struct desk *desk)
{
    struct space_desk *d = (struct space_desk *)desk;
    store_set_patience(desk->store, PATIENCE_MS, 0, worker_ends, desk->worker);
    d->memories = memories_new(d->config, desk->store, desk->place->directory, d->project);
    d->memories->recall.memory->lazy = true;
    d->context = (struct operation_context){.config = d->config,
                                            .project = d->project,
                                            .met = NEED_STORE | NEED_MEMORY | NEED_WRITE,
                                            .memories = d->memories};
}

static void end(struct desk *desk)
{
    struct space_desk *d = (struct space_desk *)desk;
    drop_links(d);
    memories_free(d->memories);
}

static bool call(struct desk *desk, const struct operation_request *r, void *result,
                 struct error *e)
{
    struct space_desk *d = (struct space_desk *)desk;
    d->memories->session = *r->session ? r->session : NULL;
    d->context.wakeup = desk->wakeup;
    bool ok = operation_call(&d->context, r->operation, r->params, result, e);
    space_desk_work(d);
    return ok;
}

static const struct desk_role role = {.mode = STORE_READ_WRITE,
                                      .call = call,
                                      .opened = begin,
                                      .closes = end,
                                      .chores = chores,
                                      .chore_count = 1};

struct space_desk *space_desk_new(const struct config *config, struct place *place,
                                  const char *project, struct memory_desk *memory,
                                  struct mailbox *notices)
{
    struct space_desk *d = mem_alloc(sizeof *d);
    *d = (struct space_desk){.config = config, .project = mem_strdup(project), .memory = memory};
    desk_init(&d->desk, &role, place, notices);
    return d;
}

void space_desk_free(struct space_desk *d)
{
    if (!d)
        return;
    desk_release(&d->desk);
    free(d->project);
    free(d);
}

void space_desk_work(struct space_desk *d)
{
    struct error e;
    if (d->desk.place->kind != PLACE_READS && !worker_want(d->desk.worker, 0, &e))
        log_line(LOG_ERROR, "shared spaces: %s", e.text);
}
