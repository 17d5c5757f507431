#include "store/health_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "chat/event.h"

static const char sessions_sql[] =
    "SELECT count(key), max(id), max(title), max(directory),"
    " max(updated_ms), max(last_seq) FROM session";
static const char events_sql[] = "SELECT session, seq, at, type, version, payload FROM event";
static const char orphans_sql[] =
    "SELECT count(*), min(session) FROM event"
    " WHERE session NOT IN (SELECT key FROM session)";

bool health_found(struct health *out, enum health_state state, const char *format, ...)
{
    struct buf text = BUF_INIT;
    struct buf clean = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    utf8_clean(&clean, text.data, text.len, UTF8_ONE_LINE);
    out->state = state;
    snprintf(out->detail, sizeof out->detail, "%.*s",
             (int)utf8_cut_bytes(clean.data, clean.len, sizeof out->detail - 1), clean.data);
    buf_release(&text);
    buf_release(&clean);
    return false;
}

bool health_fault(struct store *s, int result, struct health *out)
{
    static const struct {
        int result;
        enum health_state state;
    } states[] = {
        {SQLITE_BUSY, HEALTH_LOCKED},         {SQLITE_LOCKED, HEALTH_LOCKED},
        {SQLITE_CANTOPEN, HEALTH_UNREADABLE}, {SQLITE_PERM, HEALTH_UNREADABLE},
        {SQLITE_AUTH, HEALTH_UNREADABLE},     {SQLITE_READONLY, HEALTH_UNREADABLE},
        {SQLITE_NOTADB, HEALTH_NO_DATABASE},  {SQLITE_ERROR, HEALTH_INCONSISTENT},
    };
    enum health_state state = HEALTH_DAMAGED;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (states[i].result == (result & 0xff))
            state = states[i].state;
    return health_found(out, state, "%s", sqlite3_errmsg(s->db));
}

/* Ends the query; `ok` is whether all went well so far. */
static bool end(struct query *q, bool ok, struct health *out)
{
    return query_end(q) ? ok : health_fault(q->store, q->fault, out);
}

bool health_count(struct store *s, const char *sql, int64_t *out, struct health *health)
{
    struct query q = query_begin(s, sql, NULL);
    if (query_next(&q))
        *out = sqlite3_column_int64(q.handle, 0);
    return end(&q, true, health);
}

bool health_tables(struct store *s, struct health *out)
{
    int64_t first = 0;
    return health_count(s, sessions_sql, &out->sessions, out) &&
           health_count(s, events_sql, &first, out);
}

/* The check's lines are "ok" or faults. */
static bool read_check(struct query *q, struct health *out)
{
    const char *line = (const char *)sqlite3_column_text(q->handle, 0);
    return (line && strcmp(line, "ok") == 0) ||
           health_found(out, HEALTH_DAMAGED, "%s", line ? line : "");
}

bool health_pages(struct store *s, bool indexes, struct health *out)
{
    struct query q =
        query_begin(s, indexes ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)", NULL);
    bool ok = !query_next(&q) || read_check(&q, out);
    return end(&q, ok, out);
}

static bool check_orphans(struct store *s, struct health *out)
{
    int64_t orphans = 0;
    return health_count(s, orphans_sql, &orphans, out) &&
           (orphans == 0 || health_found(out, HEALTH_INCONSISTENT,
                                         "%lld events belong to no session", (long long)orphans));
}

static bool check_event(const struct query *q, struct health *out)
{
    const char *name = (const char *)sqlite3_column_text(q->handle, 3);
    const char *payload = (const char *)sqlite3_column_text(q->handle, 5);
    size_t len = (size_t)sqlite3_column_bytes(q->handle, 5);
    int version = sqlite3_column_int(q->handle, 4);
    enum event_type type;
    struct event *ev = NULL;
    struct error e = {0};
    if (!name || !payload || !event_type_from_name(name, &type))
        err_set(&e, ERR_SESSION_STORE_ERROR, "unknown type \"%.40s\"", name ? name : "");
    else
        event_from_payload(type, version, payload, len, &ev, &e);
    event_free(ev);
    out->events++;
    return e.code == ERR_OK ||
           health_found(out, HEALTH_INCONSISTENT, "event %lld of the session with key %lld: %s",
                        (long long)sqlite3_column_int64(q->handle, 1),
                        (long long)sqlite3_column_int64(q->handle, 0), e.text);
}

/* One that does not decode does not keep the others from being counted. */
bool health_events(struct store *s, struct health *out)
{
    if (!check_orphans(s, out))
        return false;
    struct query q = query_begin(s, events_sql, NULL);
    bool ok = true;
    out->events = 0;
    while (query_next(&q)) {
        if (ok)
            ok = check_event(&q, out);
        else
            out->events++;
    }
    return end(&q, ok, out);
}
