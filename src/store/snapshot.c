#include "store/snapshot.h"

#include <stdlib.h>

#include "base/log.h"
#include "store/event_log.h"
#include "store/sql.h"

static const char save_sql[] =
    "INSERT OR REPLACE INTO snapshot (session, seq, history)"
    " SELECT key, ?2, ?3 FROM session WHERE id = ?1";

/* A snapshot that knows more than the log has nothing to stand on. */
static const char load_sql[] =
    "SELECT history FROM snapshot JOIN session ON session.key = snapshot.session"
    " WHERE session.id = ?"
    " AND seq <= (SELECT max(seq) FROM event WHERE event.session = session.key)";
static const char exists_sql[] = "SELECT 1 FROM session WHERE id = ?";

bool snapshot_save(struct store *s, const char *session_id, const struct history *h,
                   struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, save_sql, e))
        return false;
    char *text = history_to_json(h);
    query_text(&q, session_id);
    query_int(&q, h->applied_seq);
    query_text(&q, text);
    bool ok = query_run(&q, e);
    free(text);
    return ok &&
           (sqlite3_changes(s->db) > 0 ||
            err_set(e, ERR_SESSION_STORE_ERROR, "session %s is not in the store", session_id));
}

/* Leaves an empty history when there is no snapshot that can be used. */
static bool load(struct store *s, const char *session_id, struct history *out, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, load_sql, e))
        return false;
    query_text(&q, session_id);
    enum query_result result = query_step(&q, e);
    if (result == QUERY_ROW) {
        struct error cause;
        const char *text = (const char *)sqlite3_column_text(q.handle, 0);
        size_t len = (size_t)sqlite3_column_bytes(q.handle, 0);
        if (!history_from_json(text, len, out, &cause))
            log_line(LOG_ERROR, "snapshot of %s passed over: %s", session_id, cause.text);
    }
    query_end(&q);
    return result != QUERY_FAILED;
}

static bool apply(void *context, const struct event *ev)
{
    history_apply(context, ev);
    return true;
}

static bool exists(struct store *s, const char *session_id, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, exists_sql, e))
        return false;
    query_text(&q, session_id);
    enum query_result result = query_step(&q, e);
    query_end(&q);
    return result == QUERY_ROW ||
           (result == QUERY_DONE &&
            err_set(e, ERR_SESSION_NOT_FOUND, "session %s is not in the store", session_id));
}

bool snapshot_resume(struct store *s, const char *session_id, struct history *out, struct error *e)
{
    history_init(out);
    if (exists(s, session_id, e) && load(s, session_id, out, e) &&
        event_log_read(s, session_id, out->applied_seq, apply, out, e))
        return true;
    history_release(out);
    return false;
}
