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
static const char message_sql[] =
    "SELECT message FROM snapshot_message WHERE session = " KEY " AND position = ?2";

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

/* Which is where a message that has no blocks has them. */
static bool save_unless_there(struct store *s, const char *session_id, size_t position,
                              const struct message *m, struct error *e)
{
    assert(m->row == 0 || m->row == (int)position + 1);
    return m->row > 0 || save_message(s, session_id, position, m, e);
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
        ok = save_unless_there(s, session_id, i, &h->messages.items[i], e);
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

enum { SHED_EVERY = 512 * 1024 }; /* tokens that are read: 2 MiB of text */

/* Where a history goes: whole, or what is not left in the rows. */
struct loading {
    struct store *store;
    const char *session_id;
    struct snapshot_rows *rows; /* NULL: whole */
    int64_t tokens;             /* held of it */
    struct history *out;
    bool saves;     /* what the log has */
    bool *is_long;  /* set where the log has more than SHED_EVERY; NULL: it is read to its end */
    int64_t shed;   /* the history's estimate when it was last shed */
    bool turn_held; /* an open turn is not shed before it ends */
    bool unsaved;   /* saving failed */
    struct error *error;
};

struct loaded {
    char *counters; /* NULL: there is no snapshot that can be used */
    int64_t seq;
    bool whole; /* every message could be read */
};

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

/* The message in the first column. */
static bool read_message(const struct query *q, struct message *out, struct error *cause)
{
    const char *text = (const char *)sqlite3_column_text(q->handle, 0);
    struct json *v = json_parse(text, (size_t)sqlite3_column_bytes(q->handle, 0), cause);
    bool ok = v && message_from_json(v, out, cause);
    json_free(v);
    return ok;
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
    if (!read_message(q, &m, cause))
        return false;
    history_add_saved(l->out, m);
    if (l->rows && sheds(l))
        history_shed(l->out, l->tokens);
    return true;
}

static bool load_messages(struct loading *l, struct loaded *found, struct error *cause,
                          struct error *e)
{
    struct query q = query_for(l->store, messages_sql, l->session_id, e);
    query_int(&q, message_count(found));
    found->whole = true;
    while (found->whole && query_next(&q))
        found->whole = add_message(&q, l, cause);
    return query_end(&q);
}

static bool restore(const struct loaded *l, struct history *out, struct error *cause)
{
    return history_restore(out, l->counters, strlen(l->counters), cause) &&
           (out->applied_seq == l->seq ||
            err_set(cause, ERR_SESSION_STORE_ERROR, "its counters are of another event"));
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

static bool load_found(struct loading *l, const struct undone_list *undone, struct loaded *found,
                       struct error *cause, struct error *e)
{
    if (!load_counters(l->store, l->session_id, found, e))
        return false;
    if (found->counters && is_outdated(found, undone)) {
        free(found->counters);
        found->counters = NULL;
    }
    return !found->counters || load_messages(l, found, cause, e);
}

/* Leaves an empty history when there is no snapshot that can be used. */
static bool load(struct loading *l, const struct undone_list *undone, struct error *e)
{
    struct error cause = {0};
    struct loaded found = {0};
    bool ok = load_found(l, undone, &found, &cause, e);
    if (ok && found.counters && (!found.whole || !restore(&found, l->out, &cause))) {
        history_release(l->out);
        log_line(LOG_ERROR, "snapshot of %s passed over: %s", l->session_id, cause.text);
    }
    free(found.counters);
    return ok;
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

static bool read_log(struct loading *l, struct error *e)
{
    l->error = e;
    l->shed = l->out->estimate;
    return event_log_read(l->store, l->session_id, l->out->applied_seq, apply, l, e) &&
           !l->unsaved && (!l->saves || save_and_shed(l));
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

/* What a compaction behind the snapshot moved was read. */
static bool rows_hold(const struct snapshot_rows *rows, struct error *e)
{
    if (rows && rows->source.failed)
        *e = rows->source.fault;
    return !rows || !rows->source.failed;
}

static bool resume(struct loading *l, struct error *e)
{
    struct history *out = l->out;
    struct undone_list undone = {0};
    bool ok = exists(l->store, l->session_id, e) &&
              event_log_undone(l->store, l->session_id, &undone, e) && load(l, &undone, e);
    if (ok) {
        out->source = l->rows ? &l->rows->source : NULL;
        pass_over(out, &undone);
        ok = read_log(l, e) && rows_hold(l->rows, e);
    }
    vec_release(&undone.items);
    return ok;
}

/* One look at the database: another process may be compacting the session, or undoing it. */
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
    struct query q = query_for(r->store, message_sql, r->session_id, e);
    query_int(&q, m->row - 1);
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
    free(l.counters);
    return ok;
}
