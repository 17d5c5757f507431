#include "store/snapshot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "chat/usage.h"
#include "store/event_log.h"
#include "store/sql.h"

#define KEY "(SELECT key FROM session WHERE id = ?1)"

static const char save_counters_sql[] =
    "INSERT OR REPLACE INTO snapshot (session, seq, counters)"
    " SELECT key, ?2, ?3 FROM session WHERE id = ?1";
static const char save_message_sql[] =
    "INSERT OR REPLACE INTO snapshot_message (session, position, message)"
    " SELECT key, ?2, ?3 FROM session WHERE id = ?1";
/* Rows behind the last message are left by a compaction, and nobody reads them. A save deletes some
 * of them, from the end, so that thousands of rows are no wait. */
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

/* A snapshot that is ahead of the log cannot be used. */
static const char counters_sql[] =
    "SELECT counters, seq FROM snapshot WHERE session = " KEY
    " AND seq <= (SELECT max(seq) FROM event WHERE session = " KEY ")";
static const char messages_sql[] =
    "SELECT message, position FROM snapshot_message WHERE session = " KEY
    " AND position < ?2"
    " ORDER BY position";
static const char message_sql[] =
    "SELECT message FROM snapshot_message WHERE session = " KEY " AND position = ?2";

/* ---- saving ---- */

static bool save(struct store *s, const char *session_id, const struct history *h, struct error *e)
{
    bool there = true;
    size_t first = h->unsaved;
    if (first > 0 && !sql_any(s, &there, e, has_sql, "ti", session_id, (int64_t)first - 1))
        return false;
    if (!there)
        first = 0;
    auto_free char *counters = history_counters(h);
    if (!sql_exec(s, e, save_counters_sql, "tit", session_id, h->applied_seq, counters))
        return false;
    if (sqlite3_changes(s->db) == 0)
        return err_set(e, ERR_SESSION_STORE_ERROR,
                       "session %s is not in the store; it was deleted meanwhile", session_id);
    bool ok = sql_exec(s, e, trim_sql, "ti", session_id, (int64_t)h->messages.len);
    for (size_t i = first; ok && i < h->messages.len; i++) {
        const struct message *m = &h->messages.items[i];
        assert(m->row == 0 || m->row == (int)i + 1);
        if (m->row > 0) /* its blocks are only in its row */
            continue;
        AUTO(buf_release) struct buf text = BUF_INIT;
        struct json_out o = {.buf = &text};
        shape_write(&message_shape, m, &o);
        ok = sql_exec(s, e, save_message_sql, "tit", session_id, (int64_t)i, text.data);
    }
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

bool snapshot_trim(struct store *s, const char *session_id, struct error *e)
{
    return sql_exec(s, e, trim_all_sql, "t", session_id);
}

/* ---- loading ---- */

enum { SHED_EVERY = 512 * 1024 }; /* tokens that are read: 2 MiB of text */

/* A history that is being loaded: whole, or without the messages that stay in the rows. */
struct loading {
    struct store *store;
    const char *session_id;
    struct snapshot_rows *rows; /* NULL: whole */
    int64_t tokens;             /* held of it */
    struct history *out;
    bool saves;     /* what the log has */
    bool *is_long;  /* set where the log has more than SHED_EVERY; NULL: it is read to its end */
    int64_t behind; /* tokens of the snapshot's messages that are not read yet, by its counters */
    size_t open;    /* its first message of an open turn */
    int64_t shed;   /* the history's estimate when it was last shed */
    bool turn_held; /* an open turn is not shed before it ends */
    bool unsaved;   /* saving failed */
    struct error *error;
};

/* *counters NULL: there is no snapshot. The caller frees. */
static bool load_counters(struct store *s, const char *session_id, char **counters, int64_t *seq,
                          struct error *e)
{
    *counters = NULL;
    struct query q = sql_query(s, e, counters_sql, "t", session_id);
    if (query_next(&q)) {
        *counters = query_column_text(&q, 0);
        *seq = sqlite3_column_int64(q.handle, 1);
    }
    return query_end(&q);
}

/* Reads the members before the content of the message in the first column, whose blocks stay in its
 * row. False: all of the row has to be read. */
static bool read_head(const struct query *q, struct message *out)
{
    static const char content[] = "\"content\":[";
    const char *text = (const char *)sqlite3_column_text(q->handle, 0);
    size_t len = text ? strlen(text) : 0;
    const char *found = text ? strstr(text, content) : NULL;
    bool whole = found && len == (size_t)sqlite3_column_bytes(q->handle, 0) && text[len - 1] == '}';
    if (!whole)
        return false;
    struct error cause;
    AUTO(buf_release) struct buf head = BUF_INIT;
    buf_add(&head, text, (size_t)(found - text));
    buf_addf(&head, "%s]}", content);
    AUTO(json_free_local) struct json *v = json_parse(head.data, head.len, &cause);
    return v && message_from_json(v, out, &cause) && !out->summary && !out->pinned;
}

/* The message in the first column. */
static bool read_message(const struct query *q, struct message *out, struct error *cause)
{
    const char *text = (const char *)sqlite3_column_text(q->handle, 0);
    AUTO(json_free_local)
    struct json *v = json_parse(text, (size_t)sqlite3_column_bytes(q->handle, 0), cause);
    return v && message_from_json(v, out, cause);
}

/* Returns whether SHED_EVERY was added since the last time. A compaction makes histories shorter.
 */
static bool sheds(struct loading *l)
{
    int64_t estimate = l->out->estimate;
    if (estimate < l->shed)
        l->shed = estimate;
    if (estimate - l->shed < SHED_EVERY)
        return false;
    l->shed = estimate;
    return true;
}

/* False, and what is wrong with the snapshot in `cause`, when the row is not the next message. */
static bool add_message(const struct query *q, struct loading *l, struct error *cause)
{
    struct message m;
    size_t place = l->out->messages.len;
    if (sqlite3_column_int64(q->handle, 1) != (int64_t)place)
        return err_set(cause, ERR_SESSION_STORE_ERROR, "message %zu is missing", place);
    int bytes = sqlite3_column_bytes(q->handle, 0);
    if (l->rows && l->behind > l->tokens && place < l->open && read_head(q, &m))
        m.row = (int)place + 1;
    else if (!read_message(q, &m, cause))
        return false;
    l->behind -= bytes / MESSAGE_BYTES_A_TOKEN;
    history_add_saved(l->out, m, bytes);
    if (l->rows && sheds(l))
        history_shed(l->out, l->tokens);
    return true;
}

/* Leaves an empty history when there is no snapshot that can be used. */
static bool load(struct loading *l, const struct undone_list *undone, struct error *e)
{
    struct error cause = {0};
    auto_free char *counters = NULL;
    int64_t seq;
    if (!load_counters(l->store, l->session_id, &counters, &seq, e))
        return false;
    if (!counters)
        return true;
    /* The snapshot has not the messages that a compaction or rewind dropped which was undone since.
     */
    for (size_t i = 0; i < undone->items.len; i++)
        if (undone->items.items[i].seq > seq && undone->items.items[i].of <= seq)
            return true;

    /* There may be more rows than messages. */
    struct json *v = json_parse(counters, strlen(counters), NULL);
    int64_t count = json_get_int(v, "messages", 0);
    l->behind = json_get_int(v, "estimate", 0);
    l->open = (size_t)json_get_int(v, "run_first", count);
    json_free(v);
    struct query q = sql_query(l->store, e, messages_sql, "ti", l->session_id, count);
    bool usable = true;
    while (usable && query_next(&q))
        usable = add_message(&q, l, &cause);
    if (!query_end(&q))
        return false;
    usable = usable && history_restore(l->out, counters, strlen(counters), &cause) &&
             (l->out->applied_seq == seq ||
              err_set(&cause, ERR_SESSION_STORE_ERROR, "its counters are of another event"));
    if (!usable) {
        history_release(l->out);
        log_line(LOG_ERROR, "snapshot of %s passed over: %s", l->session_id, cause.text);
    }
    return true;
}

static bool save_and_shed(struct loading *l)
{
    l->unsaved = !snapshot_save(l->store, l->session_id, l->out, l->error);
    history_shed(l->out, l->tokens);
    l->turn_held = l->out->running;
    return !l->unsaved;
}

static bool apply(void *loading, const struct event *ev)
{
    struct loading *l = loading;
    history_apply(l->out, ev);
    if (l->turn_held && !l->out->running) {
        history_shed(l->out, l->tokens);
        l->turn_held = false;
    }
    if ((!l->saves && !l->is_long) || !sheds(l))
        return true;
    if (l->is_long)
        *l->is_long = true;
    return !l->is_long && save_and_shed(l);
}

static bool resume(struct loading *l, struct error *e)
{
    bool there;
    struct undone_list undone = {0};
    if (!sql_any(l->store, &there, e, "SELECT 1 FROM session WHERE id = ?", "t", l->session_id))
        return false;
    if (!there)
        return err_set(e, ERR_SESSION_NOT_FOUND,
                       "session %s is not in the store; it was deleted meanwhile", l->session_id);
    bool ok = event_log_undone(l->store, l->session_id, &undone, e) && load(l, &undone, e);
    if (ok) {
        VEC(int64_t) completed = {0};
        for (size_t i = 0; i < undone.items.len; i++)
            vec_push(&completed, undone.items.items[i].of);
        l->out->source = l->rows ? &l->rows->source : NULL;
        history_pass_over(l->out, completed.items, completed.len);
        vec_release(&completed);
        l->error = e;
        l->shed = l->out->estimate;
        ok = event_log_read(l->store, l->session_id, l->out->applied_seq, apply, l, e) &&
             !l->unsaved && (!l->saves || save_and_shed(l));
    }
    vec_release(&undone.items);
    /* A compaction behind the snapshot reads the messages that it moves. */
    if (ok && l->rows && l->rows->source.failed) {
        *e = l->rows->source.fault;
        return false;
    }
    return ok;
}

/* In one transaction: another process may be compacting the session, or undoing that. */
static bool resume_at_once(struct loading *l, struct error *e)
{
    bool began;
    history_init(l->out);
    if (!(l->saves ? store_enter : store_step_begin)(l->store, &began, e))
        return false;
    if ((l->saves ? store_leave : store_step_end)(l->store, began, resume(l, e), e))
        return true;
    history_release(l->out);
    return false;
}

bool snapshot_resume(struct store *s, const char *session_id, struct history *out, struct error *e)
{
    struct loading l = {.store = s, .session_id = session_id, .out = out};
    return resume_at_once(&l, e);
}

static struct loading loading_of(struct snapshot_rows *rows, int64_t tokens, struct history *out)
{
    rows->source.failed = false;
    return (struct loading){.store = rows->store,
                            .session_id = rows->session_id,
                            .rows = rows,
                            .tokens = tokens,
                            .out = out};
}

bool snapshot_open(struct snapshot_rows *rows, int64_t tokens, struct history *out, bool *is_long,
                   struct error *e)
{
    struct loading l = loading_of(rows, tokens, out);
    l.is_long = is_long;
    if (!resume_at_once(&l, e))
        return false;
    if (is_long && *is_long)
        history_release(out);
    else
        history_shed(out, tokens);
    return true;
}

bool snapshot_catch_up(struct snapshot_rows *rows, int64_t tokens, struct history *out,
                       struct error *e)
{
    struct loading l = loading_of(rows, tokens, out);
    l.saves = true;
    return resume_at_once(&l, e);
}

/* ---- rows that are read one by one ---- */

static bool read_row(struct message_source *source, const struct message *m, struct message *out,
                     struct error *e)
{
    struct snapshot_rows *r = (struct snapshot_rows *)source;
    struct query q = sql_query(r->store, e, message_sql, "ti", r->session_id, (int64_t)m->row - 1);
    struct error cause;
    bool read = query_next(&q) && read_message(&q, out, &cause);
    bool same = read && out->role == m->role && out->seq == m->seq;
    if (read && !same)
        message_release(out);
    return query_end(&q) && (same || err_set(e, ERR_SESSION_STORE_ERROR,
                                             "message %lld of the session is not where it was "
                                             "kept; try again",
                                             (long long)m->seq));
}

void snapshot_rows_init(struct snapshot_rows *r, struct store *s, const char *session_id)
{
    *r = (struct snapshot_rows){.source = {.read = read_row}, .store = s};
    memcpy(r->session_id, session_id, strnlen(session_id, UUID_LEN));
}

bool snapshot_counters(struct store *s, const char *session_id, struct snapshot_counters *out,
                       struct error *e)
{
    struct error cause;
    auto_free char *counters = NULL;
    int64_t seq;
    bool ok = load_counters(s, session_id, &counters, &seq, e);
    AUTO(json_free_local)
    struct json *v = counters ? json_parse(counters, strlen(counters), &cause) : NULL;
    *out = (struct snapshot_counters){
        .known = v != NULL,
        .estimate = json_get_int(v, "estimate", 0),
        .last_input = figure_known(json_get_int(v, "last_input", -1)),
        .unpriced = json_get_int(v, "unpriced", 0),
        .compactions = (int)json_len(json_get(v, "compactions")),
        .suspended = json_get_bool(v, "suspended", false),
    };
    shape_read(&request_measure_shape, v, &out->measure, &cause); /* else it is unmeasured */
    return ok;
}
