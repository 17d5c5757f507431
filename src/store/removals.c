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
    struct query q = query_for(s, has_sql, id, e);
    return query_any(&q, out);
}

bool removals_strike(struct store *s, const char *id, struct error *e)
{
    struct query q = query_for(s, strike_sql, id, e);
    return query_run(&q);
}
