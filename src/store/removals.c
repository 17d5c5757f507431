#include "store/removals.h"

#include <string.h>

#include "store/sql.h"

static const char some_sql[] = "SELECT session FROM removal ORDER BY random() LIMIT ?";
static const char has_sql[] = "SELECT 1 FROM removal WHERE session = ?";
static const char strike_sql[] = "DELETE FROM removal WHERE session = ?";

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
    struct query q;
    enum query_result result;
    *out = (struct removals){0};
    if (!query_begin(&q, s, some_sql, e))
        return false;
    query_int(&q, limit);
    while ((result = query_step(&q, e)) == QUERY_ROW)
        take_id(out, (const char *)sqlite3_column_text(q.handle, 0));
    query_end(&q);
    return result == QUERY_DONE;
}

bool removals_has(struct store *s, const char *id, bool *out, struct error *e)
{
    struct query q;
    *out = false;
    if (!query_begin(&q, s, has_sql, e))
        return false;
    query_text(&q, id);
    return query_any(&q, out, e);
}

bool removals_strike(struct store *s, const char *id, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, strike_sql, e))
        return false;
    query_text(&q, id);
    return query_run(&q, e);
}
