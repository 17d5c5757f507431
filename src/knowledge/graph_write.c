#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "knowledge/graph_private.h"
#include "memory/content.h"

static const char add_entity_sql[] =
    "INSERT INTO graph_entry (key, name, type, session, seq, created_ms)"
    " VALUES (((SELECT ifnull(max(key), 0) FROM graph_entry) >> 24) + 1 << 24, ?1, ?2, ?3, ?4, ?5)";
static const char add_observation_sql[] =
    "INSERT INTO graph_observation (entity, digest, content, session, seq, created_ms)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
static const char alike_sql[] =
    "SELECT number, content FROM graph_observation WHERE entity = ?1 AND digest = ?2"
    " ORDER BY number";
static const char load_sql[] =
    "SELECT count(*), ifnull(sum(length(CAST(content AS BLOB))), 0) FROM graph_observation"
    " WHERE entity = ?";
static const char add_relation_sql[] =
    "INSERT OR IGNORE INTO graph_relation (source, target, type, session, seq, created_ms)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

static struct graph_source source_now(const struct graph_by *by)
{
    return (struct graph_source){(char *)by->session_id, by->seq, clock_wall_ms(), false};
}

static void bind_source(struct query *q, const struct graph_source *source)
{
    query_text(q, source->session_id);
    query_int(q, source->seq);
    query_int(q, source->created_ms);
}

struct graph_source graph_source_copy(const struct graph_source *s)
{
    return (struct graph_source){mem_strdup(s->session_id), s->seq, s->created_ms, s->deleted};
}

/* ---- rows ---- */

/* Asked after an addition, which is taken back where there are too many. */
static bool has_room(struct store *s, const char *sql, int64_t most, const char *what,
                     struct error *e)
{
    int64_t count = 0;
    return store_number(s, sql, &count, e) &&
           (count <= most || err_set(e, ERR_USAGE,
                                     "the graph is full: it can have %lld %s; delete some that are "
                                     "not needed any more",
                                     (long long)most, what));
}

bool graph_put_entity(const struct graph *g, const char *name, const char *type,
                      const struct graph_source *source, int64_t *key, bool *is_new,
                      struct error *e)
{
    if (!graph_key(g->store, name, key, e))
        return false;
    *is_new = *key < 0;
    if (!*is_new)
        return true;
    struct query q = query_begin(g->store, add_entity_sql, e);
    query_text(&q, name);
    query_text(&q, type);
    bind_source(&q, source);
    return query_run(&q) &&
           has_room(g->store, "SELECT entities FROM graph_size", GRAPH_ENTITIES, "entities", e) &&
           graph_key(g->store, name, key, e);
}

bool graph_find_observation(struct store *s, int64_t key, const char *text, int64_t *number,
                            struct error *e)
{
    *number = -1;
    struct query q = query_begin(s, alike_sql, e);
    query_int(&q, key);
    query_int(&q, content_digest(text));
    while (*number < 0 && query_next(&q))
        if (content_equal((const char *)sqlite3_column_text(q.handle, 1), text))
            *number = sqlite3_column_int64(q.handle, 0);
    return query_end(&q);
}

bool graph_load_of(struct store *s, int64_t key, struct graph_load *out, struct error *e)
{
    *out = (struct graph_load){0};
    struct query q = query_begin(s, load_sql, e);
    query_int(&q, key);
    if (query_next(&q))
        *out = (struct graph_load){sqlite3_column_int64(q.handle, 0),
                                   sqlite3_column_int64(q.handle, 1)};
    return query_end(&q);
}

bool graph_load_add(struct graph_load *load, const char *text, const char *path, struct error *e)
{
    load->observations++;
    load->bytes += (int64_t)strlen(text);
    if (load->observations > GRAPH_OBSERVATIONS)
        return err_set(e, ERR_USAGE,
                       "\"%s\": an entity can have %d observations; delete some, or divide it into "
                       "several entities",
                       path, GRAPH_OBSERVATIONS);
    return load->bytes <= GRAPH_ENTITY_BYTES ||
           err_set(
               e, ERR_USAGE,
               "\"%s\": the observations of an entity can have %d bytes; delete some, or divide "
               "it into several entities",
               path, GRAPH_ENTITY_BYTES);
}

bool graph_put_observation(const struct graph *g, int64_t key, const char *text,
                           const struct graph_source *source, struct graph_load *load,
                           const char *path, bool *is_new, struct error *e)
{
    int64_t number;
    if (!graph_find_observation(g->store, key, text, &number, e))
        return false;
    *is_new = number < 0;
    if (!*is_new)
        return true;
    if (!graph_load_add(load, text, path, e))
        return false;
    struct query q = query_begin(g->store, add_observation_sql, e);
    query_int(&q, key);
    query_int(&q, content_digest(text));
    query_text(&q, text);
    bind_source(&q, source);
    return query_run(&q) && has_room(g->store, "SELECT observations FROM graph_size",
                                     GRAPH_OBSERVATIONS_IN_ALL, "observations", e);
}

bool graph_put_relation(const struct graph *g, int64_t from, int64_t to, const char *type,
                        const struct graph_source *source, bool *is_new, struct error *e)
{
    struct query q = query_begin(g->store, add_relation_sql, e);
    query_int(&q, from);
    query_int(&q, to);
    query_text(&q, type);
    bind_source(&q, source);
    bool ok = query_run(&q);
    *is_new = ok && sqlite3_changes(g->store->db) > 0;
    return ok && (!*is_new || has_room(g->store, "SELECT relations FROM graph_size",
                                       GRAPH_RELATIONS, "relations", e));
}

/* ---- create ---- */

/* Of an entity that is not indexed at this moment. */
static bool observe_all(const struct graph *g, int64_t key, const char *const *texts, size_t count,
                        const struct graph_source *source, const char *list, size_t at,
                        const char *member, struct graph_added_to *out, struct error *e)
{
    struct graph_load load;
    bool ok = graph_load_of(g->store, key, &load, e);
    for (size_t i = 0; i < count && ok; i++) {
        const struct graph_path path = graph_path_in(list, at, member, i);
        bool is_new = false;
        char *text = graph_clean_text(texts[i], path.text, e);
        ok = text && graph_put_observation(g, key, text, source, &load, path.text, &is_new, e);
        if (ok && is_new && out)
            vec_push(&out->added, mem_strdup(text));
        free(text);
    }
    return ok;
}

static bool create_clean(const struct graph *g, const struct graph_new_entity *n, size_t at,
                         const char *name, const char *type, const struct graph_source *source,
                         struct graph_part *created, struct error *e)
{
    int64_t key;
    bool is_new;
    struct graph_entity entity;
    if (!graph_put_entity(g, name, type, source, &key, &is_new, e))
        return false;
    if (!is_new)
        return true;
    if (!observe_all(g, key, n->observations.items, n->observations.len, source, "entities", at,
                     "observations", NULL, e) ||
        !graph_index(g, key, e) || !graph_read_entity(g->store, key, true, &entity, e))
        return false;
    vec_push(&created->entities, entity);
    return true;
}

static bool create_one(const struct graph *g, const struct graph_new_entity *n, size_t at,
                       const struct graph_source *source, struct graph_part *created,
                       struct error *e)
{
    const struct graph_path name_path = graph_path_of("entities", at, "name");
    const struct graph_path type_path = graph_path_of("entities", at, "entity_type");
    char *name = graph_clean_line(n->name, GRAPH_NAME_BYTES, name_path.text, e);
    char *type = name ? graph_clean_line(n->type, GRAPH_TYPE_BYTES, type_path.text, e) : NULL;
    bool ok = type && create_clean(g, n, at, name, type, source, created, e);
    free(name);
    free(type);
    return ok;
}

static bool count_entities(const struct graph *g, struct graph_part *out, struct error *e)
{
    return store_number(g->store, "SELECT entities FROM graph_size", &out->total, e);
}

static bool create_all(const struct graph *g, const struct graph_create *p,
                       const struct graph_by *by, struct graph_part *created, struct error *e)
{
    const struct graph_source source = source_now(by);
    bool ok = true;
    for (size_t i = 0; i < p->entities.len && ok; i++)
        ok = create_one(g, &p->entities.items[i], i, &source, created, e);
    return ok && count_entities(g, created, e);
}

bool graph_create(const struct graph *g, const struct graph_create *p, const struct graph_by *by,
                  struct graph_part *created, struct error *e)
{
    bool began;
    *created = (struct graph_part){0};
    bool ok = store_enter(g->store, &began, e) &&
              store_leave(g->store, began, create_all(g, p, by, created, e), e);
    if (!ok)
        graph_part_release(created);
    return ok;
}

/* ---- observe ---- */

static bool observe_one(const struct graph *g, const struct graph_new_observations *n, size_t at,
                        const struct graph_source *source, struct graph_added_to *out,
                        struct error *e)
{
    const struct graph_path path = graph_path_of("observations", at, "entity_name");
    struct graph_entity entity = {0};
    int64_t key;
    bool ok = graph_need(g->store, n->entity, path.text, &key, e) &&
              graph_read_entity(g->store, key, false, &entity, e) &&
              graph_unindex(g->store, key, e) &&
              observe_all(g, key, n->contents.items, n->contents.len, source, "observations", at,
                          "contents", out, e) &&
              graph_index(g, key, e);
    out->entity = mem_strdup(entity.name);
    shape_release(&graph_entity_shape, &entity);
    return ok;
}

static bool observe_each(const struct graph *g, const struct graph_observe *p,
                         const struct graph_by *by, struct graph_added *out, struct error *e)
{
    const struct graph_source source = source_now(by);
    bool ok = true;
    for (size_t i = 0; i < p->observations.len && ok; i++) {
        vec_push(&out->items, (struct graph_added_to){0});
        ok = observe_one(g, &p->observations.items[i], i, &source, &vec_last(&out->items), e);
    }
    return ok;
}

bool graph_observe(const struct graph *g, const struct graph_observe *p, const struct graph_by *by,
                   struct graph_added *out, struct error *e)
{
    bool began;
    *out = (struct graph_added){0};
    bool ok = store_enter(g->store, &began, e) &&
              store_leave(g->store, began, observe_each(g, p, by, out, e), e);
    if (!ok)
        shape_release(&graph_added_shape, out);
    return ok;
}

/* ---- relate ---- */

bool graph_find_ends(const struct graph *g, const struct graph_new_relation *n, size_t at,
                     struct graph_ends *out, struct error *e)
{
    const struct graph_path from = graph_path_of("relations", at, "from"),
                            to = graph_path_of("relations", at, "to"),
                            type = graph_path_of("relations", at, "relation_type");
    *out = (struct graph_ends){0};
    return graph_need(g->store, n->from, from.text, &out->from, e) &&
           graph_need(g->store, n->to, to.text, &out->to, e) &&
           (out->type = graph_clean_line(n->type, GRAPH_TYPE_BYTES, type.text, e));
}

bool graph_add_relation(const struct graph *g, const struct graph_ends *ends,
                        const struct graph_source *source, struct graph_part *out, struct error *e)
{
    struct graph_entity a = {0}, b = {0};
    bool ok = graph_read_entity(g->store, ends->from, false, &a, e) &&
              graph_read_entity(g->store, ends->to, false, &b, e);
    if (ok)
        vec_push(&out->relations,
                 (struct graph_relation){mem_strdup(a.name), mem_strdup(b.name),
                                         mem_strdup(ends->type), graph_source_copy(source)});
    shape_release(&graph_entity_shape, &a);
    shape_release(&graph_entity_shape, &b);
    return ok;
}

static bool relate_one(const struct graph *g, const struct graph_new_relation *n, size_t at,
                       const struct graph_source *source, struct graph_part *created,
                       struct error *e)
{
    struct graph_ends ends;
    bool is_new = false;
    bool ok = graph_find_ends(g, n, at, &ends, e) &&
              graph_put_relation(g, ends.from, ends.to, ends.type, source, &is_new, e) &&
              (!is_new || graph_add_relation(g, &ends, source, created, e));
    free(ends.type);
    return ok;
}

static bool relate_all(const struct graph *g, const struct graph_relate *p,
                       const struct graph_by *by, struct graph_part *created, struct error *e)
{
    const struct graph_source source = source_now(by);
    bool ok = true;
    for (size_t i = 0; i < p->relations.len && ok; i++)
        ok = relate_one(g, &p->relations.items[i], i, &source, created, e);
    return ok && count_entities(g, created, e);
}

bool graph_relate(const struct graph *g, const struct graph_relate *p, const struct graph_by *by,
                  struct graph_part *created, struct error *e)
{
    bool began;
    *created = (struct graph_part){0};
    bool ok = store_enter(g->store, &began, e) &&
              store_leave(g->store, began, relate_all(g, p, by, created, e), e);
    if (!ok)
        graph_part_release(created);
    return ok;
}
