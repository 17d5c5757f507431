#include "base/buf.h"
#include "memory/sqlite_private.h"

/* ?1 is the scope's, ?2 a filter's project: a path, or the last part of one. */
#define OF_PROJECT                                                                                 \
    "(?2 IS NULL OR directory = ?2 OR substr(directory, -length(?2) - 1) = '/' || ?2)"            \
    " ORDER BY number"
static const char named_sql[] =
    "SELECT number FROM session JOIN memory_session ON memory_session.id = session.id"
    " WHERE ?1 IS NULL AND " OF_PROJECT;
static const char project_sql[] =
    "SELECT number FROM session JOIN memory_session ON memory_session.id = session.id"
    " WHERE directory = ?1 AND " OF_PROJECT;
/* UNION and not UNION ALL: a ring of parents ends. */
static const char lineage_sql[] =
    "WITH RECURSIVE line (id) AS (SELECT ?1 UNION SELECT parent FROM line JOIN session"
    " ON session.id = line.id WHERE parent IS NOT NULL)"
    " SELECT number FROM line JOIN memory_session ON memory_session.id = line.id"
    " LEFT JOIN session ON session.id = line.id WHERE " OF_PROJECT;

/* As enum memory_origin, and one more. */
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
    struct query q = query_for(s, "SELECT number FROM memory_session WHERE id = ?", session_id, e);
    return query_number(&q, number);
}

static bool read_numbers(struct store *s, const char *sql, const char *of, const char *project,
                         struct corpus_scope *out, struct error *e)
{
    struct query q = query_begin(s, sql, e);
    query_text(&q, of);
    query_text(&q, project);
    while (query_next(&q))
        vec_push(&out->numbers, sqlite3_column_int64(q.handle, 0));
    bool ok = query_end(&q);
    if (!ok)
        vec_release(&out->numbers);
    return ok;
}

bool sqlite_scope(struct store *s, const struct memory_scope *scope, struct corpus_scope *out,
                  struct error *e)
{
    const char *project = scope->filter.project;
    *out = (struct corpus_scope){.all = scope->kind == MEMORY_SCOPE_ALL && !project};
    switch (scope->kind) {
    case MEMORY_SCOPE_ALL:
        return out->all || read_numbers(s, named_sql, NULL, project, out, e);
    case MEMORY_SCOPE_PROJECT:
        return read_numbers(s, project_sql, scope->directory, project, out, e);
    case MEMORY_SCOPE_SESSION:
        return read_numbers(s, lineage_sql, scope->session_id, project, out, e);
    }
    return true;
}

/* ---- what is in it ---- */

static struct buf as_json(const struct corpus_scope *scope)
{
    struct buf out = BUF_INIT;
    buf_addch(&out, '[');
    for (size_t i = 0; i < scope->numbers.len; i++)
        buf_addf(&out, "%s%lld", i > 0 ? "," : "", (long long)scope->numbers.items[i]);
    buf_addch(&out, ']');
    return out;
}

static void bind_filter(struct query *q, const struct memory_filter *f)
{
    query_int(q, f->origin);
    query_int(q, f->after_ms != 0 ? f->after_ms : INT64_MIN);
    query_int(q, f->before_ms != 0 ? f->before_ms : INT64_MAX);
}

static bool list(struct store *s, const char *numbers, const struct memory_filter *f,
                 int64_t after, int limit, struct memory_entries *out, struct error *e)
{
    bool filters = sqlite_filters(f);
    struct query q = query_begin(s, filters ? list_of_sql : numbers ? list_sql : list_all_sql, e);
    query_int(&q, limit);
    query_int(&q, after);
    if (numbers || filters)
        query_text(&q, numbers);
    if (filters)
        bind_filter(&q, f);
    while (query_next(&q))
        vec_push(&out->items, sqlite_row_read(&q).entry);
    bool ok = query_end(&q);
    if (!ok)
        memory_entries_release(out);
    return ok;
}

static bool count(struct store *s, const char *numbers, const struct memory_filter *f,
                  int64_t *out, struct error *e)
{
    static const char all_sql[] = "SELECT count(*) FROM memory_entry";
    bool filters = sqlite_filters(f);
    struct query q = query_begin(s, filters ? count_of_sql : numbers ? count_sql : all_sql, e);
    if (numbers || filters)
        query_text(&q, numbers);
    if (filters)
        bind_filter(&q, f);
    return query_number(&q, out);
}

bool sqlite_memory_list(struct memory *m, const struct memory_scope *scope, int64_t after,
                        int limit, struct memory_entries *out, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    struct corpus_scope sessions;
    *out = (struct memory_entries){0};
    if (!sqlite_scope(s, scope, &sessions, e))
        return false;
    struct buf numbers = as_json(&sessions);
    bool ok = list(s, sessions.all ? NULL : numbers.data, &scope->filter, after, limit, out, e);
    buf_release(&numbers);
    vec_release(&sessions.numbers);
    return ok;
}

bool sqlite_memory_count(struct memory *m, const struct memory_scope *scope, int64_t *out,
                         struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    struct corpus_scope sessions;
    *out = 0;
    if (!sqlite_scope(s, scope, &sessions, e))
        return false;
    struct buf numbers = as_json(&sessions);
    bool ok = count(s, sessions.all ? NULL : numbers.data, &scope->filter, out, e);
    buf_release(&numbers);
    vec_release(&sessions.numbers);
    return ok;
}
