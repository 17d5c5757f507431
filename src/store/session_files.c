#include "store/session_files.h"

#include <string.h>

#include "store/sql.h"

/* ---- how far they are written ---- */

static const char projected_sql[] =
    "SELECT seq, transcript_bytes, events_bytes FROM projected"
    " WHERE session = (SELECT key FROM session WHERE id = ?)";
static const char put_projected_sql[] =
    "INSERT OR REPLACE INTO projected (session, seq, transcript_bytes, events_bytes)"
    " SELECT key, ?2, ?3, ?4 FROM session WHERE id = ?1";

bool projected_get(struct store *s, const char *session_id, struct projected *out, struct error *e)
{
    *out = (struct projected){0};
    struct query q = query_for(s, projected_sql, session_id, e);
    if (query_next(&q))
        *out = (struct projected){.seq = sqlite3_column_int64(q.handle, 0),
                                  .transcript_bytes = sqlite3_column_int64(q.handle, 1),
                                  .events_bytes = sqlite3_column_int64(q.handle, 2)};
    return query_end(&q);
}

bool projected_put(struct store *s, const char *session_id, const struct projected *p,
                   struct error *e)
{
    struct query q = query_for(s, put_projected_sql, session_id, e);
    query_int(&q, p->seq);
    query_int(&q, p->transcript_bytes);
    query_int(&q, p->events_bytes);
    return query_run(&q) &&
           (sqlite3_changes(s->db) > 0 ||
            err_set(e, ERR_SESSION_NOT_FOUND,
                    "session %s is not in the store; it was deleted meanwhile", session_id));
}

/* ---- those that are to be removed ---- */

static const char some_sql[] = "SELECT session FROM removal ORDER BY random() LIMIT ?";

void removals_release(struct removals *r)
{
    vec_release(&r->items);
}

static void take_id(struct removals *out, const char *id)
{
    struct removal r;
    if (!uuid_valid(id))
        return;
    memcpy(r.id, id, sizeof r.id);
    vec_push(&out->items, r);
}

bool removals_some(struct store *s, int limit, struct removals *out, struct error *e)
{
    *out = (struct removals){0};
    struct query q = query_begin(s, some_sql, e);
    query_int(&q, limit);
    while (query_next(&q))
        take_id(out, (const char *)sqlite3_column_text(q.handle, 0));
    return query_end(&q);
}

bool removals_has(struct store *s, const char *id, bool *out, struct error *e)
{
    *out = false;
    struct query q = query_for(s, "SELECT 1 FROM removal WHERE session = ?", id, e);
    return query_any(&q, out);
}

bool removals_strike(struct store *s, const char *id, struct error *e)
{
    struct query q = query_for(s, "DELETE FROM removal WHERE session = ?", id, e);
    return query_run(&q);
}
