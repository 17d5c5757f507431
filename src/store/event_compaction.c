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
    struct query q;
    enum query_result result;
    *out = (struct undone_list){0};
    if (!query_begin(&q, s, undone_sql, e))
        return false;
    query_text(&q, session_id);
    while ((result = query_step(&q, e)) == QUERY_ROW)
        vec_push(&out->items, (struct undone){.of = sqlite3_column_int64(q.handle, 0),
                                              .seq = sqlite3_column_int64(q.handle, 1)});
    query_end(&q);
    if (result == QUERY_FAILED)
        vec_release(&out->items);
    return result != QUERY_FAILED;
}

bool event_log_summary(struct store *s, const char *session_id, char **text, struct error *e)
{
    struct query q;
    *text = NULL;
    if (!query_begin(&q, s, summary_sql, e))
        return false;
    query_text(&q, session_id);
    enum query_result result = query_step(&q, e);
    if (result == QUERY_ROW)
        *text = query_column_text(&q, 0);
    query_end(&q);
    return result != QUERY_FAILED;
}

bool event_log_summaries(struct store *s, const char *session_id,
                         void (*visit)(void *context, int64_t seq, const char *summary),
                         void *context, struct error *e)
{
    struct query q;
    enum query_result result;
    if (!query_begin(&q, s, summaries_sql, e))
        return false;
    query_text(&q, session_id);
    while ((result = query_step(&q, e)) == QUERY_ROW) {
        const char *summary = (const char *)sqlite3_column_text(q.handle, 1);
        if (summary)
            visit(context, sqlite3_column_int64(q.handle, 0), summary);
    }
    query_end(&q);
    return result != QUERY_FAILED;
}
