#include "knowledge/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "index/words.h"
#include "knowledge/graph_private.h"
#include "memory/content.h"
#include "store/health.h"
#include "store/salvage.h"

/* --- names and texts -------------------------------------------------------------------------- */

struct graph_path graph_path_of(const char *list, size_t at, const char *member)
{
    struct graph_path p;
    snprintf(p.text, sizeof p.text, "%s[%zu]%s%s", list, at, member ? "." : "",
             member ? member : "");
    return p;
}

struct graph_path graph_path_in(const char *list, size_t at, const char *member, size_t within)
{
    struct graph_path p;
    snprintf(p.text, sizeof p.text, "%s[%zu].%s[%zu]", list, at, member, within);
    return p;
}

bool graph_key(struct store *s, const char *name, int64_t *key, struct error *e)
{
    *key = -1;
    return sql_number(s, key, e, "SELECT key FROM graph_entry WHERE name = ?", "t", name);
}

bool graph_need(struct store *s, const char *name, const char *path, int64_t *key, struct error *e)
{
    auto_free char *clean = graph_clean_line(name, GRAPH_NAME_BYTES, path, e);
    return clean && graph_key(s, clean, key, e) &&
           (*key >= 0 || err_set(e, ERR_MEMORY_NOT_FOUND,
                                 "\"%s\": there is no entity \"%.80s\"; create it first, or "
                                 "search for its exact name",
                                 path, clean));
}

/* NULL: nothing is left. The caller frees. */
static char *plain(const char *text)
{
    auto_free char *kept = content_clean(text);
    return kept ? utf8_composed(kept) : NULL;
}

static char *clean_within(const char *text, size_t most, const char *path, struct error *e)
{
    bool valid = utf8_valid(text, strlen(text));
    char *kept = valid ? plain(text) : NULL;
    if (kept && strlen(kept) <= most)
        return kept;
    if (!valid)
        err_set(e, ERR_USAGE, "\"%s\" is no UTF-8; give it in that encoding", path);
    else if (kept)
        err_set(e, ERR_USAGE, "\"%s\" is too long; give at most %zu bytes", path, most);
    else
        err_set(e, ERR_USAGE, "\"%s\" is empty; give a text of at most %zu bytes", path, most);
    free(kept);
    return NULL;
}

/* Refuses line breaks, those of Unicode too, and control characters of C0 and C1. */
char *graph_clean_line(const char *text, size_t most, const char *path, struct error *e)
{
    char *kept = clean_within(text, most, path, e);
    size_t len = kept ? strlen(kept) : 0;
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        i += utf8_decode(kept + i, len - i, &cp);
        if (cp >= ' ' && (cp < 0x7f || cp >= 0xa0) && cp != 0x2028 && cp != 0x2029)
            continue;
        err_set(e, ERR_USAGE, "\"%s\" has a line break or a control character; give one line",
                path);
        free(kept);
        return NULL;
    }
    return kept;
}

char *graph_clean_text(const char *text, const char *path, struct error *e)
{
    return clean_within(text, GRAPH_OBSERVATION_BYTES, path, e);
}

/* --- the index of words ----------------------------------------------------------------------- */

static bool read_document(struct store *s, int64_t from, struct document *out, bool *found,
                          struct error *e)
{
    AUTO(buf_release) struct buf words = BUF_INIT;
    *out = (struct document){0};
    struct query q = sql_query(
        s, e, "SELECT key, name, type FROM graph_entry WHERE key >= ? ORDER BY key LIMIT 1", "i",
        from);
    *found = query_next(&q);
    if (*found) {
        out->key = sqlite3_column_int64(q.handle, 0);
        buf_addf(&words, "%s\n%s", (const char *)sqlite3_column_text(q.handle, 1),
                 (const char *)sqlite3_column_text(q.handle, 2));
    }
    if (!query_end(&q))
        return false;
    if (!*found)
        return true;
    struct query contents =
        sql_query(s, e, "SELECT content FROM graph_observation WHERE entity = ? ORDER BY number",
                  "i", out->key);
    while (query_next(&contents))
        buf_addf(&words, "\n%s", (const char *)sqlite3_column_text(contents.handle, 0));
    buf_addf(&words, "\n%c", words_mark(false, false));
    if (!query_end(&contents))
        return false;
    out->words = buf_take(&words);
    return true;
}

struct corpus graph_corpus(struct store *s)
{
    return (struct corpus){.store = s, .tables = "graph", .document = read_document};
}

static bool words_of(struct store *s, int64_t key, struct document *out, struct error *e)
{
    bool found;
    return read_document(s, key, out, &found, e) &&
           ((found && out->key == key) || store_fault(s, SQLITE_CORRUPT, e));
}

bool graph_unindex(struct store *s, int64_t key, struct error *e)
{
    const struct corpus c = graph_corpus(s);
    AUTO(document_release) struct document d = {0};
    return words_of(s, key, &d, e) && words_remove(&c, key, d.words, e);
}

bool graph_index(const struct graph *g, int64_t key, struct error *e)
{
    const struct corpus c = graph_corpus(g->store);
    AUTO(document_release) struct document d = {0};
    return words_of(g->store, key, &d, e) && words_prepare(&c, g->language, strlen(d.words), e) &&
           words_add(&c, key, d.words, e);
}

bool graph_purge(const struct graph *g, bool *more, struct error *e)
{
    const struct corpus c = graph_corpus(g->store);
    return words_purge_step(&c, NULL, more, e);
}

bool graph_tidy(const struct graph *g, bool *more, struct error *e)
{
    const struct corpus c = graph_corpus(g->store);
    return words_tidy(&c, more, e);
}

bool graph_reindex(const struct graph *g, struct error *e)
{
    const struct corpus c = graph_corpus(g->store);
    return words_reindex(&c, g->language, NULL, NULL, e);
}

/* --- rows ------------------------------------------------------------------------------------- */

struct graph_source graph_source_read(const struct query *q, int at)
{
    return (struct graph_source){.session_id = query_column_text(q, at),
                                 .seq = sqlite3_column_int64(q->handle, at + 1),
                                 .created_ms = sqlite3_column_int64(q->handle, at + 2),
                                 .deleted = sqlite3_column_int(q->handle, at + 3)};
}

bool graph_read_entity(struct store *s, int64_t key, bool whole, struct graph_entity *out,
                       struct error *e)
{
    static const char sql[] =
        "SELECT name, type, (SELECT count(*) FROM graph_observation WHERE entity = key),"
        " (SELECT count(*) FROM graph_relation WHERE source = key)"
        " + (SELECT count(*) FROM graph_relation WHERE target = key"
        " AND source <> key), " GRAPH_SOURCE("graph_entry") " FROM graph_entry WHERE key = ?";
    static const char observations_sql[] = "SELECT content, " GRAPH_SOURCE(
        "graph_observation") " FROM graph_observation WHERE entity = ? ORDER BY number";
    *out = (struct graph_entity){0};
    struct query q = sql_query(s, e, sql, "i", key);
    if (query_next(&q))
        *out = (struct graph_entity){.name = query_column_text(&q, 0),
                                     .type = query_column_text(&q, 1),
                                     .observed = sqlite3_column_int(q.handle, 2),
                                     .relations = sqlite3_column_int(q.handle, 3),
                                     .source = graph_source_read(&q, 4)};
    bool ok = query_end(&q) && (out->name || store_fault(s, SQLITE_CORRUPT, e));
    if (ok && whole) {
        struct query o = sql_query(s, e, observations_sql, "i", key);
        while (query_next(&o))
            vec_push(&out->observations, (struct graph_observation){query_column_text(&o, 0),
                                                                    graph_source_read(&o, 1)});
        ok = query_end(&o);
    }
    if (!ok)
        shape_release(&graph_entity_shape, out);
    return ok;
}

static bool read_entities(struct store *s, const struct graph_keys *keys, bool whole,
                          struct graph_part *out, struct error *e)
{
    for (size_t i = 0; i < keys->items.len; i++) {
        struct graph_entity entity;
        if (!graph_read_entity(s, keys->items.items[i], whole, &entity, e))
            return false;
        vec_push(&out->entities, entity);
    }
    return store_number(s, "SELECT entities FROM graph_size", &out->total, e);
}

static bool is_among(const struct graph_keys *keys, size_t count, int64_t key)
{
    for (size_t i = 0; i < count; i++)
        if (keys->items.items[i] == key)
            return true;
    return false;
}

bool graph_keys_have(const struct graph_keys *keys, int64_t key)
{
    return is_among(keys, keys->items.len, key);
}

/* Adds the relations of one of the entities, except those with an entity before it. */
static bool read_relations(struct store *s, const struct graph_keys *keys, size_t at, size_t most,
                           struct graph_part *out, struct error *e)
{
    static const char sql[] =
        "SELECT a.name, b.name, r.type, source, target, " GRAPH_SOURCE("r")
        " FROM graph_relation AS r CROSS JOIN graph_entry AS a ON a.key = source"
        " CROSS JOIN graph_entry AS b ON b.key = target"
        " WHERE r.number IN (SELECT number FROM graph_relation WHERE source = ?1"
        "  UNION SELECT number FROM graph_relation WHERE target = ?1) ORDER BY 1, 3, 2";
    struct query q = sql_query(s, e, sql, "i", keys->items.items[at]);
    while (query_next(&q)) {
        int64_t source = sqlite3_column_int64(q.handle, 3);
        int64_t target = sqlite3_column_int64(q.handle, 4);
        if (is_among(keys, at, source) || is_among(keys, at, target))
            continue;
        if (out->relations.len >= most)
            out->relations_left++;
        else
            vec_push(&out->relations,
                     (struct graph_relation){query_column_text(&q, 0), query_column_text(&q, 1),
                                             query_column_text(&q, 2), graph_source_read(&q, 5)});
    }
    return query_end(&q);
}

bool graph_read_part(struct store *s, const struct graph_keys *keys, size_t most_relations,
                     struct graph_part *out, struct error *e)
{
    bool ok = read_entities(s, keys, true, out, e);
    for (size_t i = 0; i < keys->items.len && ok; i++)
        ok = read_relations(s, keys, i, most_relations, out, e);
    return ok;
}

/* --- reading ---------------------------------------------------------------------------------- */

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
    AUTO(vec_release_local) struct graph_keys keys = {0};
    bool began;
    *out = (struct graph_part){0};
    if (!store_step_begin(g->store, &began, e))
        return false;
    struct query q =
        sql_query(g->store, e, "SELECT key FROM graph_entry WHERE name > ?1 ORDER BY name LIMIT ?2",
                  "ti", after ? after : "", (int64_t)limit);
    while (query_next(&q))
        vec_push(&keys.items, sqlite3_column_int64(q.handle, 0));
    return leave(g, began, query_end(&q) && read_entities(g->store, &keys, false, out, e), out, e);
}

bool graph_open(const struct graph *g, const struct graph_names *p, struct graph_part *out,
                struct error *e)
{
    AUTO(vec_release_local) struct graph_keys keys = {0};
    bool began, ok = store_step_begin(g->store, &began, e);
    *out = (struct graph_part){0};
    if (!ok)
        return false;
    for (size_t i = 0; i < p->names.len && ok; i++) {
        auto_free char *name = plain(p->names.items[i]);
        int64_t key = -1;
        ok = !name || graph_key(g->store, name, &key, e);
        if (ok && key < 0)
            vec_push(&out->unknown, mem_strdup(p->names.items[i]));
        else if (ok && !graph_keys_have(&keys, key))
            vec_push(&keys.items, key);
    }
    ok = ok && graph_read_part(g->store, &keys, GRAPH_PART_RELATIONS, out, e);
    return leave(g, began, ok, out, e);
}

bool graph_stats(const struct graph *g, struct graph_stats *out, struct error *e)
{
    static const char sql[] =
        "SELECT entities, observations, relations,"
        " (SELECT count(*) FROM graph_observation"
        "  WHERE session IS NOT NULL AND session NOT IN (SELECT id FROM session)),"
        " (SELECT ifnull(sum(length(CAST(content AS BLOB)) + 50), 0) FROM graph_observation)"
        " + (SELECT ifnull(sum(length(CAST(name || type AS BLOB)) + 50), 0) FROM graph_entry)"
        " + (SELECT ifnull(sum(length(CAST(type AS BLOB)) + 50), 0) FROM graph_relation)"
        " + (SELECT ifnull(sum(length(block)), 0) FROM graph_words_data WHERE id > 10)"
        " FROM graph_size";
    *out = (struct graph_stats){0};
    struct query q = sql_query(g->store, e, sql, "");
    if (query_next(&q))
        *out = (struct graph_stats){.entities = sqlite3_column_int64(q.handle, 0),
                                    .observations = sqlite3_column_int64(q.handle, 1),
                                    .relations = sqlite3_column_int64(q.handle, 2),
                                    .orphans = sqlite3_column_int64(q.handle, 3),
                                    .bytes = sqlite3_column_int64(q.handle, 4)};
    return query_end(&q);
}

/* --- search ----------------------------------------------------------------------------------- */

static bool find_by_words(const struct graph *g, const struct graph_search *search,
                          const char *text, struct graph_keys *out, struct error *e)
{
    const struct corpus c = graph_corpus(g->store);
    const struct corpus_scope all = {.all = true};
    const struct words_question question = {
        .text = text, .typing = search->typing, .rank = rank_settings_alone()};
    AUTO(vec_release_local) struct candidates found = {0};
    AUTO(vec_release_local) struct word_weights weights = {0};
    if (!words_search(&c, &question, &all, (size_t)search->limit, &found, &weights, e))
        return false;
    for (size_t i = 0; i < found.items.len && (int)out->items.len < search->limit; i++)
        vec_push(&out->items, found.items.items[i].key);
    return true;
}

/* Looks at all texts: they are bounded, and no index finds parts of words. */
static bool find_in_texts(const struct graph *g, const char *sql, const char *needle, int limit,
                          struct graph_keys *out, struct error *e)
{
    struct query q = sql_query(g->store, e, sql, "");
    while ((int)out->items.len < limit && query_next(&q)) {
        bool found = false;
        for (int i = 1; i < sqlite3_column_count(q.handle) && !found; i++)
            found = utf8_contains_folded((const char *)sqlite3_column_text(q.handle, i), needle);
        int64_t key = sqlite3_column_int64(q.handle, 0);
        if (found && !graph_keys_have(out, key))
            vec_push(&out->items, key);
    }
    return query_end(&q);
}

bool graph_search(const struct graph *g, const struct graph_search *search, struct graph_part *out,
                  struct error *e)
{
    auto_free char *normal = content_normal(search->query);
    auto_free char *text = utf8_composed(normal);
    AUTO(vec_release_local) struct graph_keys keys = {0};
    bool began, ok = store_step_begin(g->store, &began, e);
    *out = (struct graph_part){0};
    if (!ok)
        return false;
    if (*text)
        ok = find_by_words(g, search, text, &keys, e) &&
             find_in_texts(g, "SELECT key, name, type FROM graph_entry ORDER BY key", text,
                           search->limit, &keys, e) &&
             find_in_texts(g, "SELECT entity, content FROM graph_observation ORDER BY number", text,
                           search->limit, &keys, e) &&
             (search->brief ? read_entities(g->store, &keys, false, out, e)
                            : graph_read_part(g->store, &keys, GRAPH_PART_RELATIONS, out, e));
    return leave(g, began, ok, out, e);
}

/* --- health and recovery ---------------------------------------------------------------------- */

static const struct health_rule rules[] = {
    {"SELECT count(*) FROM graph_entry WHERE name = '' OR type = '' OR key <= 0 OR key & 0xffffff",
     "entities make no sense"},
    {"SELECT count(*) FROM graph_observation WHERE entity NOT IN (SELECT key FROM graph_entry)",
     "observations belong to no entity"},
    {"SELECT count(*) FROM graph_observation WHERE content = ''", "observations are empty"},
    {"SELECT count(*) FROM graph_relation WHERE source NOT IN (SELECT key FROM graph_entry)"
     " OR target NOT IN (SELECT key FROM graph_entry)",
     "relations lead nowhere"},
    {"SELECT count(*) FROM graph_entry WHERE key NOT IN (SELECT id FROM graph_words_docsize)",
     "entities are not in its index of words; 'tiro graph reindex' makes it anew"},
    {"SELECT count(*) FROM graph_words_docsize WHERE id NOT IN (SELECT key FROM graph_entry)",
     "rows of its index of words belong to no entity; 'tiro graph reindex' makes it anew"},
    {"SELECT count(*) FROM graph_size WHERE entities <> (SELECT count(*) FROM graph_entry)"
     " OR relations <> (SELECT count(*) FROM graph_relation)",
     "counts are wrong"},
    {NULL, NULL},
};

static bool check(struct store *s, bool thorough, struct health *out)
{
    bool ok =
        health_count(s, "SELECT count(*) FROM graph_entry", &out->graph_entities, out) &&
        health_count(s, "SELECT count(*) FROM graph_observation", &out->graph_observations, out) &&
        health_count(s, "SELECT count(*) FROM graph_relation", &out->graph_relations, out);
    return ok && (!thorough || health_rules(s, rules, "graph", out));
}

static const struct salvage_shape shapes[] = {
    {"graph_entry", "key, name, type, session, seq, created_ms", "nttTii", false},
    {"graph_observation", "number, entity, digest, session, seq, created_ms, content", "niiTiit",
     false},
    {"graph_relation", "number, type, source, target, session, seq, created_ms", "ntiiTii", false},
    {0},
};
static const char *const indexes[] = {NULL};

/* Rows on a free page were deleted. */
static const char choose_sql[] =
    "DELETE FROM found.graph_entry WHERE free;"
    "DELETE FROM found.graph_observation WHERE free;"
    "DELETE FROM found.graph_relation WHERE free;";

#define SOURCE_IS_PLAIN " AND (session IS NULL OR plain(session) IS NOT NULL)"

/* An entity whose name is lost gets another, so that its observations are kept. */
static const char *const recover_sql[] = {
    "INSERT OR IGNORE INTO graph_entry (key, name, type, session, seq, created_ms)"
    " SELECT row, name, type, session, seq, created_ms FROM found.graph_entry WHERE whole"
    " AND row > 0 AND row & 0xffffff = 0 AND plain(name) <> ''"
    " AND plain(type) <> ''" SOURCE_IS_PLAIN " ORDER BY row",
    "INSERT OR IGNORE INTO graph_entry (key, name, type, seq, created_ms)"
    " SELECT DISTINCT entity, 'recovered ' || (entity >> 24), 'unknown', 0, min(created_ms)"
    " FROM found.graph_observation WHERE whole AND entity > 0 AND entity & 0xffffff = 0"
    " AND plain(content) <> '' AND entity NOT IN (SELECT key FROM graph_entry) GROUP BY entity",
    "INSERT OR IGNORE INTO graph_observation (number, entity, digest, session, seq, created_ms,"
    " content) SELECT row, entity, digest, session, seq, created_ms, content"
    " FROM found.graph_observation WHERE whole AND entity IN (SELECT key FROM graph_entry)"
    " AND plain(content) <> ''" SOURCE_IS_PLAIN " ORDER BY row",
    "INSERT OR IGNORE INTO graph_relation (number, type, source, target, session, seq, created_ms)"
    " SELECT row, type, source, target, session, seq, created_ms FROM found.graph_relation"
    " WHERE whole AND source IN (SELECT key FROM graph_entry)"
    " AND target IN (SELECT key FROM graph_entry) AND plain(type) <> ''" SOURCE_IS_PLAIN
    " ORDER BY row",
};

static const char lost_sql[] =
    "SELECT (SELECT count(DISTINCT row) FROM found.graph_entry"
    "  WHERE row NOT IN (SELECT key FROM graph_entry))"
    " + (SELECT count(*) FROM graph_entry WHERE key NOT IN (SELECT row FROM found.graph_entry))"
    " + (SELECT count(DISTINCT row) FROM found.graph_observation"
    "  WHERE row NOT IN (SELECT number FROM graph_observation))"
    " + (SELECT count(DISTINCT row) FROM found.graph_relation"
    "  WHERE row NOT IN (SELECT number FROM graph_relation))";

static bool recover(struct store *to, struct recovery *out, struct error *e)
{
    int64_t lost = 0;
    for (size_t i = 0; i < sizeof recover_sql / sizeof *recover_sql; i++) {
        if (!sql_exec(to, e, recover_sql[i], ""))
            return false;
        out->facts += sqlite3_changes(to->db);
    }
    bool ok = store_number(to, lost_sql, &lost, e);
    out->lost += lost;
    return ok;
}

const struct store_extension graph_extension = {
    .check = check, .shapes = shapes, .indexes = indexes, .choose = choose_sql, .recover = recover};
