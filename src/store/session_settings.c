#include "store/session_settings.h"

#include "store/sql.h"

static const char get_sql[] = "SELECT value FROM session_setting WHERE session = ? AND name = ?";
static const char put_sql[] = "INSERT OR REPLACE INTO session_setting VALUES (?, ?, ?)";
static const char drop_sql[] = "DELETE FROM session_setting WHERE session = ? AND name = ?";
static const char copy_sql[] =
    "INSERT OR REPLACE INTO session_setting (session, name, value)"
    " SELECT ?2, name, value FROM session_setting WHERE session = ?1";

bool session_setting_get(struct store *s, const char *session_id, const char *name, char **out,
                         struct error *e)
{
    *out = NULL;
    struct query q = query_for(s, get_sql, session_id, e);
    query_text(&q, name);
    if (query_next(&q))
        *out = query_column_text(&q, 0);
    return query_end(&q);
}

bool session_setting_put(struct store *s, const char *session_id, const char *name,
                         const char *value, struct error *e)
{
    struct query q = query_for(s, value ? put_sql : drop_sql, session_id, e);
    query_text(&q, name);
    if (value)
        query_text(&q, value);
    return query_run(&q);
}

bool session_settings_copy(struct store *s, const char *from, const char *to, struct error *e)
{
    struct query q = query_for(s, copy_sql, from, e);
    query_text(&q, to);
    return query_run(&q);
}
