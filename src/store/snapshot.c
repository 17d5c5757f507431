#include "store/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/mem.h"
#include "chat/figure.h"
#include "store/event_log.h"
#include "store/sql.h"

#define KEY "(SELECT key FROM session WHERE id = ?1)"

static const char save_counters_sql[] =
    "INSERT OR REPLACE INTO snapshot (session, seq, counters)"
    " SELECT key, ?2, ?3 FROM session WHERE id = ?1";
static const char save_message_sql[] =
    "INSERT OR REPLACE INTO snapshot_message (session, position, message)"
    " SELECT key, ?2, ?3 FROM session WHERE id = ?1";
/* What a compaction leaves behind its end goes a piece at a time, from the end, so that thousands
 * of rows are no wait: nobody reads them. */
static const char trim_sql[] = "DELETE FROM snapshot_message WHERE session = " KEY
                               " AND position IN"
                               " (SELECT position FROM snapshot_message WHERE session = " KEY
                               " AND position >= ?2"
                               " ORDER BY position DESC LIMIT 200)";
static const char trim_all_sql[] =
    "DELETE FROM snapshot_message WHERE session = " KEY
    " AND position >= ifnull((SELECT iif(json_valid(counters),"
    " json_extract(counters, '$.messages'), 0) FROM snapshot WHERE session = " KEY "), 0)";
static const char has_sql[] =
    "SELECT 1 FROM snapshot_message WHERE session = " KEY " AND position = ?2";

/* A snapshot that knows more than the log has nothing to stand on. */
static const char counters_sql[] =
    "SELECT counters, seq FROM snapshot WHERE session = " KEY
    " AND seq <= (SELECT max(seq) FROM event WHERE session = " KEY ")";
static const char messages_sql[] =
    "SELECT message, position FROM snapshot_message WHERE session = " KEY
    " AND position < ?2"
    " ORDER BY position";

/* ---- saving ---- */

static bool save_counters(struct store *s, const char *session_id, const struct history *h,
                          struct error *e)
{
    struct query q = query_for(s, save_counters_sql, session_id, e);
    char *text = history_counters(h);
    query_int(&q, h->applied_seq);
    query_text(&q, text);
    bool ok = query_run(&q);
    free(text);
    return ok && (sqlite3_changes(s->db) > 0 ||
                  err_set(e, ERR_SESSION_STORE_ERROR,
                          "session %s is not in the store; it was deleted meanwhile", session_id));
}

static bool save_message(struct store *s, const char *session_id, size_t position,
                         const struct message *m, struct error *e)
{
    struct query q = query_for(s, save_message_sql, session_id, e);
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write(&message_shape, m, &o);
    query_int(&q, (int64_t)position);
    query_text(&q, text.data);
    bool ok = query_run(&q);
    buf_release(&text);
    return ok;
}

static bool trim(struct store *s, const char *session_id, size_t position, struct error *e)
{
    struct query q = query_for(s, trim_sql, session_id, e);
    query_int(&q, (int64_t)position);
    return query_run(&q);
}

/* The first message that has to be written: 0 if what should be there before it is not. */
static bool find_first(struct store *s, const char *session_id, const struct history *h,
                       size_t *first, struct error *e)
{
    bool there;
    *first = h->unsaved;
    if (*first == 0)
        return true;
    struct query q = query_for(s, has_sql, session_id, e);
    query_int(&q, (int64_t)*first - 1);
    bool ok = query_any(&q, &there);
    if (!there)
        *first = 0;
    return ok;
}

static bool save(struct store *s, const char *session_id, const struct history *h, struct error *e)
{
    size_t first;
    bool ok = find_first(s, session_id, h, &first, e) && save_counters(s, session_id, h, e) &&
              trim(s, session_id, h->messages.len, e);
    for (size_t i = ok ? first : h->messages.len; i < h->messages.len && ok; i++)
        ok = save_message(s, session_id, i, &h->messages.items[i], e);
    return ok;
}

bool snapshot_save(struct store *s, const char *session_id, struct history *h, struct error *e)
{
    bool began;
    if (!store_enter(s, &began, e) || !store_leave(s, began, save(s, session_id, h, e), e))
        return false;
    h->unsaved = h->messages.len;
    return true;
}

static bool run_for(struct store *s, const char *sql, const char *session_id, struct error *e)
{
    struct query q = query_for(s, sql, session_id, e);
    return query_run(&q);
}

bool snapshot_trim(struct store *s, const char *session_id, struct error *e)
{
    return run_for(s, trim_all_sql, session_id, e);
}

/* ---- loading ---- */

struct loaded {
    char *counters; /* NULL: there is no snapshot that can be used */
    int64_t seq;
    VEC(struct message) messages;
    bool whole; /* every message could be read */
};

static void loaded_release(struct loaded *l)
{
    for (size_t i = 0; i < l->messages.len; i++)
        message_release(&l->messages.items[i]);
    vec_release(&l->messages);
    free(l->counters);
}

static bool load_counters(struct store *s, const char *session_id, struct loaded *l,
                          struct error *e)
{
    struct query q = query_for(s, counters_sql, session_id, e);
    if (query_next(&q)) {
        l->counters = query_column_text(&q, 0);
        l->seq = sqlite3_column_int64(q.handle, 1);
    }
    return query_end(&q);
}

/* How many messages belong to it; there may be more rows. */
static int64_t message_count(const struct loaded *l)
{
    struct json *v = json_parse(l->counters, strlen(l->counters), NULL);
    int64_t count = json_get_int(v, "messages", 0);
    json_free(v);
    return count;
}

/* False, and what is wrong with the snapshot in `cause`, when the row is not the next message. */
static bool add_message(const struct query *q, struct loaded *l, struct error *cause)
{
    struct message m;
    if (sqlite3_column_int64(q->handle, 1) != (int64_t)l->messages.len)
        return err_set(cause, ERR_SESSION_STORE_ERROR, "message %zu is missing", l->messages.len);
    const char *text = (const char *)sqlite3_column_text(q->handle, 0);
    struct json *v = json_parse(text, (size_t)sqlite3_column_bytes(q->handle, 0), cause);
    bool ok = v && message_from_json(v, &m, cause);
    if (ok)
        vec_push(&l->messages, m);
    json_free(v);
    return ok;
}

static bool load_messages(struct store *s, const char *session_id, struct loaded *l,
                          struct error *cause, struct error *e)
{
    struct query q = query_for(s, messages_sql, session_id, e);
    query_int(&q, message_count(l));
    l->whole = true;
    while (l->whole && query_next(&q))
        l->whole = add_message(&q, l, cause);
    return query_end(&q);
}

/* Takes the messages. */
static bool restore(struct loaded *l, struct history *out, struct error *cause)
{
    struct message *messages = l->messages.items;
    size_t count = l->messages.len;
    l->messages.items = NULL;
    l->messages.len = l->messages.cap = 0;
    if (!history_restore(l->counters, strlen(l->counters), messages, count, out, cause))
        return false;
    if (out->applied_seq == l->seq)
        return true;
    history_release(out);
    return err_set(cause, ERR_SESSION_STORE_ERROR, "its counters are of another event");
}

/* It was taken while a compaction held that was undone since: what that dropped is in the log
 * alone. */
static bool is_outdated(const struct loaded *l, const struct undone_list *undone)
{
    for (size_t i = 0; i < undone->items.len; i++) {
        const struct undone *u = &undone->items.items[i];
        if (u->seq > l->seq && u->of <= l->seq)
            return true;
    }
    return false;
}

static bool load_loaded(struct store *s, const char *session_id, const struct undone_list *undone,
                        struct loaded *l, struct error *cause, struct error *e)
{
    if (!load_counters(s, session_id, l, e))
        return false;
    if (l->counters && is_outdated(l, undone)) {
        free(l->counters);
        l->counters = NULL;
    }
    return !l->counters || load_messages(s, session_id, l, cause, e);
}

/* Leaves an empty history when there is no snapshot that can be used. */
static bool load(struct store *s, const char *session_id, const struct undone_list *undone,
                 struct history *out, struct error *e)
{
    struct error cause = {0};
    struct loaded l = {0};
    bool ok = load_loaded(s, session_id, undone, &l, &cause, e);
    if (ok && l.counters && (!l.whole || !restore(&l, out, &cause)))
        log_line(LOG_ERROR, "snapshot of %s passed over: %s", session_id, cause.text);
    loaded_release(&l);
    return ok;
}

static bool apply(void *context, const struct event *ev)
{
    history_apply(context, ev);
    return true;
}

static bool exists(struct store *s, const char *session_id, struct error *e)
{
    bool there;
    struct query q = query_for(s, "SELECT 1 FROM session WHERE id = ?", session_id, e);
    return query_any(&q, &there) &&
           (there ||
            err_set(e, ERR_SESSION_NOT_FOUND,
                    "session %s is not in the store; it was deleted meanwhile", session_id));
}

static void pass_over(struct history *h, const struct undone_list *undone)
{
    VEC(int64_t) completed = {0};
    for (size_t i = 0; i < undone->items.len; i++)
        vec_push(&completed, undone->items.items[i].of);
    history_pass_over(h, completed.items, completed.len);
    vec_release(&completed);
}

static bool resume(struct store *s, const char *session_id, struct history *out, struct error *e)
{
    struct undone_list undone = {0};
    bool ok = exists(s, session_id, e) && event_log_undone(s, session_id, &undone, e) &&
              load(s, session_id, &undone, out, e);
    if (ok) {
        pass_over(out, &undone);
        ok = event_log_read(s, session_id, out->applied_seq, apply, out, e);
    }
    vec_release(&undone.items);
    return ok;
}

/* One look at the database: another process may be compacting the session, or undoing it. */
bool snapshot_resume(struct store *s, const char *session_id, struct history *out, struct error *e)
{
    bool began;
    history_init(out);
    if (!store_step_begin(s, &began, e))
        return false;
    if (store_step_end(s, began, resume(s, session_id, out, e), e))
        return true;
    history_release(out);
    return false;
}

bool snapshot_counters(struct store *s, const char *session_id, struct snapshot_counters *out,
                       struct error *e)
{
    struct loaded l = {0};
    struct error cause;
    bool ok = load_counters(s, session_id, &l, e);
    struct json *v = l.counters ? json_parse(l.counters, strlen(l.counters), &cause) : NULL;
    *out = (struct snapshot_counters){
        .known = v != NULL,
        .estimate = json_get_int(v, "estimate", 0),
        .last_input = figure_known(json_get_int(v, "last_input", -1)),
        .unpriced = json_get_int(v, "unpriced", 0),
        .compactions = (int)json_len(json_get(v, "compactions")),
        .suspended = json_get_bool(v, "suspended", false),
    };
    shape_read(&request_measure_shape, v, &out->measure, &cause); /* else it is unmeasured */
    json_free(v);
    loaded_release(&l);
    return ok;
}
