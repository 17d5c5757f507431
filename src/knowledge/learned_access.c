/* What sessions may do with memory. Each change of it begins a row, and ends the one before: so it
 * is known of each message what held when it was said. */
#include <string.h>

#include "knowledge/learned.h"
#include "store/event_log.h"
#include "store/sql.h"

static const char now_sql[] =
    "SELECT access FROM learned_access WHERE session = ? AND until IS NULL";
static const char end_sql[] =
    "UPDATE learned_access SET until = ?2 WHERE session = ?1 AND until IS NULL";
/* Nothing was said meanwhile. */
static const char empty_sql[] = "DELETE FROM learned_access WHERE session = ? AND until <= since";
static const char begin_sql[] = "INSERT INTO learned_access VALUES (?, ?, ?, NULL)";
static const char spans_sql[] =
    "SELECT since, until FROM learned_access WHERE session = ? ORDER BY since";
static const char copy_sql[] =
    "INSERT INTO learned_access SELECT ?2, since, access, min(ifnull(until, ?3), ?3)"
    " FROM learned_access WHERE session = ?1 AND since < ?3";

bool learned_access_read(struct store *s, const char *session_id, enum memory_access *out,
                         struct error *e)
{
    *out = MEMORY_ACCESS_WRITE;
    struct query q = query_for(s, now_sql, session_id, e);
    if (query_next(&q)) {
        const char *word = (const char *)sqlite3_column_text(q.handle, 0);
        *out = strcmp(word, "off") == 0 ? MEMORY_ACCESS_OFF : MEMORY_ACCESS_READ;
    }
    return query_end(&q);
}

static bool end(struct store *s, const char *session_id, int64_t last, struct error *e)
{
    struct query q = query_for(s, end_sql, session_id, e);
    query_int(&q, last);
    if (!query_run(&q))
        return false;
    struct query empty = query_for(s, empty_sql, session_id, e);
    return query_run(&empty);
}

static bool begin(struct store *s, const char *session_id, int64_t last, enum memory_access access,
                  struct error *e)
{
    struct query q = query_for(s, begin_sql, session_id, e);
    query_int(&q, last);
    query_text(&q, memory_access_names.words[access]);
    return query_run(&q);
}

static bool change(struct store *s, const char *session_id, enum memory_access access,
                   struct error *e)
{
    enum memory_access now;
    int64_t last = 0;
    if (!learned_access_read(s, session_id, &now, e))
        return false;
    if (now == access)
        return true;
    return event_log_last(s, session_id, &last, e) && end(s, session_id, last, e) &&
           (access == MEMORY_ACCESS_WRITE || begin(s, session_id, last, access, e));
}

bool learned_access_write(struct store *s, const char *session_id, enum memory_access access,
                          struct error *e)
{
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, change(s, session_id, access, e), e);
}

bool learned_access_copy(struct store *s, const char *from, int64_t last, const char *to,
                         struct error *e)
{
    struct query q = query_for(s, copy_sql, from, e);
    query_text(&q, to);
    query_int(&q, last);
    return query_run(&q);
}

bool learned_closed_read(struct store *s, const char *session_id, struct learned_closed *out,
                         struct error *e)
{
    *out = (struct learned_closed){0};
    struct query q = query_for(s, spans_sql, session_id, e);
    while (query_next(&q)) {
        bool open = sqlite3_column_type(q.handle, 1) == SQLITE_NULL;
        vec_push(&out->spans, (struct learned_closed_span){
                                  sqlite3_column_int64(q.handle, 0),
                                  open ? INT64_MAX : sqlite3_column_int64(q.handle, 1)});
    }
    return query_end(&q);
}

bool learned_closed_has(const struct learned_closed *c, int64_t seq)
{
    for (size_t i = 0; i < c->spans.len; i++)
        if (seq > c->spans.items[i].since && seq <= c->spans.items[i].until)
            return true;
    return false;
}

void learned_closed_release(struct learned_closed *c)
{
    vec_release(&c->spans);
}
