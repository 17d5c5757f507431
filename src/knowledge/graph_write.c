/* Facts are made, deleted and restored. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "knowledge/graph_private.h"
#include "memory/content.h"

/* --- rows ------------------------------------------------------------------------------------- */

static struct graph_source source_now(const struct graph_by *by)
{
    return (struct graph_source){(char *)by->session_id, by->seq, clock_wall_ms(), false};
}

/* Called after an addition, which is rolled back where there are too many. */
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
    return !*is_new ||
           (sql_exec(g->store, e,
                     "INSERT INTO graph_entry (key, name, type, session, seq, created_ms) VALUES"
                     " (((SELECT ifnull(max(key), 0) FROM graph_entry) >> 24) + 1 << 24,"
                     " ?1, ?2, ?3, ?4, ?5)",
                     "tttii", name, type, source->session_id, source->seq, source->created_ms) &&
            has_room(g->store, "SELECT entities FROM graph_size", GRAPH_ENTITIES, "entities", e) &&
            graph_key(g->store, name, key, e));
}

/* *number: of the observation with that text, -1: there is none. */
static bool find_observation(struct store *s, int64_t key, const char *text, int64_t *number,
                             struct error *e)
{
    *number = -1;
    struct query q = sql_query(s, e,
                               "SELECT number, content FROM graph_observation WHERE entity = ?1"
                               " AND digest = ?2 ORDER BY number",
                               "ii", key, content_digest(text));
    while (*number < 0 && query_next(&q))
        if (content_equal((const char *)sqlite3_column_text(q.handle, 1), text))
            *number = sqlite3_column_int64(q.handle, 0);
    return query_end(&q);
}

bool graph_load_of(struct store *s, int64_t key, struct graph_load *out, struct error *e)
{
    *out = (struct graph_load){0};
    struct query q = sql_query(s, e,
                               "SELECT count(*), ifnull(sum(length(CAST(content AS BLOB))), 0)"
                               " FROM graph_observation WHERE entity = ?",
                               "i", key);
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
    if (!find_observation(g->store, key, text, &number, e))
        return false;
    *is_new = number < 0;
    return !*is_new ||
           (graph_load_add(load, text, path, e) &&
            sql_exec(g->store, e,
                     "INSERT INTO graph_observation (entity, digest, content, session, seq,"
                     " created_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                     "iittii", key, content_digest(text), text, source->session_id, source->seq,
                     source->created_ms) &&
            has_room(g->store, "SELECT observations FROM graph_size", GRAPH_OBSERVATIONS_IN_ALL,
                     "observations", e));
}

bool graph_put_relation(const struct graph *g, int64_t from, int64_t to, const char *type,
                        const struct graph_source *source, bool *is_new, struct error *e)
{
    bool ok =
        sql_exec(g->store, e,
                 "INSERT OR IGNORE INTO graph_relation (source, target, type, session, seq,"
                 " created_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                 "iittii", from, to, type, source->session_id, source->seq, source->created_ms);
    *is_new = ok && sqlite3_changes(g->store->db) > 0;
    return ok && (!*is_new || has_room(g->store, "SELECT relations FROM graph_size",
                                       GRAPH_RELATIONS, "relations", e));
}

/* --- creating --------------------------------------------------------------------------------- */

/* Observations of the element `list`[at], whose entity is not indexed at this moment. `out` (may be
 * NULL) gets the new ones. */
static bool observe_all(const struct graph *g, int64_t key, const char *const *texts, size_t count,
                        const struct graph_source *source, const char *list, size_t at,
                        const char *member, struct graph_added_to *out, struct error *e)
{
    struct graph_load load;
    if (!graph_load_of(g->store, key, &load, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct graph_path path = graph_path_in(list, at, member, i);
        bool is_new = false;
        auto_free char *text = graph_clean_text(texts[i], path.text, e);
        if (!text || !graph_put_observation(g, key, text, source, &load, path.text, &is_new, e))
            return false;
        if (is_new && out)
            vec_push(&out->added, mem_strdup(text));
    }
    return true;
}

static bool count_entities(const struct graph *g, struct graph_part *out, struct error *e)
{
    return store_number(g->store, "SELECT entities FROM graph_size", &out->total, e);
}

/* Ends the transaction. `out` is released if it failed. */
static bool leave(const struct graph *g, bool began, bool ok, struct graph_part *out,
                  struct error *e)
{
    ok = store_leave(g->store, began, ok, e);
    if (!ok)
        graph_part_release(out);
    return ok;
}

static bool create_one(const struct graph *g, const struct graph_new_entity *n, size_t at,
                       const struct graph_source *source, struct graph_part *created,
                       struct error *e)
{
    const struct graph_path name_path = graph_path_of("entities", at, "name");
    const struct graph_path type_path = graph_path_of("entities", at, "entity_type");
    auto_free char *name = graph_clean_line(n->name, GRAPH_NAME_BYTES, name_path.text, e);
    auto_free char *type =
        name ? graph_clean_line(n->type, GRAPH_TYPE_BYTES, type_path.text, e) : NULL;
    struct graph_entity entity;
    int64_t key;
    bool is_new;
    if (!type || !graph_put_entity(g, name, type, source, &key, &is_new, e))
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

bool graph_create(const struct graph *g, const struct graph_create *p, const struct graph_by *by,
                  struct graph_part *created, struct error *e)
{
    const struct graph_source source = source_now(by);
    bool began, ok = store_enter(g->store, &began, e);
    *created = (struct graph_part){0};
    if (!ok)
        return false;
    for (size_t i = 0; i < p->entities.len && ok; i++)
        ok = create_one(g, &p->entities.items[i], i, &source, created, e);
    ok = ok && count_entities(g, created, e);
    return leave(g, began, ok, created, e);
}

bool graph_observe(const struct graph *g, const struct graph_observe *p, const struct graph_by *by,
                   struct graph_added *out, struct error *e)
{
    const struct graph_source source = source_now(by);
    bool began, ok = store_enter(g->store, &began, e);
    *out = (struct graph_added){0};
    if (!ok)
        return false;
    for (size_t i = 0; i < p->observations.len && ok; i++) {
        const struct graph_new_observations *n = &p->observations.items[i];
        const struct graph_path path = graph_path_of("observations", i, "entity_name");
        struct graph_entity entity;
        int64_t key;
        vec_push(&out->items, (struct graph_added_to){0});
        struct graph_added_to *added = &vec_last(&out->items);
        ok = graph_need(g->store, n->entity, path.text, &key, e) &&
             graph_read_entity(g->store, key, false, &entity, e);
        if (!ok)
            break;
        added->entity = mem_strdup(entity.name);
        shape_release(&graph_entity_shape, &entity);
        ok = graph_unindex(g->store, key, e) &&
             observe_all(g, key, n->contents.items, n->contents.len, &source, "observations", i,
                         "contents", added, e) &&
             graph_index(g, key, e);
    }
    ok = store_leave(g->store, began, ok, e);
    if (!ok)
        shape_release(&graph_added_shape, out);
    return ok;
}

/* The ends and the type of a relation that is named. */
struct ends {
    int64_t from, to;
    char *type; /* owned */
};

static void ends_release(struct ends *ends)
{
    free(ends->type);
}

static bool find_ends(const struct graph *g, const struct graph_new_relation *n, size_t at,
                      struct ends *out, struct error *e)
{
    const struct graph_path from = graph_path_of("relations", at, "from"),
                            to = graph_path_of("relations", at, "to"),
                            type = graph_path_of("relations", at, "relation_type");
    return graph_need(g->store, n->from, from.text, &out->from, e) &&
           graph_need(g->store, n->to, to.text, &out->to, e) &&
           (out->type = graph_clean_line(n->type, GRAPH_TYPE_BYTES, type.text, e));
}

/* Adds the relation to a part, with the names as they are kept. */
static bool add_relation(const struct graph *g, const struct ends *ends,
                         const struct graph_source *source, struct graph_part *out, struct error *e)
{
    struct graph_entity a = {0}, b = {0};
    bool ok = graph_read_entity(g->store, ends->from, false, &a, e) &&
              graph_read_entity(g->store, ends->to, false, &b, e);
    if (ok)
        vec_push(&out->relations,
                 (struct graph_relation){mem_strdup(a.name),
                                         mem_strdup(b.name),
                                         mem_strdup(ends->type),
                                         {mem_strdup(source->session_id), source->seq,
                                          source->created_ms, source->deleted}});
    shape_release(&graph_entity_shape, &a);
    shape_release(&graph_entity_shape, &b);
    return ok;
}

/* Makes an end of a relation that is missing. */
static bool make_end(const struct graph *g, const char *name, const struct graph_source *source,
                     size_t at, const char *member, struct error *e)
{
    const struct graph_path path = graph_path_of("relations", at, member);
    auto_free char *clean = graph_clean_line(name, GRAPH_NAME_BYTES, path.text, e);
    int64_t key;
    bool is_new;
    return clean && graph_put_entity(g, clean, GRAPH_TYPE_UNKNOWN, source, &key, &is_new, e) &&
           (!is_new || graph_index(g, key, e));
}

bool graph_relate(const struct graph *g, const struct graph_relate *p, const struct graph_by *by,
                  struct graph_part *created, struct error *e)
{
    const struct graph_source source = source_now(by);
    bool began, ok = store_enter(g->store, &began, e);
    *created = (struct graph_part){0};
    if (!ok)
        return false;
    for (size_t i = 0; i < p->relations.len && ok; i++) {
        AUTO(ends_release) struct ends ends = {0};
        const struct graph_new_relation *n = &p->relations.items[i];
        bool is_new = false;
        ok = (!p->lenient || (make_end(g, n->from, &source, i, "from", e) &&
                              make_end(g, n->to, &source, i, "to", e))) &&
             find_ends(g, n, i, &ends, e) &&
             graph_put_relation(g, ends.from, ends.to, ends.type, &source, &is_new, e) &&
             (!is_new || add_relation(g, &ends, &source, created, e));
    }
    ok = ok && count_entities(g, created, e);
    return leave(g, began, ok, created, e);
}

/* --- deleting --------------------------------------------------------------------------------- */

static bool purge_later(const struct graph *g, struct error *e)
{
    const struct corpus c = graph_corpus(g->store);
    return words_purge(&c, true, e);
}

/* Whether a lenient deletion passes over what failed: nothing has this name. */
static bool is_missing(bool lenient, const struct error *e)
{
    return lenient && (e->code == ERR_MEMORY_NOT_FOUND || e->code == ERR_USAGE);
}

static bool delete_entities(const struct graph *g, const struct graph_names *p,
                            struct graph_part *gone, struct error *e)
{
    AUTO(vec_release_local) struct graph_keys keys = {0};
    for (size_t i = 0; i < p->names.len; i++) {
        const struct graph_path path = graph_path_of("entity_names", i, NULL);
        int64_t key;
        bool there = graph_need(g->store, p->names.items[i], path.text, &key, e);
        if (!there && !is_missing(p->lenient, e))
            return false;
        if (there && !graph_keys_have(&keys, key))
            vec_push(&keys.items, key);
    }
    if (!graph_read_part(g->store, &keys, SIZE_MAX, gone, e))
        return false;
    for (size_t i = 0; i < keys.items.len; i++)
        if (!graph_unindex(g->store, keys.items.items[i], e) ||
            !sql_exec(g->store, e, "DELETE FROM graph_entry WHERE key = ?", "i",
                      keys.items.items[i]))
            return false;
    return purge_later(g, e);
}

/* The text is compared without secrets and without blanks at its ends. The last entity of `gone`
 * has the observation. */
static bool delete_observation(const struct graph *g, int64_t key, const char *text,
                               const char *path, struct graph_part *gone, struct error *e)
{
    static const char read_sql[] = "SELECT content, " GRAPH_SOURCE(
        "graph_observation") " FROM graph_observation WHERE number = ?";
    struct graph_entity *entity = &vec_last(&gone->entities);
    auto_free char *clean = graph_clean_text(text, path, e);
    int64_t number;
    if (!clean || !find_observation(g->store, key, clean, &number, e))
        return false;
    bool gone_already = false; /* it was named before in the same call */
    for (size_t i = 0; number < 0 && i < gone->entities.len; i++) {
        const struct graph_entity *n = &gone->entities.items[i];
        for (size_t k = 0; k < n->observations.len && strcmp(n->name, entity->name) == 0; k++)
            gone_already = gone_already || content_equal(n->observations.items[k].content, clean);
    }
    if (number < 0)
        return gone_already ||
               err_set(e, ERR_MEMORY_NOT_FOUND,
                       "\"%s\": \"%.60s\" is no observation of \"%.60s\"; open the entity to see "
                       "them",
                       path, clean, entity->name);
    struct query q = sql_query(g->store, e, read_sql, "i", number);
    if (query_next(&q))
        vec_push(&entity->observations,
                 (struct graph_observation){query_column_text(&q, 0), graph_source_read(&q, 1)});
    return query_end(&q) &&
           sql_exec(g->store, e, "DELETE FROM graph_observation WHERE number = ?", "i", number);
}

static bool delete_observations(const struct graph *g, const struct graph_unobserve *p,
                                struct graph_part *gone, struct error *e)
{
    for (size_t at = 0; at < p->deletions.len; at++) {
        const struct graph_new_observations *n = &p->deletions.items[at];
        const struct graph_path path = graph_path_of("deletions", at, "entity_name");
        struct graph_entity entity;
        int64_t key;
        if (!graph_need(g->store, n->entity, path.text, &key, e)) {
            if (is_missing(p->lenient, e))
                continue;
            return false;
        }
        if (!graph_read_entity(g->store, key, false, &entity, e))
            return false;
        vec_push(&gone->entities, entity);
        bool ok = graph_unindex(g->store, key, e);
        for (size_t i = 0; i < n->contents.len && ok; i++) {
            const struct graph_path member = graph_path_in("deletions", at, "observations", i);
            ok = delete_observation(g, key, n->contents.items[i], member.text, gone, e) ||
                 is_missing(p->lenient, e);
        }
        if (!ok || !graph_index(g, key, e))
            return false;
    }
    return purge_later(g, e);
}

static bool delete_relation(const struct graph *g, const struct graph_new_relation *n, size_t at,
                            struct graph_part *gone, struct error *e)
{
    static const char read_sql[] = "SELECT number, " GRAPH_SOURCE(
        "graph_relation") " FROM graph_relation WHERE source = ?1 AND target = ?2 AND type = ?3";
    AUTO(ends_release) struct ends ends = {0};
    struct graph_source source = {0};
    int64_t number = -1;
    if (!find_ends(g, n, at, &ends, e))
        return false;
    struct query q = sql_query(g->store, e, read_sql, "iit", ends.from, ends.to, ends.type);
    if (query_next(&q)) {
        number = sqlite3_column_int64(q.handle, 0);
        source = graph_source_read(&q, 1);
    }
    auto_free char *session_id = source.session_id;
    if (!query_end(&q))
        return false;
    bool gone_already = false; /* it was named before in the same call */
    for (size_t i = 0; number < 0 && i < gone->relations.len; i++) {
        const struct graph_relation *r = &gone->relations.items[i];
        gone_already =
            gone_already || (content_equal(r->from, n->from) && content_equal(r->to, n->to) &&
                             content_equal(r->type, n->type));
    }
    if (number < 0)
        return gone_already ||
               err_set(e, ERR_MEMORY_NOT_FOUND,
                       "\"relations[%zu]\": there is no relation \"%.60s\" from \"%.60s\" to "
                       "\"%.60s\"",
                       at, ends.type, n->from, n->to);
    return add_relation(g, &ends, &source, gone, e) &&
           sql_exec(g->store, e, "DELETE FROM graph_relation WHERE number = ?", "i", number);
}

/* Each may be NULL; so may `gone`. */
static bool delete_facts(const struct graph *g, const struct graph_names *entities,
                         const struct graph_unobserve *observations,
                         const struct graph_relate *relations, struct graph_part *gone,
                         struct error *e)
{
    struct graph_part part = {0};
    bool began, ok = store_enter(g->store, &began, e);
    if (gone)
        *gone = part;
    if (!ok)
        return false;
    ok = (!entities || delete_entities(g, entities, &part, e)) &&
         (!observations || delete_observations(g, observations, &part, e));
    for (size_t i = 0; relations && i < relations->relations.len && ok; i++)
        ok = delete_relation(g, &relations->relations.items[i], i, &part, e) ||
             is_missing(relations->lenient, e);
    ok = leave(g, began, ok, &part, e);
    if (ok && gone)
        *gone = part;
    else if (ok)
        graph_part_release(&part);
    return ok;
}

bool graph_delete_entities(const struct graph *g, const struct graph_names *p,
                           struct graph_part *gone, struct error *e)
{
    return delete_facts(g, p, NULL, NULL, gone, e);
}

bool graph_delete_observations(const struct graph *g, const struct graph_unobserve *p,
                               struct graph_part *gone, struct error *e)
{
    return delete_facts(g, NULL, p, NULL, gone, e);
}

bool graph_delete_relations(const struct graph *g, const struct graph_relate *p,
                            struct graph_part *gone, struct error *e)
{
    return delete_facts(g, NULL, NULL, p, gone, e);
}

struct graph_counts graph_part_counts(const struct graph_part *gone)
{
    struct graph_counts counts = {.entities = (int64_t)gone->entities.len,
                                  .relations = (int64_t)gone->relations.len};
    for (size_t i = 0; i < gone->entities.len; i++)
        counts.observations += (int64_t)gone->entities.items[i].observations.len;
    return counts;
}

/* --- restoring -------------------------------------------------------------------------------- */

bool graph_restore(const struct graph *g, const struct graph_part *gone, struct error *e)
{
    bool began, ok = store_enter(g->store, &began, e);
    if (!ok)
        return false;
    for (size_t i = 0; i < gone->entities.len && ok; i++) {
        const struct graph_entity *n = &gone->entities.items[i];
        int64_t key;
        bool is_new;
        struct graph_load load;
        ok = graph_put_entity(g, n->name, n->type, &n->source, &key, &is_new, e) &&
             (is_new || graph_unindex(g->store, key, e)) && graph_load_of(g->store, key, &load, e);
        for (size_t k = 0; k < n->observations.len && ok; k++) {
            const struct graph_observation *o = &n->observations.items[k];
            ok = graph_put_observation(g, key, o->content, &o->source, &load, n->name, &is_new, e);
        }
        ok = ok && graph_index(g, key, e);
    }
    for (size_t i = 0; i < gone->relations.len && ok; i++) {
        const struct graph_relation *r = &gone->relations.items[i];
        int64_t from, to;
        bool is_new;
        ok = graph_need(g->store, r->from, "from", &from, e) &&
             graph_need(g->store, r->to, "to", &to, e) &&
             graph_put_relation(g, from, to, r->type, &r->source, &is_new, e);
    }
    return store_leave(g->store, began, ok, e);
}
