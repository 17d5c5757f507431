#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "memory/sqlite_private.h"
#include "memory/summary_flags.h"
#include "store/sessions.h"

/* ---- scopes, as numbers of sessions ---- */

/* ?1 belongs to the scope; ?2 is the filter's project: a path, or the last part of one; ?3 its
 * source. A session of a shared space has the identity of its project in place of a directory, and
 * is from its person and its space. */
#define OF_PROJECT(place)                                                                          \
    "(?2 IS NULL OR " place " = ?2 OR substr(" place ", -length(?2) - 1) = '/' || ?2)"
#define OWN OF_PROJECT("directory") " AND " SESSIONS_FROM("?3")
#define SHARED(where)                                                                              \
    " UNION SELECT memory_session.number FROM space_session AS s"                                  \
    " JOIN space ON space.number = s.space JOIN memory_session ON memory_session.id = s.session"   \
    " WHERE s.owner <> space.person AND " where " AND " OF_PROJECT("s.project")                    \
    " AND (?3 IS NULL OR substr(s.owner, 1, length(?3)) = ?3"                                      \
    " OR substr(space.name, 1, length(?3)) = ?3) ORDER BY 1"
static const char named_sql[] =
    "SELECT memory_session.number FROM session JOIN memory_session"
    " ON memory_session.id = session.id WHERE ?1 IS NULL AND " OWN SHARED("?1 IS NULL");
static const char project_sql[] =
    "SELECT memory_session.number FROM session JOIN memory_session"
    " ON memory_session.id = session.id WHERE directory = ?1 AND " OWN SHARED(
        "s.project IN (SELECT project FROM space_directory WHERE directory = ?1)");
/* UNION and not UNION ALL: a ring of parents ends. */
static const char lineage_sql[] =
    "WITH RECURSIVE line (id) AS (SELECT ?1 UNION SELECT parent FROM line JOIN session"
    " ON session.id = line.id WHERE parent IS NOT NULL)"
    " SELECT number FROM line JOIN memory_session ON memory_session.id = line.id"
    " LEFT JOIN session ON session.id = line.id WHERE " OWN " ORDER BY number";

/* enum memory_origin, plus one. */
#define ORIGIN "iif(compaction IS NULL, 1, iif(compaction > 0, 2, 3))"
#define FILTER(origin, after, before)                                                              \
    "(" origin " = 0 OR " ORIGIN " = " origin ") AND created_ms >= " after                         \
    " AND created_ms < " before
#define NEWEST_FIRST " ORDER BY created_ms DESC, entry.key DESC LIMIT ?1 OFFSET ?2"
static const char list_all_sql[] = MEMORY_ROWS NEWEST_FIRST;
static const char list_sql[] =
    MEMORY_ROWS "WHERE entry.key >> 24 IN (SELECT value FROM json_each(?3))" NEWEST_FIRST;
static const char list_of_sql[] = MEMORY_ROWS
    "WHERE (?3 IS NULL OR entry.key >> 24 IN (SELECT value FROM json_each(?3))) AND " FILTER(
        "?4", "?5", "?6") NEWEST_FIRST;
static const char count_of_sql[] =
    "SELECT count(*) FROM memory_entry WHERE (?1 IS NULL OR key >> 24 IN"
    " (SELECT value FROM json_each(?1))) AND " FILTER("?2", "?3", "?4");
static const char count_sql[] =
    "SELECT ifnull(sum((SELECT count(*) FROM memory_entry"
    " WHERE key BETWEEN value << 24 AND value << 24 | 0xffffff)), 0) FROM json_each(?)";

bool sqlite_session_number(struct store *s, const char *session_id, int64_t *number,
                           struct error *e)
{
    *number = -1;
    return sql_number(s, number, e, "SELECT number FROM memory_session WHERE id = ?", "t",
                      session_id);
}

bool sqlite_scope(struct store *s, const struct memory_scope *scope, struct corpus_scope *out,
                  struct error *e)
{
    const char *project = scope->filter.project, *from = scope->filter.from, *sql = named_sql;
    const char *of = NULL;
    *out = (struct corpus_scope){.all = scope->kind == MEMORY_SCOPE_ALL && !project && !from};
    if (out->all)
        return true;
    if (scope->kind == MEMORY_SCOPE_PROJECT) {
        sql = project_sql;
        of = scope->directory;
    } else if (scope->kind == MEMORY_SCOPE_SESSION) {
        sql = lineage_sql;
        of = scope->session_id;
    }
    struct query q = sql_query(s, e, sql, "ttt", of, project, from);
    while (query_next(&q))
        vec_push(&out->numbers, sqlite3_column_int64(q.handle, 0));
    bool ok = query_end(&q);
    if (!ok)
        vec_release(&out->numbers);
    return ok;
}

/* The sessions of a scope as JSON, NULL: all. The caller frees. */
static bool read_scope(struct store *s, const struct memory_scope *scope, char **out,
                       struct error *e)
{
    struct corpus_scope sessions;
    *out = NULL;
    if (!sqlite_scope(s, scope, &sessions, e))
        return false;
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < sessions.numbers.len; i++)
        buf_addf(&text, "%s%lld", i > 0 ? "," : "[", (long long)sessions.numbers.items[i]);
    buf_addstr(&text, text.len > 0 ? "]" : "[]");
    if (sessions.all)
        buf_release(&text);
    else
        *out = buf_take(&text);
    vec_release(&sessions.numbers);
    return true;
}

/* ---- lists ---- */

static bool sqlite_list(struct memory *m, const struct memory_scope *scope, int64_t after,
                        int limit, struct memory_entries *out, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    const struct memory_filter *f = &scope->filter;
    const int64_t most = limit;
    auto_free char *numbers = NULL;
    *out = (struct memory_entries){0};
    if (!read_scope(s, scope, &numbers, e))
        return false;
    struct query q = sqlite_filters(f)
                         ? sql_query(s, e, list_of_sql, "iitiii", most, after, numbers,
                                     (int64_t)f->origin, f->after_ms ? f->after_ms : INT64_MIN,
                                     f->before_ms ? f->before_ms : INT64_MAX)
                     : numbers ? sql_query(s, e, list_sql, "iit", most, after, numbers)
                               : sql_query(s, e, list_all_sql, "ii", most, after);
    while (query_next(&q))
        vec_push(&out->items, sqlite_row_read(&q).entry);
    bool ok = query_end(&q);
    if (!ok)
        memory_entries_release(out);
    return ok;
}

static bool sqlite_count(struct memory *m, const struct memory_scope *scope, int64_t *out,
                         struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    const struct memory_filter *f = &scope->filter;
    auto_free char *numbers = NULL;
    *out = 0;
    if (!read_scope(s, scope, &numbers, e))
        return false;
    if (sqlite_filters(f))
        return sql_number(s, out, e, count_of_sql, "tiii", numbers, (int64_t)f->origin,
                          f->after_ms ? f->after_ms : INT64_MIN,
                          f->before_ms ? f->before_ms : INT64_MAX);
    return numbers ? sql_number(s, out, e, count_sql, "t", numbers)
                   : sql_number(s, out, e, "SELECT count(*) FROM memory_entry", "");
}

/* ---- an entry with those around it ---- */

/* Entries of sessions are in the order of their events, those of an import in the order of its
 * lines. */
static const char before_sql[] = MEMORY_ROWS
    "WHERE entry.session = ?1 AND seq < ?2 AND compaction IS NOT NULL ORDER BY seq DESC LIMIT ?3";
static const char after_sql[] = MEMORY_ROWS
    "WHERE entry.session = ?1 AND seq > ?2 AND compaction IS NOT NULL ORDER BY seq LIMIT ?3";
static const char before_import_sql[] = MEMORY_ROWS
    "WHERE entry.key >= ?1 << 24 AND entry.key < ?2 AND compaction IS NULL"
    " ORDER BY entry.key DESC LIMIT ?3";
static const char after_import_sql[] = MEMORY_ROWS
    "WHERE entry.key > ?2 AND entry.key <= ?1 << 24 | 0xffffff AND compaction IS NULL"
    " ORDER BY entry.key LIMIT ?3";
static const char turn_sql[] = MEMORY_ROWS
    "WHERE entry.key BETWEEN ?1 << 24 AND ?1 << 24 | 0xffffff AND turn = ?2"
    " ORDER BY seq, entry.key LIMIT 1";

static bool read_side(struct store *s, const struct memory_row *of, bool before, int limit,
                      struct memory_rows *out, struct error *e)
{
    bool numbered = of->compaction != 0 && of->entry.seq > 0;
    const char *sql = numbered ? (before ? before_sql : after_sql)
                               : (before ? before_import_sql : after_import_sql);
    struct query q = sql_query(s, e, sql, "iii", rank_key_session(of->key),
                               numbered ? of->entry.seq : of->key, (int64_t)limit);
    return sqlite_rows_read(&q, out);
}

static bool find(struct store *s, const struct memory_place *p, struct memory_row *out,
                 struct error *e)
{
    struct memory_rows rows = {0};
    int64_t number;
    bool there = false;
    if (p->id && p->id[0] == '#') {
        if (!sqlite_row_at(s, strtoll(p->id + 1, NULL, 10), out, &there, e))
            return false;
        return there || err_set(e, ERR_MEMORY_NOT_FOUND,
                                "there is no entry %.30s in memory; search again", p->id);
    }
    if (p->id)
        return sqlite_row_need(s, p->id, out, e);
    if (!sqlite_session_number(s, p->session_id, &number, e))
        return false;
    struct query q = sql_query(s, e, turn_sql, "ii", number, (int64_t)p->turn);
    if (!sqlite_rows_read(&q, &rows))
        return false;
    bool found = rows.items.len > 0;
    if (found)
        *out = rows.items.items[0];
    vec_release(&rows.items);
    return found || err_set(e, ERR_MEMORY_NOT_FOUND,
                            "there is no entry of turn %lld of session %.60s in memory",
                            (long long)p->turn, p->session_id);
}

static bool sqlite_around(struct memory *m, const struct memory_around *p,
                          struct memory_excerpt *out, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    struct memory_row row = {0};
    struct memory_rows before = {0}, after = {0};
    struct corpus_scope sessions = {0};
    bool began;
    *out = (struct memory_excerpt){0};
    if (!store_step_begin(s, &began, e))
        return false;
    bool ok = find(s, &p->place, &row, e) && sqlite_scope(s, &p->scope, &sessions, e);
    if (ok && !corpus_scope_has(&sessions, rank_key_session(row.key)))
        ok = err_set(e, ERR_MEMORY_NOT_FOUND,
                     "entry %.60s is of a session that may not be read here ([memory] scope)",
                     row.entry.id);
    ok = ok && read_side(s, &row, true, p->place.before, &before, e) &&
         read_side(s, &row, false, p->place.after, &after, e);
    if (ok) {
        for (size_t i = before.items.len; i-- > 0;)
            vec_push(&out->entries.items, before.items.items[i].entry);
        out->asked = (int)out->entries.items.len;
        vec_push(&out->entries.items, row.entry);
        for (size_t i = 0; i < after.items.len; i++)
            vec_push(&out->entries.items, after.items.items[i].entry);
        before.items.len = after.items.len = 0; /* moved */
        row = (struct memory_row){0};
    }
    memory_row_release(&row);
    memory_rows_release(&before);
    memory_rows_release(&after);
    vec_release(&sessions.numbers);
    return store_step_end(s, began, ok, e);
}

/* ---- the memory ---- */

/* Texts that are embedded at a time, and vectors that are added to the graph. */
enum { EMBED_STEP = 64, GRAPH_STEP = 64 };

static const char each_sql[] = MEMORY_ROWS "ORDER BY entry.key";
/* No character is greater than the last of Unicode. */
static const char ids_sql[] =
    "SELECT id FROM memory_entry WHERE id >= ?1 AND id < ?1 ||"
    " char(0x10ffff) ORDER BY id LIMIT ?2";
static const char counts_sql[] =
    "SELECT count(*), ifnull(sum(pinned), 0), ifnull(sum(length(CAST(content AS BLOB)) + 100), 0),"
    " (SELECT count(*) FROM memory_session WHERE EXISTS (SELECT 1 FROM memory_entry"
    "  WHERE key BETWEEN number << 24 AND number << 24 | 0xffffff)),"
    " ifnull(sum(compaction > 0), 0), ifnull(sum(compaction = -1), 0) FROM memory_entry";

static void sqlite_close(struct memory *memory)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    vectors_free(m->vectors);
    free(m->language);
    free(m);
}

static bool sqlite_get(struct memory *m, const char *id, struct memory_entry *out, struct error *e)
{
    struct memory_row row;
    bool ok = sqlite_row_need(sqlite_memory_of(m)->store, id, &row, e);
    *out = row.entry;
    return ok;
}

static bool sqlite_ids(struct memory *m, const char *beginning, int limit, struct text_list *out,
                       struct error *e)
{
    *out = (struct text_list){0};
    struct query q =
        sql_query(sqlite_memory_of(m)->store, e, ids_sql, "ti", beginning, (int64_t)limit);
    return query_texts(&q, out);
}

static bool sqlite_each(struct memory *m,
                        bool (*visit)(void *context, const struct memory_entry *entry),
                        void *context, struct error *e)
{
    struct query q = sql_query(sqlite_memory_of(m)->store, e, each_sql, "");
    bool go_on = true;
    while (go_on && query_next(&q)) {
        struct memory_row row = sqlite_row_read(&q);
        go_on = visit(context, &row.entry);
        memory_row_release(&row);
    }
    return query_end(&q);
}

static bool sqlite_pin(struct memory *m, const char *id, bool pinned, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    bool ok = sql_exec(s, e, "UPDATE memory_entry SET pinned = ?2 WHERE id = ?1", "ti", id,
                       (int64_t)pinned) &&
              (sqlite3_changes(s->db) > 0 ||
               err_set(e, ERR_MEMORY_NOT_FOUND,
                       "there is no entry %.60s in memory; it may have been deleted", id));
    return store_leave(s, began, ok, e);
}

/* ---- stats ---- */

static bool sqlite_stats(struct memory *memory, struct memory_stats *out, struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    struct memory_backlog_count count = {0};
    bool began;
    int64_t bytes = 0;
    *out = (struct memory_stats){0};
    if (!store_step_begin(m->store, &began, e))
        return false;
    struct query q = sql_query(m->store, e, counts_sql, "");
    if (query_next(&q)) {
        out->entries = sqlite3_column_int64(q.handle, 0);
        out->pinned = sqlite3_column_int64(q.handle, 1);
        out->bytes = sqlite3_column_int64(q.handle, 2);
        out->sessions = sqlite3_column_int64(q.handle, 3);
        out->dropped = sqlite3_column_int64(q.handle, 4);
        out->left = sqlite3_column_int64(q.handle, 5);
    }
    bool ok = query_end(&q) && sqlite_memory_backlog(memory, &count, e) &&
              sqlite_deferred_count(m->store, &out->deferred, e) &&
              summary_flags_count(m->store, &out->flagged, e) &&
              corpus_bytes(&m->corpus, &bytes, e) &&
              words_language(&m->corpus, "", &out->language, e);
    ok = store_step_end(m->store, began, ok, e);
    out->unasked = count.sessions[BACKLOG_UNASKED];
    out->backlog_done = count.sessions[BACKLOG_DONE];
    out->backlog = count.sessions[BACKLOG_WANTED] + out->backlog_done;
    out->bytes += bytes;
    out->graph = vectors_has_graph(m->vectors);
    if (ok)
        out->language_stale = out->entries > 0 && strcmp(out->language, m->language) != 0;
    else
        memory_stats_release(out);
    return ok;
}

/* ---- the index ---- */

static bool sqlite_reindex(struct memory *memory, const char *language,
                           bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                           struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    return words_reindex(&m->corpus, language ? language : m->language, progress, context, e);
}

static bool sqlite_tidy(struct memory *m, bool *more, struct error *e)
{
    return words_tidy(&sqlite_memory_of(m)->corpus, more, e);
}

static bool sqlite_count_vectors(struct memory *m, const char *model, struct vectors_counts *out,
                                 struct error *e)
{
    return vectors_count(&sqlite_memory_of(m)->corpus, model, out, e);
}

static bool sqlite_know_model(struct memory *m, const char *model, int dimension, struct error *e)
{
    return vectors_know_model(&sqlite_memory_of(m)->corpus, model, dimension, e);
}

static bool sqlite_lacking(struct memory *m, const char *model, size_t max_bytes,
                           struct vectors_lacking *out, struct error *e)
{
    return vectors_lacking(&sqlite_memory_of(m)->corpus, model, EMBED_STEP, max_bytes, out, e);
}

static bool sqlite_keep(struct memory *m, const char *model, const struct vectors_lacking *of,
                        const struct embeddings *made, struct error *e)
{
    return vectors_keep(&sqlite_memory_of(m)->corpus, model, of, made, e);
}

static bool sqlite_tidy_vectors(struct memory *memory, const char *model, int64_t *left,
                                struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    bool more;
    *left = 1;
    return vectors_fit(&m->corpus, model, e) && vectors_drop_stale(&m->corpus, model, &more, e) &&
           (more || vectors_graph_step(m->vectors, &m->corpus, model, GRAPH_STEP, left, e));
}

static const struct memory_ops sqlite_ops = {
    .name = "sqlite",
    .close = sqlite_close,
    .index = sqlite_memory_index,
    .replicate = sqlite_memory_replicate,
    .withdraw = sqlite_memory_withdraw,
    .defer = sqlite_memory_defer,
    .has_deferred = sqlite_memory_has_deferred,
    .next_deferred = sqlite_memory_next_deferred,
    .drop_deferred = sqlite_memory_drop_deferred,
    .next_idle = sqlite_memory_next_idle,
    .fresh = sqlite_memory_fresh,
    .follow = sqlite_memory_follow,
    .answer_backlog = sqlite_memory_answer_backlog,
    .backlog = sqlite_memory_backlog,
    .search = sqlite_memory_search,
    .list = sqlite_list,
    .count = sqlite_count,
    .get = sqlite_get,
    .around = sqlite_around,
    .ids = sqlite_ids,
    .each = sqlite_each,
    .edit = sqlite_memory_edit,
    .pin = sqlite_pin,
    .forget = sqlite_memory_forget,
    .purge = sqlite_memory_purge,
    .restore = sqlite_memory_restore,
    .forget_session = sqlite_memory_forget_session,
    .stats = sqlite_stats,
    .reindex = sqlite_reindex,
    .tidy = sqlite_tidy,
    .count_vectors = sqlite_count_vectors,
    .know_model = sqlite_know_model,
    .lacking = sqlite_lacking,
    .keep = sqlite_keep,
    .tidy_vectors = sqlite_tidy_vectors,
};

struct memory *memory_open(struct store *s, const struct memory_settings *settings)
{
    static const struct memory_settings plain = {.language = NULL};
    struct sqlite_memory *m = mem_alloc(sizeof *m);
    if (!settings)
        settings = &plain;
    m->memory.ops = &sqlite_ops;
    m->memory.listener = summary_flags_listener(s);
    m->store = s;
    m->corpus = memory_sqlite_corpus(s);
    m->language = mem_strdup(settings->language ? settings->language : "auto");
    m->vectors = vectors_new(MEMORY_TABLES, settings->graph_directory, settings->graph_from);
    return &m->memory;
}
