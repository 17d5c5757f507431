#include <stdlib.h>
#include <string.h>

#include "memory/content.h"
#include "memory/sqlite_private.h"

static const char at_sql[] = MEMORY_ROWS "WHERE entry.key = ?";
static const char from_sql[] = MEMORY_ROWS "WHERE entry.key >= ? ORDER BY entry.key LIMIT 1";
static const char of_sql[] = MEMORY_ROWS "WHERE entry.id = ?";
/* The index is one of groups of sessions. */
static const char equal_sql[] =
    "WITH RECURSIVE cluster (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM cluster"
    " WHERE number < (SELECT max(number) >> 5 FROM memory_session))"
    " SELECT key, content FROM memory_entry INDEXED BY memory_alike"
    " WHERE session >> 5 IN cluster AND digest = ?1 ORDER BY key";
static const char equal_here_sql[] =
    "SELECT key, content FROM memory_entry INDEXED BY memory_alike"
    " WHERE session >> 5 = ?2 >> 5 AND digest = ?1 ORDER BY key";
static const char add_sql[] =
    "INSERT INTO memory_entry (key, id, id_number, session, turn, seq, role, speaker, created_ms,"
    " pinned, edited, compaction, digest, content)"
    " VALUES (?1, ?2, ?3, ?1 >> 24, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
static const char edit_sql[] =
    "UPDATE memory_entry SET edited = 1, digest = ?2, content = ?3 WHERE key = ?1";

enum {
    AT_key,
    AT_id,
    AT_id_number,
    AT_session,
    AT_turn,
    AT_seq,
    AT_role,
    AT_speaker,
    AT_created,
    AT_pinned,
    AT_edited,
    AT_compaction,
    AT_content
};

void memory_row_release(struct memory_row *row)
{
    memory_entry_release(&row->entry);
}

void memory_rows_release(struct memory_rows *rows)
{
    for (size_t i = 0; i < rows->items.len; i++)
        memory_row_release(&rows->items.items[i]);
    vec_release(&rows->items);
}

/* ---- reading ---- */

static enum role role_of(const char *name)
{
    static const enum role roles[] = {ROLE_ASSISTANT, ROLE_TOOL};
    for (size_t i = 0; name && i < sizeof roles / sizeof *roles; i++)
        if (strcmp(role_name(roles[i]), name) == 0)
            return roles[i];
    return ROLE_USER;
}

struct memory_row sqlite_row_read(const struct query *q)
{
    const int64_t compaction = sqlite3_column_int64(q->handle, AT_compaction);
    return (struct memory_row){
        .key = sqlite3_column_int64(q->handle, AT_key),
        .compaction = compaction,
        .entry = {
            .origin = sqlite_origin(compaction),
            .id = query_column_text(q, AT_id),
            .id_is_number = sqlite3_column_int(q->handle, AT_id_number),
            .session_id = query_column_text(q, AT_session),
            .turn = sqlite3_column_int64(q->handle, AT_turn),
            .seq = sqlite3_column_int64(q->handle, AT_seq),
            .role = role_of((const char *)sqlite3_column_text(q->handle, AT_role)),
            .speaker = query_column_text(q, AT_speaker),
            .created_ms = sqlite3_column_int64(q->handle, AT_created),
            .pinned = sqlite3_column_int(q->handle, AT_pinned),
            .edited = sqlite3_column_int(q->handle, AT_edited),
            .content = query_column_text(q, AT_content),
        }};
}

bool sqlite_rows_read(struct query *q, struct memory_rows *out)
{
    while (query_next(q))
        vec_push(&out->items, sqlite_row_read(q));
    bool ok = query_end(q);
    if (!ok)
        memory_rows_release(out);
    return ok;
}

static bool read_one(struct query *q, struct memory_row *out, bool *found)
{
    *found = query_next(q);
    if (*found)
        *out = sqlite_row_read(q);
    return query_end(q);
}

bool sqlite_row_at(struct store *s, int64_t key, struct memory_row *out, bool *found,
                   struct error *e)
{
    *out = (struct memory_row){0};
    struct query q = query_begin(s, at_sql, e);
    query_int(&q, key);
    return read_one(&q, out, found);
}

bool sqlite_row_of(struct store *s, const char *id, struct memory_row *out, bool *found,
                   struct error *e)
{
    *out = (struct memory_row){0};
    struct query q = query_for(s, of_sql, id, e);
    return read_one(&q, out, found);
}

bool sqlite_row_need(struct store *s, const char *id, struct memory_row *out, struct error *e)
{
    bool found;
    return sqlite_row_of(s, id, out, &found, e) &&
           (found || err_set(e, ERR_MEMORY_NOT_FOUND,
                             "there is no entry %.60s in memory; it may have been deleted", id));
}

bool sqlite_equal_texts(struct store *s, const char *text, const struct corpus_scope *scope,
                        struct memory_keys *out, struct error *e)
{
    bool here = !scope->all && scope->numbers.len == 1;
    *out = (struct memory_keys){0};
    struct query q = query_begin(s, here ? equal_here_sql : equal_sql, e);
    query_int(&q, content_digest(text));
    if (here)
        query_int(&q, scope->numbers.items[0]);
    while (query_next(&q)) {
        int64_t key = sqlite3_column_int64(q.handle, 0);
        const char *there = (const char *)sqlite3_column_text(q.handle, 1);
        if (corpus_scope_has(scope, rank_key_session(key)) && content_equal(there, text))
            vec_push(&out->items, key);
    }
    bool ok = query_end(&q);
    if (!ok)
        vec_release(&out->items);
    return ok;
}

/* ---- for the index ---- */

static bool read_document(struct store *s, int64_t from, struct document *out, bool *found,
                          struct error *e)
{
    struct memory_row row = {0};
    *out = (struct document){0};
    struct query q = query_begin(s, from_sql, e);
    query_int(&q, from);
    if (!read_one(&q, &row, found))
        return false;
    if (*found) {
        *out = (struct document){.key = row.key,
                                 .words = content_words(&row.entry),
                                 .content = row.entry.content,
                                 .speaker = row.entry.speaker};
        row.entry.content = row.entry.speaker = NULL;
        memory_row_release(&row);
    }
    return true;
}

struct corpus memory_sqlite_corpus(struct store *s)
{
    return (struct corpus){.store = s, .tables = MEMORY_TABLES, .document = read_document};
}

/* ---- writing ---- */

static bool insert(struct store *s, const struct memory_row *row, struct error *e)
{
    const struct memory_entry *entry = &row->entry;
    struct query q = query_begin(s, add_sql, e);
    query_int(&q, row->key);
    query_text(&q, entry->id);
    query_int(&q, entry->id_is_number);
    query_int(&q, entry->turn);
    query_known(&q, entry->seq > 0 ? entry->seq : -1);
    query_text(&q, role_name(entry->role));
    query_text(&q, entry->speaker);
    query_int(&q, entry->created_ms);
    query_int(&q, entry->pinned);
    query_int(&q, entry->edited);
    if (row->compaction == 0)
        query_text(&q, NULL);
    else
        query_int(&q, row->compaction);
    query_int(&q, content_digest(entry->content));
    query_text(&q, entry->content);
    return query_run(&q);
}

static bool run_for(struct store *s, const char *sql, int64_t key, struct error *e)
{
    struct query q = query_begin(s, sql, e);
    query_int(&q, key);
    return query_run(&q);
}

static bool add_words(struct store *s, const struct memory_row *row, struct error *e)
{
    const struct corpus c = memory_sqlite_corpus(s);
    char *text = content_words(&row->entry);
    bool ok = words_add(&c, row->key, text, e);
    free(text);
    return ok;
}

/* Its words and vectors. */
static bool unindex(struct store *s, const struct memory_row *row, struct error *e)
{
    const struct corpus c = memory_sqlite_corpus(s);
    char *text = content_words(&row->entry);
    bool ok = words_remove(&c, row->key, text, e) && vectors_remove(&c, row->key, e);
    free(text);
    return ok;
}

bool sqlite_row_add(struct store *s, const struct memory_row *row, struct error *e)
{
    return insert(s, row, e) && add_words(s, row, e);
}

bool sqlite_row_remove(struct store *s, const struct memory_row *row, struct error *e)
{
    return unindex(s, row, e) && run_for(s, "DELETE FROM memory_entry WHERE key = ?", row->key, e);
}

bool sqlite_rows_remove(struct store *s, const struct memory_rows *rows, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; i < rows->items.len && ok; i++)
        ok = sqlite_row_remove(s, &rows->items.items[i], e);
    return ok;
}

static bool replace_content(struct store *s, int64_t key, const char *content, struct error *e)
{
    struct query q = query_begin(s, edit_sql, e);
    query_int(&q, key);
    query_int(&q, content_digest(content));
    query_text(&q, content);
    return query_run(&q);
}

bool sqlite_row_edit(struct store *s, const struct memory_row *row, const char *content,
                     struct error *e)
{
    struct memory_row edited = *row;
    edited.entry.content = (char *)content;
    return unindex(s, row, e) && replace_content(s, row->key, content, e) &&
           add_words(s, &edited, e);
}
