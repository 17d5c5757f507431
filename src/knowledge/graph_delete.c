/* The graph's facts deleted, and put back. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "knowledge/graph_private.h"
#include "memory/content.h"

/* ---- delete ---- */

static bool run_for(struct store *s, const char *sql, int64_t number, struct error *e)
{
    struct query q = query_begin(s, sql, e);
    query_int(&q, number);
    return query_run(&q);
}

static bool find_all(const struct graph *g, const struct graph_names *p, const char *list,
                     struct graph_keys *out, struct error *e)
{
    for (size_t i = 0; i < p->names.len; i++) {
        const struct graph_path path = graph_path_of(list, i, NULL);
        int64_t key;
        if (!graph_need(g->store, p->names.items[i], path.text, &key, e))
            return false;
        if (!graph_keys_have(out, key))
            vec_push(&out->items, key);
    }
    return true;
}

static bool remove_entity(struct store *s, int64_t key, struct error *e)
{
    return graph_unindex(s, key, e) && run_for(s, "DELETE FROM graph_entry WHERE key = ?", key, e);
}

static bool purge_later(const struct graph *g, struct error *e)
{
    const struct corpus c = graph_corpus(g->store);
    return words_purge(&c, true, e);
}

static bool delete_entities(const struct graph *g, const struct graph_names *p,
                            struct graph_part *gone, struct error *e)
{
    struct graph_keys keys = {0};
    bool ok = find_all(g, p, "entity_names", &keys, e) &&
              graph_read_part(g->store, &keys, SIZE_MAX, gone, e);
    for (size_t i = 0; i < keys.items.len && ok; i++)
        ok = remove_entity(g->store, keys.items.items[i], e);
    vec_release(&keys.items);
    return ok && purge_later(g, e);
}

/* Whether an observation was named before, so that it is gone already. */
static bool is_gone_of(const struct graph_part *gone, const char *name, const char *text)
{
    for (size_t i = 0; i < gone->entities.len; i++) {
        const struct graph_entity *n = &gone->entities.items[i];
        for (size_t k = 0; k < n->observations.len && strcmp(n->name, name) == 0; k++)
            if (content_equal(n->observations.items[k].content, text))
                return true;
    }
    return false;
}

/* *number: of the observation that stands there as it was written, but for secrets and blanks at
 * its ends; -1: it is gone already. */
static bool need_observation(const struct graph *g, int64_t key, const char *text, const char *path,
                             const struct graph_part *gone, int64_t *number, struct error *e)
{
    const char *name = vec_last(&gone->entities).name;
    char *clean = graph_clean_text(text, path, e);
    bool ok = clean && graph_find_observation(g->store, key, clean, number, e) &&
              (*number >= 0 || is_gone_of(gone, name, clean) ||
               err_set(e, ERR_MEMORY_NOT_FOUND,
                       "\"%s\": \"%.60s\" is no observation of \"%.60s\"; open the entity to see "
                       "them",
                       path, clean, name));
    free(clean);
    return ok;
}

static bool delete_observation(const struct graph *g, int64_t number, struct graph_entity *gone,
                               struct error *e)
{
    static const char read_sql[] = "SELECT content, " GRAPH_SOURCE(
        "graph_observation") " FROM graph_observation WHERE number = ?";
    struct query q = query_begin(g->store, read_sql, e);
    query_int(&q, number);
    if (query_next(&q))
        vec_push(&gone->observations,
                 (struct graph_observation){query_column_text(&q, 0), graph_source_read(&q, 1)});
    return query_end(&q) &&
           run_for(g->store, "DELETE FROM graph_observation WHERE number = ?", number, e);
}

static bool delete_of_entity(const struct graph *g, const struct graph_new_observations *n,
                             size_t at, struct graph_part *gone, struct error *e)
{
    const struct graph_path path = graph_path_of("deletions", at, "entity_name");
    struct graph_entity entity;
    int64_t key, number;
    if (!graph_need(g->store, n->entity, path.text, &key, e) ||
        !graph_read_entity(g->store, key, false, &entity, e))
        return false;
    vec_push(&gone->entities, entity);
    bool ok = graph_unindex(g->store, key, e);
    for (size_t i = 0; i < n->contents.len && ok; i++) {
        const struct graph_path member = graph_path_in("deletions", at, "observations", i);
        ok = need_observation(g, key, n->contents.items[i], member.text, gone, &number, e) &&
             (number < 0 || delete_observation(g, number, &vec_last(&gone->entities), e));
    }
    return ok && graph_index(g, key, e);
}

static bool delete_observations(const struct graph *g, const struct graph_unobserve *p,
                                struct graph_part *gone, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; i < p->deletions.len && ok; i++)
        ok = delete_of_entity(g, &p->deletions.items[i], i, gone, e);
    return ok && purge_later(g, e);
}

/* Whether it was named before, so that it is gone already. */
static bool is_gone(const struct graph_part *gone, const struct graph_new_relation *n)
{
    for (size_t i = 0; i < gone->relations.len; i++) {
        const struct graph_relation *r = &gone->relations.items[i];
        if (content_equal(r->from, n->from) && content_equal(r->to, n->to) &&
            content_equal(r->type, n->type))
            return true;
    }
    return false;
}

static bool delete_ends(const struct graph *g, const struct graph_new_relation *n,
                        const struct graph_ends *ends, size_t at, struct graph_part *gone,
                        struct error *e)
{
    static const char read_sql[] = "SELECT number, " GRAPH_SOURCE(
        "graph_relation") " FROM graph_relation WHERE source = ?1 AND target = ?2 AND type = ?3";
    int64_t number = -1;
    struct graph_source source = {0};
    struct query q = query_begin(g->store, read_sql, e);
    query_int(&q, ends->from);
    query_int(&q, ends->to);
    query_text(&q, ends->type);
    if (query_next(&q)) {
        number = sqlite3_column_int64(q.handle, 0);
        source = graph_source_read(&q, 1);
    }
    bool ok = query_end(&q) &&
              (number >= 0 || is_gone(gone, n) ||
               err_set(e, ERR_MEMORY_NOT_FOUND,
                       "\"relations[%zu]\": there is no relation \"%.60s\" from \"%.60s\" to "
                       "\"%.60s\"",
                       at, ends->type, n->from, n->to));
    if (ok && number >= 0)
        ok = graph_add_relation(g, ends, &source, gone, e) &&
             run_for(g->store, "DELETE FROM graph_relation WHERE number = ?", number, e);
    free(source.session_id);
    return ok;
}

static bool delete_relations(const struct graph *g, const struct graph_relate *p,
                             struct graph_part *gone, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; i < p->relations.len && ok; i++) {
        const struct graph_new_relation *n = &p->relations.items[i];
        struct graph_ends ends;
        ok = graph_find_ends(g, n, i, &ends, e) && delete_ends(g, n, &ends, i, gone, e);
        free(ends.type);
    }
    return ok;
}

/* Leaves the transaction; `gone` is the caller's, unless it failed or nobody wants it. */
static bool leave(const struct graph *g, bool began, bool ok, struct graph_part *gone,
                  struct graph_part *out, struct error *e)
{
    ok = store_leave(g->store, began, ok, e);
    if (ok && out)
        *out = *gone;
    else
        graph_part_release(gone);
    return ok;
}

bool graph_delete_entities(const struct graph *g, const struct graph_names *p,
                           struct graph_part *gone, struct error *e)
{
    struct graph_part part = {0};
    bool began;
    if (gone)
        *gone = (struct graph_part){0};
    return store_enter(g->store, &began, e) &&
           leave(g, began, delete_entities(g, p, &part, e), &part, gone, e);
}

bool graph_delete_observations(const struct graph *g, const struct graph_unobserve *p,
                               struct graph_part *gone, struct error *e)
{
    struct graph_part part = {0};
    bool began;
    if (gone)
        *gone = (struct graph_part){0};
    return store_enter(g->store, &began, e) &&
           leave(g, began, delete_observations(g, p, &part, e), &part, gone, e);
}

bool graph_delete_relations(const struct graph *g, const struct graph_relate *p,
                            struct graph_part *gone, struct error *e)
{
    struct graph_part part = {0};
    bool began;
    if (gone)
        *gone = (struct graph_part){0};
    return store_enter(g->store, &began, e) &&
           leave(g, began, delete_relations(g, p, &part, e), &part, gone, e);
}

/* ---- restore ---- */

static bool restore_entity(const struct graph *g, const struct graph_entity *n, struct error *e)
{
    int64_t key;
    bool is_new;
    struct graph_load load;
    bool ok = graph_put_entity(g, n->name, n->type, &n->source, &key, &is_new, e) &&
              (is_new || graph_unindex(g->store, key, e)) && graph_load_of(g->store, key, &load, e);
    for (size_t i = 0; i < n->observations.len && ok; i++) {
        const struct graph_observation *o = &n->observations.items[i];
        ok = graph_put_observation(g, key, o->content, &o->source, &load, n->name, &is_new, e);
    }
    return ok && graph_index(g, key, e);
}

static bool restore_relation(const struct graph *g, const struct graph_relation *r, struct error *e)
{
    int64_t from, to;
    bool is_new;
    return graph_need(g->store, r->from, "from", &from, e) &&
           graph_need(g->store, r->to, "to", &to, e) &&
           graph_put_relation(g, from, to, r->type, &r->source, &is_new, e);
}

static bool restore_all(const struct graph *g, const struct graph_part *gone, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; i < gone->entities.len && ok; i++)
        ok = restore_entity(g, &gone->entities.items[i], e);
    for (size_t i = 0; i < gone->relations.len && ok; i++)
        ok = restore_relation(g, &gone->relations.items[i], e);
    return ok;
}

bool graph_restore(const struct graph *g, const struct graph_part *gone, struct error *e)
{
    bool began;
    return store_enter(g->store, &began, e) &&
           store_leave(g->store, began, restore_all(g, gone, e), e);
}

struct graph_counts graph_part_counts(const struct graph_part *gone)
{
    struct graph_counts counts = {.relations = (int64_t)gone->relations.len};
    for (size_t i = 0; i < gone->entities.len; i++)
        counts.observations += (int64_t)gone->entities.items[i].observations.len;
    counts.entities = (int64_t)gone->entities.len;
    return counts;
}
