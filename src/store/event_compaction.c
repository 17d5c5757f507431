#include <stdlib.h>

#include "store/event_log.h"
#include "store/sql.h"

#define OF_SESSION " WHERE session = (SELECT key FROM session WHERE id = ?1)"
#define INDEXED                                                                                    \
    " AND type IN ('compaction_completed', 'compaction_undone')" /* as the index has it */
#define UNDONE                                                                                     \
    " FROM event INDEXED BY event_compaction" OF_SESSION " AND type = 'compaction_undone'" INDEXED \
    " AND iif(json_valid(payload), json_type(payload, '$.of'), NULL) = 'integer'"                  \
    " AND json_extract(payload, '$.of') < seq"

static const char undone_sql[] = "SELECT json_extract(payload, '$.of'), seq" UNDONE " ORDER BY seq";
static const char summary_sql[] =
    "SELECT json_extract(payload, '$.summary') FROM event INDEXED BY event_compaction" OF_SESSION
    " AND type = 'compaction_completed'" INDEXED
    " AND seq NOT IN (SELECT json_extract(payload, '$.of')" UNDONE
    ") AND iif(json_valid(payload), json_type(payload, '$.summary'), NULL) = 'text'"
    " AND json_extract(payload, '$.summary') <> '' ORDER BY seq DESC LIMIT 1";

/* All of them, undone ones too: the log still has their summaries. */
static const char summaries_sql[] =
    "SELECT seq, json_extract(payload, '$.summary') FROM event INDEXED BY "
    "event_compaction" OF_SESSION " AND type = 'compaction_completed'" INDEXED
    " AND iif(json_valid(payload), json_type(payload, '$.summary'), NULL) = 'text' ORDER BY seq";

bool event_log_undone(struct store *s, const char *session_id, struct undone_list *out,
                      struct error *e)
{
    *out = (struct undone_list){0};
    struct query q = query_for(s, undone_sql, session_id, e);
    while (query_next(&q))
        vec_push(&out->items, (struct undone){.of = sqlite3_column_int64(q.handle, 0),
                                              .seq = sqlite3_column_int64(q.handle, 1)});
    if (query_end(&q))
        return true;
    vec_release(&out->items);
    return false;
}

bool event_log_summary(struct store *s, const char *session_id, char **text, struct error *e)
{
    *text = NULL;
    struct query q = query_for(s, summary_sql, session_id, e);
    if (query_next(&q))
        *text = query_column_text(&q, 0);
    return query_end(&q);
}

bool event_log_summaries(struct store *s, const char *session_id,
                         void (*visit)(void *context, int64_t seq, const char *summary),
                         void *context, struct error *e)
{
    struct query q = query_for(s, summaries_sql, session_id, e);
    while (query_next(&q)) {
        const char *summary = (const char *)sqlite3_column_text(q.handle, 1);
        if (summary)
            visit(context, sqlite3_column_int64(q.handle, 0), summary);
    }
    return query_end(&q);
}
