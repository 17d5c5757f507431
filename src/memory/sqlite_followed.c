#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "memory/sqlite_private.h"

/* ---- deferred messages ---- */

/* Messages of a row, which are indexed in one transaction: other writers wait some 30 ms for it,
 * and each transaction adds a part of the index of words that is merged later. */
enum { DEFERRED_STEP = 500 };

static const char defer_sql[] =
    "INSERT INTO memory_deferred (session, compaction, seq, messages) VALUES (?1, ?2, ?3, ?4)";
static const char first_deferred_sql[] =
    "SELECT session, compaction, seq, messages FROM memory_deferred"
    " ORDER BY session, compaction, seq LIMIT 1";
static const char done_sql[] =
    "DELETE FROM memory_deferred WHERE session = ?1 AND compaction = ?2 AND seq = ?3";
static const char withdraw_sql[] =
    "DELETE FROM memory_deferred WHERE session = ?1 AND compaction = ?2";
static const char count_deferred_sql[] =
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

bool sqlite_memory_defer(struct memory *m, const struct memory_deferred *d, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool began, ok = true;
    if (!store_enter(s, &began, e))
        return false;
    for (size_t first = 0; first < d->messages.len && ok; first += DEFERRED_STEP) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        for (size_t i = first; i < d->messages.len && i < first + DEFERRED_STEP; i++)
            buf_addf(&text, "%s[%lld,%lld]", i == first ? "[" : ",",
                     (long long)d->messages.items[i].seq, (long long)d->messages.items[i].turn);
        buf_addstr(&text, "]");
        ok = sql_exec(s, e, defer_sql, "tiit", d->session_id, d->compaction,
                      d->messages.items[first].seq, text.data);
    }
    return store_leave(s, began, ok, e);
}

bool sqlite_memory_next_deferred(struct memory *m, struct memory_deferred *out, struct error *e)
{
    struct query q = sql_query(sqlite_memory_of(m)->store, e, first_deferred_sql, "");
    *out = (struct memory_deferred){0};
    if (query_next(&q)) {
        out->session_id = query_column_text(&q, 0);
        out->compaction = sqlite3_column_int64(q.handle, 1);
        out->first = sqlite3_column_int64(q.handle, 2);
        const char *text = (const char *)sqlite3_column_text(q.handle, 3);
        AUTO(json_free_local)
        struct json *list = text ? json_parse(text, strlen(text), NULL) : NULL;
        for (const struct json *v = json_first(list); v; v = json_next(v)) {
            struct memory_source one = {json_int(json_at(v, 0), 0), json_int(json_at(v, 1), 0)};
            if (one.seq > 0) /* else the row is damaged */
                vec_push(&out->messages, one);
        }
    }
    if (query_end(&q))
        return true;
    memory_deferred_release(out);
    return false;
}

bool sqlite_memory_drop_deferred(struct memory *m, const struct memory_deferred *d, struct error *e)
{
    return sql_exec(sqlite_memory_of(m)->store, e, done_sql, "tii", d->session_id, d->compaction,
                    d->first);
}

bool sqlite_deferred_withdraw(struct store *s, const char *session_id, int64_t compaction,
                              struct error *e)
{
    return sql_exec(s, e, withdraw_sql, "ti", session_id, compaction);
}

bool sqlite_deferred_count(struct store *s, int64_t *out, struct error *e)
{
    return store_number(s, count_deferred_sql, out, e);
}

bool sqlite_memory_has_deferred(struct memory *m, const char *session_id, bool *out,
                                struct error *e)
{
    return sql_any(sqlite_memory_of(m)->store, out, e, has_sql, "t", session_id);
}

/* ---- sessions that are due ---- */

static const char idle_sql[] =
    "SELECT id FROM memory_followed JOIN session ON session.id = memory_followed.session"
    " WHERE due AND (updated_ms <= ?1 OR archived_ms IS NOT NULL) LIMIT 1";
static const char fresh_sql[] =
    "SELECT id, updated_ms FROM memory_followed JOIN session"
    " ON session.id = memory_followed.session WHERE due AND updated_ms > ?1"
    " ORDER BY updated_ms DESC";
/* The event behind which messages are new (deferred ones are deferred again), the last one that the
 * parent session has, and the last one that was read before. */
static const char from_sql[] =
    "SELECT min(seq, ifnull((SELECT min(seq) - 1 FROM memory_deferred"
    "  WHERE session = ?1 AND compaction = -1), seq)),"
    " ifnull((SELECT child.parent_seq FROM session AS child JOIN session AS parent"
    "  ON parent.id = child.parent WHERE child.id = ?1), 0), seq"
    " FROM memory_followed WHERE session = ?1";
static const char entries_sql[] =
    "SELECT key, seq FROM memory_entry INDEXED BY memory_source"
    " WHERE session = ? AND seq IS NOT NULL";
/* The backlog is over when no session of it is wanted any more. */
static const char followed_sql[] =
    "UPDATE memory_followed SET seq = ?2, due = 0, backlog = iif(backlog = 2, 3, backlog)"
    " WHERE session = ?1";
static const char backlog_over_sql[] =
    "UPDATE memory_followed SET backlog = 0 WHERE backlog = 3"
    " AND NOT EXISTS (SELECT 1 FROM memory_followed WHERE backlog = 2)";
static const char again_sql[] =
    "UPDATE memory_followed SET seq = min(seq, ?2 - 1), due = 1"
    " WHERE session = ?1 AND seq >= ?2 AND backlog NOT IN (1, 4)";
static const char accept_sql[] =
    "UPDATE memory_followed SET seq = 0, due = 1, backlog = 2 WHERE backlog IN (1, 4)";
static const char refuse_sql[] = "UPDATE memory_followed SET backlog = 4 WHERE backlog = 1";
static const char count_sql[] =
    "SELECT backlog, count(*) FROM memory_followed WHERE backlog GROUP BY backlog";

void memory_dues_release(struct memory_dues *d)
{
    for (size_t i = 0; i < d->items.len; i++)
        free(d->items.items[i].session_id);
    vec_release(&d->items);
}

bool sqlite_memory_next_idle(struct memory *m, int64_t before_ms, char **session_id,
                             struct error *e)
{
    *session_id = NULL;
    struct query q = sql_query(sqlite_memory_of(m)->store, e, idle_sql, "i", before_ms);
    if (query_next(&q))
        *session_id = query_column_text(&q, 0);
    return query_end(&q);
}

bool sqlite_memory_fresh(struct memory *m, int64_t since_ms, struct memory_dues *out,
                         struct error *e)
{
    *out = (struct memory_dues){0};
    struct query q = sql_query(sqlite_memory_of(m)->store, e, fresh_sql, "i", since_ms);
    while (query_next(&q))
        vec_push(&out->items,
                 (struct memory_due){query_column_text(&q, 0), sqlite3_column_int64(q.handle, 1)});
    bool ok = query_end(&q);
    if (!ok)
        memory_dues_release(out);
    return ok;
}

bool sqlite_followed_again(struct store *s, const char *session_id, int64_t seq, struct error *e)
{
    return sql_exec(s, e, again_sql, "ti", session_id, seq);
}

/* ---- messages that must not be indexed again ---- */

bool sqlite_gone_add(struct store *s, const struct memory_row *row, bool forgotten, struct error *e)
{
    return row->compaction == 0 || row->entry.seq <= 0 ||
           sql_exec(s, e, "INSERT OR REPLACE INTO memory_gone VALUES (?1, ?2, ?3, ?4)", "iiii",
                    rank_key_session(row->key), row->entry.seq, (int64_t)forgotten,
                    clock_wall_ms());
}

/* ---- following ---- */

struct step {
    struct store *store;
    const struct memory_following *of;
    int64_t number; /* of the session in memory; -1: it has none */
    int64_t from;   /* messages behind this event are new */
    int64_t shared; /* messages up to this one belong to the parent session */
    int64_t seen;   /* messages up to this one were read before */
};

/* Removes entries whose event no longer begins a message (a turn was retried). A copy that gave way
 * to such an entry may still be a message: then all are read again. */
static bool remove_retried(struct step *x, struct error *e)
{
    struct memory_keys keys = {0};
    bool any = false, ok = true;
    if (x->number < 0)
        return true;
    struct query q = sql_query(x->store, e, entries_sql, "i", x->number);
    while (query_next(&q))
        if (!log_messages_have(x->of->messages, sqlite3_column_int64(q.handle, 1)))
            vec_push(&keys.items, sqlite3_column_int64(q.handle, 0));
    ok = query_end(&q);
    for (size_t i = 0; i < keys.items.len && ok; i++) {
        struct memory_row row;
        bool found;
        ok = sqlite_row_at(x->store, keys.items.items[i], &row, &found, e);
        if (!ok || !found)
            continue;
        if (row.compaction == MEMORY_OF_SESSION && !row.entry.pinned && !row.entry.edited) {
            ok = sqlite_row_remove(x->store, &row, e);
            any = true;
        }
        memory_row_release(&row);
    }
    vec_release(&keys.items);
    if (!ok || !any)
        return ok;
    ok = sql_exec(x->store, e, "DELETE FROM memory_gone WHERE session = ? AND NOT forgotten", "i",
                  x->number);
    if (ok && sqlite3_changes(x->store->db) > 0)
        x->from = 0;
    return ok;
}

bool sqlite_memory_follow(struct memory *m, const struct memory_following *f, struct error *e)
{
    struct step x = {.store = sqlite_memory_of(m)->store, .of = f};
    bool began;
    if (!store_enter(x.store, &began, e))
        return false;
    struct query q = sql_query(x.store, e, from_sql, "t", f->session_id);
    if (query_next(&q)) {
        x.from = sqlite3_column_int64(q.handle, 0);
        x.shared = sqlite3_column_int64(q.handle, 1);
        x.seen = sqlite3_column_int64(q.handle, 2);
    }
    if (f->anew)
        x.from = 0;
    bool ok = query_end(&q) && sqlite_session_number(x.store, f->session_id, &x.number, e) &&
              remove_retried(&x, e);
    /* Queues the messages that are new as one deferred text of the session. */
    struct memory_deferred d = {.session_id = (char *)f->session_id,
                                .compaction = MEMORY_OF_SESSION};
    for (size_t i = 0; i < f->messages->items.len; i++) {
        const struct log_message *message = &f->messages->items.items[i];
        int64_t seq = message->seq;
        if (seq > x.from && seq > x.shared && (seq <= x.seen || !f->stays_out) &&
            (message->role != ROLE_TOOL || f->tool_results))
            vec_push(&d.messages, ((struct memory_source){seq, message->turn}));
    }
    ok = ok && sqlite_deferred_withdraw(x.store, d.session_id, d.compaction, e) &&
         (d.messages.len == 0 || sqlite_memory_defer(m, &d, e)) &&
         sql_exec(x.store, e, followed_sql, "ti", f->session_id, f->last) &&
         store_exec(x.store, backlog_over_sql, e);
    vec_release(&d.messages);
    return store_leave(x.store, began, ok, e);
}

/* ---- the backlog ---- */

bool sqlite_memory_answer_backlog(struct memory *m, bool accepted, struct error *e)
{
    return sql_exec(sqlite_memory_of(m)->store, e, accepted ? accept_sql : refuse_sql, "");
}

bool sqlite_memory_backlog(struct memory *m, struct memory_backlog_count *out, struct error *e)
{
    *out = (struct memory_backlog_count){0};
    struct query q = sql_query(sqlite_memory_of(m)->store, e, count_sql, "");
    while (query_next(&q)) {
        int64_t state = sqlite3_column_int64(q.handle, 0);
        if (state > BACKLOG_NONE && state <= BACKLOG_REFUSED)
            out->sessions[state] = sqlite3_column_int64(q.handle, 1);
    }
    return query_end(&q);
}
