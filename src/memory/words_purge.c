/* Taking what was removed really out of the index of words: merging all of it. */
#include "memory/words.h"
#include "store/sql.h"

static const char merge_all_sql[] = "INSERT INTO memory_words (memory_words) VALUES ('optimize')";
/* Pages that are written at a time; a negative number merges whatever there is. */
static const char merge_some_sql[] =
    "INSERT INTO memory_words (memory_words, rank) VALUES ('merge', -64)";
/* FTS5 passes over settings that it does not know, and drops them with the index. */
static const char mark_sql[] =
    "INSERT OR REPLACE INTO memory_words_config (k, v) VALUES ('tiro_purge', 1)";
static const char unmark_sql[] = "DELETE FROM memory_words_config WHERE k = 'tiro_purge'";
static const char marked_sql[] = "SELECT 1 FROM memory_words_config WHERE k = 'tiro_purge'";

static bool run(struct store *s, const char *sql, struct error *e)
{
    struct query q;
    return query_begin(&q, s, sql, e) && query_run(&q, e);
}

bool words_purge(struct store *s, struct error *e)
{
    return run(s, merge_all_sql, e) && run(s, unmark_sql, e);
}

bool words_purge_later(struct store *s, struct error *e)
{
    return run(s, mark_sql, e);
}

bool words_purge_waits(struct store *s, bool *out, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, marked_sql, e))
        return false;
    enum query_result result = query_step(&q, e);
    *out = result == QUERY_ROW;
    query_end(&q);
    return result != QUERY_FAILED;
}

/* A merge that finds nothing to do counts as one change. */
bool words_purge_step(struct store *s, bool *more, struct error *e)
{
    int before = sqlite3_total_changes(s->db);
    if (!run(s, merge_some_sql, e))
        return false;
    *more = sqlite3_total_changes(s->db) - before > 1;
    return *more || run(s, unmark_sql, e);
}
