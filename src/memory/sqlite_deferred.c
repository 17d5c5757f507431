#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "memory/sqlite_private.h"

/* Messages of a row, which are indexed in one transaction: others wait some 30 ms for it, and each
 * writes a part of the index of words that is merged later. */
enum { DEFERRED_STEP = 500 };

static const char add_sql[] =
    "INSERT INTO memory_deferred (session, compaction, seq, messages) VALUES (?1, ?2, ?3, ?4)";
static const char first_sql[] =
    "SELECT session, compaction, seq, messages FROM memory_deferred"
    " ORDER BY session, compaction, seq LIMIT 1";
static const char done_sql[] =
    "DELETE FROM memory_deferred WHERE session = ?1 AND compaction = ?2 AND seq = ?3";
static const char withdraw_sql[] =
    "DELETE FROM memory_deferred WHERE session = ?1 AND compaction = ?2";
static const char forget_sql[] = "DELETE FROM memory_deferred WHERE session = ?1";
static const char count_sql[] =
    "SELECT ifnull(sum(iif(json_valid(messages), json_array_length(messages), 0)), 0)"
    " FROM memory_deferred";
static const char has_sql[] =
    "SELECT 1 FROM memory_deferred WHERE session = ifnull(?1, session) LIMIT 1";

void memory_deferred_release(struct memory_deferred *d)
{
    free(d->session_id);
    vec_release(&d->messages);
    *d = (struct memory_deferred){0};
}

/* ---- putting in ---- */

static bool add_row(struct store *s, const struct memory_deferred *d, size_t first, size_t end,
                    struct error *e)
{
    struct buf text = BUF_INIT;
    for (size_t i = first; i < end; i++)
        buf_addf(&text, "%s[%lld,%lld]", i == first ? "[" : ",",
                 (long long)d->messages.items[i].seq, (long long)d->messages.items[i].turn);
    buf_addstr(&text, "]");
    struct query q = query_for(s, add_sql, d->session_id, e);
    query_int(&q, d->compaction);
    query_int(&q, d->messages.items[first].seq);
    query_text(&q, text.data);
    bool ok = query_run(&q);
    buf_release(&text);
    return ok;
}

static bool add_rows(struct store *s, const struct memory_deferred *d, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; i < d->messages.len && ok; i += DEFERRED_STEP) {
        size_t left = d->messages.len - i;
        ok = add_row(s, d, i, i + (left < DEFERRED_STEP ? left : DEFERRED_STEP), e);
    }
    return ok;
}

bool sqlite_memory_defer(struct memory *m, const struct memory_deferred *d, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, add_rows(s, d, e), e);
}

/* ---- taking out ---- */

/* What a damaged row says is passed over. */
static void read_messages(const char *text, struct memory_deferred *out)
{
    struct json *list = text ? json_parse(text, strlen(text), NULL) : NULL;
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        struct memory_source one = {json_int(json_at(v, 0), 0), json_int(json_at(v, 1), 0)};
        if (one.seq > 0)
            vec_push(&out->messages, one);
    }
    json_free(list);
}

bool sqlite_memory_next_deferred(struct memory *m, struct memory_deferred *out, struct error *e)
{
    struct query q = query_begin(sqlite_memory_of(m)->store, first_sql, e);
    *out = (struct memory_deferred){0};
    if (query_next(&q)) {
        out->session_id = query_column_text(&q, 0);
        out->compaction = sqlite3_column_int64(q.handle, 1);
        out->first = sqlite3_column_int64(q.handle, 2);
        read_messages((const char *)sqlite3_column_text(q.handle, 3), out);
    }
    if (query_end(&q))
        return true;
    memory_deferred_release(out);
    return false;
}

bool sqlite_memory_drop_deferred(struct memory *m, const struct memory_deferred *d, struct error *e)
{
    struct query q = query_for(sqlite_memory_of(m)->store, done_sql, d->session_id, e);
    query_int(&q, d->compaction);
    query_int(&q, d->first);
    return query_run(&q);
}

bool sqlite_deferred_withdraw(struct store *s, const char *session_id, int64_t compaction,
                              struct error *e)
{
    struct query q = query_for(s, withdraw_sql, session_id, e);
    query_int(&q, compaction);
    return query_run(&q);
}

bool sqlite_deferred_forget(struct store *s, const char *session_id, struct error *e)
{
    struct query q = query_for(s, forget_sql, session_id, e);
    return query_run(&q);
}

/* ---- how much there is ---- */

bool sqlite_deferred_count(struct store *s, int64_t *out, struct error *e)
{
    return store_number(s, count_sql, out, e);
}

bool sqlite_memory_has_deferred(struct memory *m, const char *session_id, bool *out,
                                struct error *e)
{
    struct query q = query_for(sqlite_memory_of(m)->store, has_sql, session_id, e);
    return query_any(&q, out);
}
