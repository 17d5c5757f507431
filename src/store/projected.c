#include "store/projected.h"

#include "store/sql.h"

static const char get_sql[] =
    "SELECT seq, transcript_bytes, events_bytes FROM projected"
    " WHERE session = (SELECT key FROM session WHERE id = ?)";
static const char put_sql[] =
    "INSERT OR REPLACE INTO projected (session, seq, transcript_bytes, events_bytes)"
    " SELECT key, ?2, ?3, ?4 FROM session WHERE id = ?1";

bool projected_get(struct store *s, const char *session_id, struct projected *out, struct error *e)
{
    *out = (struct projected){0};
    struct query q = query_for(s, get_sql, session_id, e);
    if (query_next(&q))
        *out = (struct projected){.seq = sqlite3_column_int64(q.handle, 0),
                                  .transcript_bytes = sqlite3_column_int64(q.handle, 1),
                                  .events_bytes = sqlite3_column_int64(q.handle, 2)};
    return query_end(&q);
}

bool projected_put(struct store *s, const char *session_id, const struct projected *p,
                   struct error *e)
{
    struct query q = query_for(s, put_sql, session_id, e);
    query_int(&q, p->seq);
    query_int(&q, p->transcript_bytes);
    query_int(&q, p->events_bytes);
    return query_run(&q) &&
           (sqlite3_changes(s->db) > 0 ||
            err_set(e, ERR_SESSION_NOT_FOUND,
                    "session %s is not in the store; it was deleted meanwhile", session_id));
}
