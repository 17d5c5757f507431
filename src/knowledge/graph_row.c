#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "index/words_facts.h"
#include "knowledge/graph_private.h"
#include "memory/content.h"

static const char key_sql[] = "SELECT key FROM graph_entry WHERE name = ?";
static const char row_sql[] =
    "SELECT key, name, type FROM graph_entry WHERE key >= ? ORDER BY key LIMIT 1";
static const char contents_sql[] =
    "SELECT content FROM graph_observation WHERE entity = ? ORDER BY number";
static const char entity_sql[] =
    "SELECT name, type, (SELECT count(*) FROM graph_observation WHERE entity = key),"
    " (SELECT count(*) FROM graph_relation WHERE source = key)"
    " + (SELECT count(*) FROM graph_relation WHERE target = key AND source <> key), " GRAPH_SOURCE(
        "graph_entry") " FROM graph_entry WHERE key = ?";
static const char observations_sql[] = "SELECT content, " GRAPH_SOURCE(
    "graph_observation") " FROM graph_observation WHERE entity = ? ORDER BY number";
static const char relations_sql[] =
    "SELECT a.name, b.name, r.type, source, target, " GRAPH_SOURCE("r")
    " FROM graph_relation AS r CROSS JOIN graph_entry AS a ON a.key = source"
    " CROSS JOIN graph_entry AS b ON b.key = target"
    " WHERE r.number IN (SELECT number FROM graph_relation WHERE source = ?1"
    "  UNION SELECT number FROM graph_relation WHERE target = ?1) ORDER BY 1, 3, 2";

/* ---- paths of members ---- */

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

/* ---- names and texts ---- */

bool graph_key(struct store *s, const char *name, int64_t *key, struct error *e)
{
    struct query q = query_for(s, key_sql, name, e);
    *key = -1;
    return query_number(&q, key);
}

bool graph_need(struct store *s, const char *name, const char *path, int64_t *key, struct error *e)
{
    char *clean = graph_clean_line(name, GRAPH_NAME_BYTES, path, e);
    bool ok = clean && graph_key(s, clean, key, e) &&
              (*key >= 0 || err_set(e, ERR_MEMORY_NOT_FOUND,
                                    "\"%s\": there is no entity \"%.80s\"; create it first, or "
                                    "search for its exact name",
                                    path, clean));
    free(clean);
    return ok;
}

/* What is no line: its breaks (also those of Unicode), and the characters of C0 and C1. */
static bool has_control(const char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        i += utf8_decode(text + i, len - i, &cp);
        if (cp < ' ' || (cp >= 0x7f && cp < 0xa0) || cp == 0x2028 || cp == 0x2029)
            return true;
    }
    return false;
}

char *graph_plain(const char *text)
{
    char *kept = content_clean(text), *composed = kept ? utf8_composed(kept) : NULL;
    free(kept);
    return composed;
}

static char *clean(const char *text, size_t most, const char *path, struct error *e)
{
    bool valid = utf8_valid(text, strlen(text));
    char *kept = valid ? graph_plain(text) : NULL;
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

char *graph_clean_line(const char *text, size_t most, const char *path, struct error *e)
{
    char *kept = clean(text, most, path, e);
    if (!kept || !has_control(kept))
        return kept;
    err_set(e, ERR_USAGE, "\"%s\" has a line break or a control character; give one line", path);
    free(kept);
    return NULL;
}

char *graph_clean_text(const char *text, const char *path, struct error *e)
{
    return clean(text, GRAPH_OBSERVATION_BYTES, path, e);
}

/* ---- words ---- */

static bool add_contents(struct store *s, int64_t key, struct buf *out, struct error *e)
{
    struct query q = query_begin(s, contents_sql, e);
    query_int(&q, key);
    while (query_next(&q))
        buf_addf(out, "\n%s", (const char *)sqlite3_column_text(q.handle, 0));
    return query_end(&q);
}

static bool read_document(struct store *s, int64_t from, struct document *out, bool *found,
                          struct error *e)
{
    struct buf words = BUF_INIT;
    *out = (struct document){0};
    struct query q = query_begin(s, row_sql, e);
    query_int(&q, from);
    *found = query_next(&q);
    if (*found) {
        out->key = sqlite3_column_int64(q.handle, 0);
        buf_addf(&words, "%s\n%s", (const char *)sqlite3_column_text(q.handle, 1),
                 (const char *)sqlite3_column_text(q.handle, 2));
    }
    bool ok = query_end(&q) && (!*found || add_contents(s, out->key, &words, e));
    buf_addf(&words, "\n%c", words_mark(false, false));
    if (ok && *found)
        out->words = buf_take(&words);
    buf_release(&words);
    return ok;
}

struct corpus graph_corpus(struct store *s)
{
    return (struct corpus){.store = s, .tables = "graph", .document = read_document};
}

/* Words of an entity that is there. */
static bool words_of(struct store *s, int64_t key, struct document *out, struct error *e)
{
    bool found;
    return read_document(s, key, out, &found, e) &&
           ((found && out->key == key) || store_fault(s, SQLITE_CORRUPT, e));
}

bool graph_unindex(struct store *s, int64_t key, struct error *e)
{
    const struct corpus c = graph_corpus(s);
    struct document d;
    bool ok = words_of(s, key, &d, e) && words_remove(&c, key, d.words, e);
    document_release(&d);
    return ok;
}

bool graph_index(const struct graph *g, int64_t key, struct error *e)
{
    const struct corpus c = graph_corpus(g->store);
    struct document d;
    bool ok = words_of(g->store, key, &d, e) &&
              words_prepare(&c, g->language, strlen(d.words), e) && words_add(&c, key, d.words, e);
    document_release(&d);
    return ok;
}

/* ---- upkeep ---- */

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

/* ---- reading ---- */

struct graph_source graph_source_read(const struct query *q, int at)
{
    return (struct graph_source){.session_id = query_column_text(q, at),
                                 .seq = sqlite3_column_int64(q->handle, at + 1),
                                 .created_ms = sqlite3_column_int64(q->handle, at + 2),
                                 .deleted = sqlite3_column_int(q->handle, at + 3)};
}

static bool read_observations(struct store *s, int64_t key, struct graph_entity *out,
                              struct error *e)
{
    struct query q = query_begin(s, observations_sql, e);
    query_int(&q, key);
    while (query_next(&q))
        vec_push(&out->observations,
                 (struct graph_observation){query_column_text(&q, 0), graph_source_read(&q, 1)});
    return query_end(&q);
}

bool graph_read_entity(struct store *s, int64_t key, bool whole, struct graph_entity *out,
                       struct error *e)
{
    *out = (struct graph_entity){0};
    struct query q = query_begin(s, entity_sql, e);
    query_int(&q, key);
    if (query_next(&q))
        *out = (struct graph_entity){.name = query_column_text(&q, 0),
                                     .type = query_column_text(&q, 1),
                                     .observed = sqlite3_column_int(q.handle, 2),
                                     .relations = sqlite3_column_int(q.handle, 3),
                                     .source = graph_source_read(&q, 4)};
    bool ok = query_end(&q) && (out->name || store_fault(s, SQLITE_CORRUPT, e)) &&
              (!whole || read_observations(s, key, out, e));
    if (!ok)
        shape_release(&graph_entity_shape, out);
    return ok;
}

bool graph_read_entities(struct store *s, const struct graph_keys *keys, bool whole,
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

/* One between two of the entities is that of the first. */
static bool read_relations(struct store *s, const struct graph_keys *keys, size_t of, size_t most,
                           struct graph_part *out, struct error *e)
{
    struct query q = query_begin(s, relations_sql, e);
    query_int(&q, keys->items.items[of]);
    while (query_next(&q)) {
        int64_t source = sqlite3_column_int64(q.handle, 3);
        int64_t target = sqlite3_column_int64(q.handle, 4);
        if (is_among(keys, of, source) || is_among(keys, of, target))
            continue;
        if (out->relations.len >= most) {
            out->relations_left++;
            continue;
        }
        vec_push(&out->relations,
                 (struct graph_relation){query_column_text(&q, 0), query_column_text(&q, 1),
                                         query_column_text(&q, 2), graph_source_read(&q, 5)});
    }
    return query_end(&q);
}

bool graph_read_part(struct store *s, const struct graph_keys *keys, size_t most_relations,
                     struct graph_part *out, struct error *e)
{
    bool ok = graph_read_entities(s, keys, true, out, e);
    for (size_t i = 0; i < keys->items.len && ok; i++)
        ok = read_relations(s, keys, i, most_relations, out, e);
    return ok;
}

bool graph_keys_have(const struct graph_keys *keys, int64_t key)
{
    return is_among(keys, keys->items.len, key);
}
