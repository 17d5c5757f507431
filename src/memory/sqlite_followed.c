#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "memory/sqlite_private.h"

static const char idle_sql[] =
    "SELECT id FROM memory_followed JOIN session ON session.id = memory_followed.session"
    " WHERE due AND (updated_ms <= ?1 OR archived_ms IS NOT NULL) LIMIT 1";
static const char fresh_sql[] =
    "SELECT id, updated_ms FROM memory_followed JOIN session"
    " ON session.id = memory_followed.session WHERE due AND updated_ms > ?1"
    " ORDER BY updated_ms DESC";
/* Behind which event there is something new (what is deferred is put off anew), what of it the
 * session that it was forked from has, and what was looked at before. */
static const char from_sql[] =
    "SELECT min(seq, ifnull((SELECT min(seq) - 1 FROM memory_deferred"
    "  WHERE session = ?1 AND compaction = -1), seq)),"
    " ifnull((SELECT child.parent_seq FROM session AS child JOIN session AS parent"
    "  ON parent.id = child.parent WHERE child.id = ?1), 0), seq"
    " FROM memory_followed WHERE session = ?1";
static const char entries_sql[] =
    "SELECT key, seq FROM memory_entry INDEXED BY memory_source"
    " WHERE session = ? AND seq IS NOT NULL";
/* The backlog is done with when nothing of it is wanted any more. */
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

/* ---- what is due ---- */

bool sqlite_memory_next_idle(struct memory *m, int64_t before_ms, char **session_id,
                             struct error *e)
{
    struct query q = query_begin(sqlite_memory_of(m)->store, idle_sql, e);
    *session_id = NULL;
    query_int(&q, before_ms);
    if (query_next(&q))
        *session_id = query_column_text(&q, 0);
    return query_end(&q);
}

bool sqlite_memory_fresh(struct memory *m, int64_t since_ms, struct memory_dues *out,
                         struct error *e)
{
    *out = (struct memory_dues){0};
    struct query q = query_begin(sqlite_memory_of(m)->store, fresh_sql, e);
    query_int(&q, since_ms);
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
    struct query q = query_for(s, again_sql, session_id, e);
    query_int(&q, seq);
    return query_run(&q);
}

/* ---- messages that are not to come in again ---- */

bool sqlite_gone_add(struct store *s, const struct memory_row *row, bool forgotten, struct error *e)
{
    if (row->compaction == 0 || row->entry.seq <= 0)
        return true;
    struct query q =
        query_begin(s, "INSERT OR REPLACE INTO memory_gone VALUES (?1, ?2, ?3, ?4)", e);
    query_int(&q, rank_key_session(row->key));
    query_int(&q, row->entry.seq);
    query_int(&q, forgotten);
    query_int(&q, clock_wall_ms());
    return query_run(&q);
}

bool sqlite_gone_has(struct store *s, int64_t number, int64_t seq, bool *out, struct error *e)
{
    struct query q = query_begin(s, "SELECT 1 FROM memory_gone WHERE session = ?1 AND seq = ?2", e);
    query_int(&q, number);
    query_int(&q, seq);
    return query_any(&q, out);
}

bool sqlite_gone_drop(struct store *s, int64_t number, int64_t seq, struct error *e)
{
    struct query q = query_begin(s, "DELETE FROM memory_gone WHERE session = ?1 AND seq = ?2", e);
    query_int(&q, number);
    query_int(&q, seq);
    return query_run(&q);
}

bool sqlite_gone_forget(struct store *s, int64_t number, struct error *e)
{
    struct query q = query_begin(s, "DELETE FROM memory_gone WHERE session = ?", e);
    query_int(&q, number);
    return query_run(&q);
}

/* Copies that gave way to what is no message any more; *any: there were some. */
static bool drop_given_way(struct store *s, int64_t number, bool *any, struct error *e)
{
    struct query q =
        query_begin(s, "DELETE FROM memory_gone WHERE session = ? AND NOT forgotten", e);
    query_int(&q, number);
    bool ok = query_run(&q);
    *any = ok && sqlite3_changes(s->db) > 0;
    return ok;
}

/* ---- following ---- */

struct step {
    struct store *store;
    const struct memory_following *of;
    int64_t number; /* of the session in memory; -1: it has none */
    int64_t from;   /* behind this event there is something new */
    int64_t shared; /* up to this one another session has them */
    int64_t seen;   /* up to this one they were looked at before */
};

static bool read_step(struct step *x, struct error *e)
{
    struct query q = query_for(x->store, from_sql, x->of->session_id, e);
    if (query_next(&q)) {
        x->from = sqlite3_column_int64(q.handle, 0);
        x->shared = sqlite3_column_int64(q.handle, 1);
        x->seen = sqlite3_column_int64(q.handle, 2);
    }
    return query_end(&q) && sqlite_session_number(x->store, x->of->session_id, &x->number, e);
}

/* Entries whose event begins no message any more. */
static bool find_taken_back(const struct step *x, struct memory_keys *out, struct error *e)
{
    struct query q = query_begin(x->store, entries_sql, e);
    query_int(&q, x->number);
    while (query_next(&q))
        if (!log_messages_have(x->of->messages, sqlite3_column_int64(q.handle, 1)))
            vec_push(&out->items, sqlite3_column_int64(q.handle, 0));
    return query_end(&q);
}

static bool remove_taken_back(const struct step *x, int64_t key, bool *removed, struct error *e)
{
    struct memory_row row;
    bool found;
    if (!sqlite_row_at(x->store, key, &row, &found, e))
        return false;
    *removed =
        found && row.compaction == MEMORY_OF_SESSION && !row.entry.pinned && !row.entry.edited;
    bool ok = !*removed || sqlite_row_remove(x->store, &row, e);
    memory_row_release(&row);
    return ok;
}

/* What was retried. An older copy of it may still be a message: all are looked at again. */
static bool take_out(struct step *x, struct error *e)
{
    struct memory_keys keys = {0};
    bool any = false, copies = false;
    bool ok = x->number < 0 || find_taken_back(x, &keys, e);
    for (size_t i = 0; i < keys.items.len && ok; i++) {
        bool removed = false;
        ok = remove_taken_back(x, keys.items.items[i], &removed, e);
        any = any || removed;
    }
    vec_release(&keys.items);
    if (!ok || !any)
        return ok;
    ok = drop_given_way(x->store, x->number, &copies, e);
    x->from = copies ? 0 : x->from;
    return ok;
}

static bool is_wanted(const struct step *x, const struct log_message *m)
{
    return m->seq > x->from && m->seq > x->shared && (m->seq <= x->seen || !x->of->stays_out) &&
           (m->role != ROLE_TOOL || x->of->tool_results);
}

static bool put_off(struct memory *m, const struct step *x, struct error *e)
{
    struct memory_deferred d = {.session_id = (char *)x->of->session_id,
                                .compaction = MEMORY_OF_SESSION};
    for (size_t i = 0; i < x->of->messages->items.len; i++) {
        const struct log_message *message = &x->of->messages->items.items[i];
        if (is_wanted(x, message))
            vec_push(&d.messages, (struct memory_source){message->seq, message->turn});
    }
    bool ok = sqlite_deferred_withdraw(x->store, d.session_id, d.compaction, e) &&
              (d.messages.len == 0 || sqlite_memory_defer(m, &d, e));
    vec_release(&d.messages);
    return ok;
}

static bool note_followed(const struct step *x, struct error *e)
{
    struct query q = query_for(x->store, followed_sql, x->of->session_id, e);
    query_int(&q, x->of->last);
    return query_run(&q) && store_exec(x->store, backlog_over_sql, e);
}

static bool follow(struct memory *m, struct step *x, struct error *e)
{
    return read_step(x, e) && take_out(x, e) && put_off(m, x, e) && note_followed(x, e);
}

bool sqlite_memory_follow(struct memory *m, const struct memory_following *f, struct error *e)
{
    struct step x = {.store = sqlite_memory_of(m)->store, .of = f};
    bool began;
    return store_enter(x.store, &began, e) && store_leave(x.store, began, follow(m, &x, e), e);
}

/* ---- sessions from before ---- */

bool sqlite_memory_answer_backlog(struct memory *m, bool accepted, struct error *e)
{
    struct query q = query_begin(sqlite_memory_of(m)->store, accepted ? accept_sql : refuse_sql, e);
    return query_run(&q);
}

bool sqlite_memory_backlog(struct memory *m, struct memory_backlog_count *out, struct error *e)
{
    *out = (struct memory_backlog_count){0};
    struct query q = query_begin(sqlite_memory_of(m)->store, count_sql, e);
    while (query_next(&q)) {
        int64_t state = sqlite3_column_int64(q.handle, 0);
        if (state > BACKLOG_NONE && state <= BACKLOG_REFUSED)
            out->sessions[state] = sqlite3_column_int64(q.handle, 1);
    }
    return query_end(&q);
}
