#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/corpus.h"
#include "knowledge/graph_private.h"

static const char list_sql[] = "SELECT key FROM graph_entry WHERE name > ?1 ORDER BY name LIMIT ?2";
static const char counts_sql[] =
    "SELECT entities, observations, relations,"
    " (SELECT count(*) FROM graph_observation"
    "  WHERE session IS NOT NULL AND session NOT IN (SELECT id FROM session)),"
    " (SELECT ifnull(sum(length(CAST(content AS BLOB)) + 50), 0) FROM graph_observation)"
    " + (SELECT ifnull(sum(length(CAST(name || type AS BLOB)) + 50), 0) FROM graph_entry)"
    " + (SELECT ifnull(sum(length(CAST(type AS BLOB)) + 50), 0) FROM graph_relation)"
    " + (SELECT ifnull(sum(length(block)), 0) FROM graph_words_data WHERE id > 10)"
    " FROM graph_size";

static bool list_keys(struct store *s, const char *after, int limit, struct graph_keys *out,
                      struct error *e)
{
    struct query q = query_for(s, list_sql, after ? after : "", e);
    query_int(&q, limit);
    while (query_next(&q))
        vec_push(&out->items, sqlite3_column_int64(q.handle, 0));
    return query_end(&q);
}

static bool list(struct store *s, const char *after, int limit, struct graph_part *out,
                 struct error *e)
{
    struct graph_keys keys = {0};
    bool ok = list_keys(s, after, limit, &keys, e) && graph_read_entities(s, &keys, false, out, e);
    vec_release(&keys.items);
    return ok;
}

/* Ends a transaction that only read. */
static bool leave(const struct graph *g, bool began, bool ok, struct graph_part *out,
                  struct error *e)
{
    ok = store_step_end(g->store, began, ok, e);
    if (!ok)
        graph_part_release(out);
    return ok;
}

bool graph_list(const struct graph *g, const char *after, int limit, struct graph_part *out,
                struct error *e)
{
    bool began;
    *out = (struct graph_part){0};
    return store_step_begin(g->store, &began, e) &&
           leave(g, began, list(g->store, after, limit, out, e), out, e);
}

/* Of names that are written as they are kept. */
static bool find_names(struct store *s, const struct graph_names *p, struct graph_keys *keys,
                       struct graph_part *out, struct error *e)
{
    for (size_t i = 0; i < p->names.len; i++) {
        char *name = graph_plain(p->names.items[i]);
        int64_t key = -1;
        bool ok = !name || graph_key(s, name, &key, e);
        free(name);
        if (!ok)
            return false;
        if (key < 0)
            vec_push(&out->unknown, mem_strdup(p->names.items[i]));
        else if (!graph_keys_have(keys, key))
            vec_push(&keys->items, key);
    }
    return true;
}

static bool open_names(struct store *s, const struct graph_names *p, struct graph_part *out,
                       struct error *e)
{
    struct graph_keys keys = {0};
    bool ok =
        find_names(s, p, &keys, out, e) && graph_read_part(s, &keys, GRAPH_PART_RELATIONS, out, e);
    vec_release(&keys.items);
    return ok;
}

bool graph_open(const struct graph *g, const struct graph_names *p, struct graph_part *out,
                struct error *e)
{
    bool began;
    *out = (struct graph_part){0};
    return store_step_begin(g->store, &began, e) &&
           leave(g, began, open_names(g->store, p, out, e), out, e);
}

bool graph_stats(const struct graph *g, struct graph_stats *out, struct error *e)
{
    *out = (struct graph_stats){0};
    struct query q = query_begin(g->store, counts_sql, e);
    if (query_next(&q))
        *out = (struct graph_stats){.entities = sqlite3_column_int64(q.handle, 0),
                                    .observations = sqlite3_column_int64(q.handle, 1),
                                    .relations = sqlite3_column_int64(q.handle, 2),
                                    .orphans = sqlite3_column_int64(q.handle, 3),
                                    .bytes = sqlite3_column_int64(q.handle, 4)};
    return query_end(&q);
}
