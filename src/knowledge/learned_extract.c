#include "knowledge/learned_extract.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "knowledge/entity_text.h"
#include "knowledge/learned.h"
#include "knowledge/own_words.h"
#include "knowledge/project.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/sql.h"

static const char want_sql[] =
    "INSERT INTO learned_extract (session, seq, waits, tries) VALUES (?1, 0, 1, 0)"
    " ON CONFLICT (session) DO UPDATE SET waits = 1, tries = 0";
static const char next_sql[] =
    "SELECT x.session, x.seq FROM learned_extract x JOIN session ON session.id = x.session"
    " WHERE x.waits ORDER BY x.tries, x.session LIMIT 1";
static const char done_sql[] =
    "UPDATE learned_extract SET waits = 0, tries = 0, seq = ?2 WHERE session = ?1";
static const char failed_sql[] =
    "UPDATE learned_extract SET tries = tries + 1, waits = tries + 1 < ?2 WHERE session = ?1";

/* --- which wait ------------------------------------------------------------------------------- */

bool learned_extract_want(struct store *s, const char *session_id, struct error *e)
{
    struct query q = query_for(s, want_sql, session_id, e);
    return query_run(&q);
}

bool learned_extract_next(struct store *s, struct waiting_session *out, struct error *e)
{
    struct query q = query_begin(s, next_sql, e);
    *out = (struct waiting_session){0};
    if (query_next(&q))
        *out =
            (struct waiting_session){query_column_text(&q, 0), sqlite3_column_int64(q.handle, 1)};
    return query_end(&q);
}

bool learned_extract_failed(struct store *s, const struct waiting_session *w, struct error *e)
{
    struct query q = query_for(s, failed_sql, w->id, e);
    query_int(&q, EXTRACTION_TRIES);
    return query_run(&q);
}

/* --- what was typed --------------------------------------------------------------------------- */

struct reading {
    struct typed_messages *out;
    struct learned_closed closed; /* what was said then is not looked at */
    int64_t after, last;
    int turns;
};

/* A turn that is sent again is the same one. */
static bool visit(void *context, const struct event *ev)
{
    struct reading *r = context;
    r->last = ev->seq;
    if (ev->type != EVENT_TURN_STARTED || ev->number > 0 || !ev->text)
        return true;
    r->turns++;
    if (ev->seq > r->after && ev->origin == INPUT_TYPED && !learned_closed_has(&r->closed, ev->seq))
        (void)typed_messages_add(r->out, ev->seq, ev->text);
    return true;
}

bool learned_extract_read(struct store *s, const struct waiting_session *w,
                          struct typed_messages *out, int64_t *last, struct error *e)
{
    struct reading r = {.out = out, .after = w->seq, .last = w->seq};
    enum memory_access access;
    bool ok = learned_access_read(s, w->id, &access, e) &&
              learned_closed_read(s, w->id, &r.closed, e) &&
              event_log_read(s, w->id, 0, visit, &r, e);
    learned_closed_release(&r.closed);
    if (!ok || access != MEMORY_ACCESS_WRITE || r.turns < EXTRACTION_TURNS)
        typed_messages_release(out);
    *last = r.last;
    return ok;
}

/* --- what is proposed ------------------------------------------------------------------------- */

struct keeping {
    struct store *store;
    const struct waiting_session *session;
    const struct graph *graph;
    char *project;
    int64_t last;
    int kept;
};

/* All of it is in the graph. */
static bool is_in_graph(const struct keeping *k, const char *text, bool *known, struct error *e)
{
    struct entity_text t;
    struct graph_part part = {0};
    *known = true;
    if (!entity_text_read(text, &t, &(struct error){0}))
        return true;
    const struct graph_names names = {.names = {.items = (const char **)&t.name, .len = 1}};
    bool ok = graph_open(k->graph, &names, &part, e);
    const struct graph_entity *there = part.entities.len > 0 ? &part.entities.items[0] : NULL;
    *known = there != NULL;
    for (size_t i = 0; there && i < t.observations.len; i++) {
        bool found = false;
        for (size_t o = 0; !found && o < there->observations.len; o++)
            found = strcmp(there->observations.items[o].content, t.observations.items[i]) == 0;
        *known = *known && found;
    }
    graph_part_release(&part);
    entity_text_release(&t);
    return ok;
}

static bool is_wanted(const struct keeping *k, const struct proposal *p, bool *wanted,
                      struct error *e)
{
    bool known = false, own = false;
    *wanted = false;
    if (p->kind == LEARNED_ENTITY && (!k->graph || !is_in_graph(k, p->text, &known, e)))
        return !k->graph;
    bool ok = own_words(k->store, k->session->id, k->last + 1, p->text, &own, e);
    *wanted = own && !known;
    return ok;
}

static bool keep(struct keeping *k, const struct proposal *p, struct error *e)
{
    struct learned_item kept = {.id = NULL};
    struct learned_item item = {.scope = learned_scope_of(p->kind),
                                .kind = p->kind,
                                .state = LEARNED_CANDIDATE,
                                .origin = LEARNED_EXTRACTED,
                                .text = p->text,
                                .session_id = k->session->id,
                                .seq = p->seq};
    enum learned_added how;
    bool wanted;
    if (item.scope == LEARNED_PROJECT)
        item.project = k->project;
    if (!is_wanted(k, p, &wanted, e))
        return false;
    if (!wanted)
        return true;
    bool ok = learned_add(k->store, &item, &kept, &how, e);
    k->kept += ok && how == LEARNED_IS_NEW;
    learned_item_release(&kept);
    return ok;
}

/* A text that cannot be kept is no reason to leave the others. */
static bool keep_all(struct keeping *k, const struct proposals *p, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < p->items.len; i++) {
        struct error fault = {0};
        ok = keep(k, &p->items.items[i], &fault) || fault.code == ERR_USAGE;
        if (!ok)
            *e = fault;
    }
    struct query q = query_for(k->store, done_sql, k->session->id, e);
    query_int(&q, k->last);
    return query_run(&q) && ok;
}

bool learned_extract_keep(struct store *s, const struct waiting_session *w, int64_t last,
                          const struct proposals *p, const struct graph *graph, int *kept,
                          struct error *e)
{
    struct session_info info = {0};
    bool began;
    *kept = 0;
    if (!sessions_get(s, w->id, &info, e))
        return false;
    struct keeping k = {.store = s,
                        .session = w,
                        .graph = graph,
                        .project = project_of(info.directory ? info.directory : "/"),
                        .last = last};
    bool ok = store_enter(s, &began, e) && store_leave(s, began, keep_all(&k, p, e), e);
    *kept = ok ? k.kept : 0;
    session_info_release(&info);
    free(k.project);
    return ok;
}

/* --- an entity that is accepted --------------------------------------------------------------- */

static bool put_entity(const struct graph *g, const struct entity_text *t,
                       const struct graph_by *by, struct error *e)
{
    const char **observations = (const char **)t->observations.items;
    size_t count = t->observations.len;
    struct graph_new_entity entity = {t->name, t->type, {.items = observations, .len = count}};
    struct graph_new_observations more = {t->name, {.items = observations, .len = count}};
    struct graph_part created = {0};
    struct graph_added added = {0};
    bool ok = graph_create(g, &(struct graph_create){.entities = {&entity, 1, 1}}, by, &created, e);
    if (ok && created.entities.len == 0 && count > 0) /* it is there */
        ok =
            graph_observe(g, &(struct graph_observe){.observations = {&more, 1, 1}}, by, &added, e);
    graph_part_release(&created);
    shape_release(&graph_added_shape, &added);
    return ok;
}

static bool move_entity(const struct graph *g, const struct learned_item *item,
                        const struct entity_text *t, struct error *e)
{
    const struct graph_by by = {item->session_gone ? NULL : item->session_id, item->seq};
    const char *id = item->id;
    struct learned_items gone = {0};
    bool ok = put_entity(g, t, &by, e) && learned_forget(g->store, &id, 1, &gone, e);
    learned_items_release(&gone);
    return ok;
}

bool learned_keep_entity(const struct graph *graph, const struct learned_item *item,
                         struct error *e)
{
    struct entity_text t;
    bool began;
    if (!entity_text_read(item->text, &t, e))
        return false;
    bool ok = store_enter(graph->store, &began, e) &&
              store_leave(graph->store, began, move_entity(graph, item, &t, e), e);
    entity_text_release(&t);
    return ok;
}
