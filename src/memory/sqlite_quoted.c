#include "base/mem.h"
#include "memory/quote.h"
#include "memory/sqlite_private.h"

/* All of them, undone ones too: the log still has their summaries. */
static const char summaries_sql[] =
    "SELECT seq, json_extract(payload, '$.summary') FROM event INDEXED BY event_compaction"
    " WHERE session = (SELECT key FROM session WHERE id = ?) AND type = 'compaction_completed'"
    " AND type IN ('compaction_completed', 'compaction_undone')"
    " AND iif(json_valid(payload), json_type(payload, '$.summary'), NULL) = 'text' ORDER BY seq";
static const char turn_sql[] =
    "SELECT count(*) FROM event WHERE session = (SELECT key FROM session WHERE id = ?)"
    " AND seq < ? AND type = 'run_started' AND json_valid(payload)"
    " AND ifnull(json_extract(payload, '$.retries'), 0) = 0";
static const char flag_sql[] =
    "INSERT OR IGNORE INTO memory_flag (session, compaction, entry) VALUES (?1 >> 24, ?2, ?3)";
static const char unflag_sql[] = "DELETE FROM memory_flag WHERE session = ?1 >> 24 AND entry = ?2";
static const char flagged_sql[] =
    "SELECT 1 FROM memory_flag WHERE session ="
    " (SELECT number FROM memory_session WHERE id = ?1)"
    " AND compaction = ?2";

static bool keep_flag(struct store *s, const struct memory_row *row, int64_t seq, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, flag_sql, e))
        return false;
    query_int(&q, row->key);
    query_int(&q, seq);
    query_text(&q, row->entry.id);
    return query_run(&q, e);
}

static bool turn_of(struct store *s, const char *session_id, int64_t seq, int *turn,
                    struct error *e)
{
    struct query q;
    *turn = 0;
    if (!query_begin(&q, s, turn_sql, e))
        return false;
    query_text(&q, session_id);
    query_int(&q, seq);
    enum query_result result = query_step(&q, e);
    if (result == QUERY_ROW)
        *turn = sqlite3_column_int(q.handle, 0);
    query_end(&q);
    return result != QUERY_FAILED;
}

struct summary_numbers {
    VEC(int64_t) items;
};

static bool find_quoting(struct store *s, const struct memory_row *row, struct summary_numbers *out,
                         struct error *e)
{
    struct query q;
    enum query_result result;
    if (!query_begin(&q, s, summaries_sql, e))
        return false;
    query_text(&q, row->entry.session_id);
    while ((result = query_step(&q, e)) == QUERY_ROW) {
        const char *summary = (const char *)sqlite3_column_text(q.handle, 1);
        if (summary && quote_in(summary, row->entry.content))
            vec_push(&out->items, sqlite3_column_int64(q.handle, 0));
    }
    query_end(&q);
    return result != QUERY_FAILED;
}

static bool is_told(const struct memory_forgotten *f, const char *session_id, int64_t seq)
{
    for (size_t i = 0; i < f->summaries.len; i++)
        if (f->summaries.items[i].completed_seq == seq &&
            strcmp(f->summaries.items[i].session_id, session_id) == 0)
            return true;
    return false;
}

static bool add_summary(struct store *s, const char *session_id, int64_t seq,
                        struct memory_forgotten *out, struct error *e)
{
    int turn;
    if (!out || is_told(out, session_id, seq))
        return true;
    if (!turn_of(s, session_id, seq, &turn, e))
        return false;
    vec_push(&out->summaries, (struct quoting_summary){mem_strdup(session_id), seq, turn});
    return true;
}

bool sqlite_flag_quoting(struct store *s, const struct memory_row *row,
                         struct memory_forgotten *out, struct error *e)
{
    struct summary_numbers found = {0};
    bool ok = find_quoting(s, row, &found, e);
    for (size_t i = 0; i < found.items.len && ok; i++)
        ok = keep_flag(s, row, found.items.items[i], e) &&
             add_summary(s, row->entry.session_id, found.items.items[i], out, e);
    vec_release(&found.items);
    return ok;
}

bool sqlite_unflag(struct store *s, const struct memory_row *row, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, unflag_sql, e))
        return false;
    query_int(&q, row->key);
    query_text(&q, row->entry.id);
    return query_run(&q, e);
}

bool sqlite_memory_flagged(struct memory *m, const char *session_id, int64_t completed_seq,
                           bool *out, struct error *e)
{
    struct query q;
    *out = false;
    if (!query_begin(&q, sqlite_memory_of(m)->store, flagged_sql, e))
        return false;
    query_text(&q, session_id);
    query_int(&q, completed_seq);
    enum query_result result = query_step(&q, e);
    *out = result == QUERY_ROW;
    query_end(&q);
    return result != QUERY_FAILED;
}
