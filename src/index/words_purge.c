/* Taking what was removed really out of the index of words: merging all of it, and of the next one;
 * an old one goes altogether. */
#include "index/words.h"
#include "store/sql.h"

static const char merge_all_sql[] = "INSERT INTO memory_words (memory_words) VALUES ('optimize')";
static const char merge_all_next_sql[] =
    "INSERT INTO memory_words_next (memory_words_next) VALUES ('optimize')";
/* Pages that are written at a time; a negative number merges whatever there is. */
static const char merge_some_sql[] =
    "INSERT INTO memory_words (memory_words, rank) VALUES ('merge', -64)";
static const char merge_some_next_sql[] =
    "INSERT INTO memory_words_next (memory_words_next, rank) VALUES ('merge', -64)";
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

static bool has_next(struct store *s, bool *out, struct error *e)
{
    int64_t key;
    return words_next_key(s, &key, out, e);
}

bool words_purge(struct store *s, struct error *e)
{
    bool next = false;
    return words_old_drop(s, e) && run(s, merge_all_sql, e) && has_next(s, &next, e) &&
           (!next || run(s, merge_all_next_sql, e)) && run(s, unmark_sql, e);
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
static bool merge_some(struct store *s, const char *sql, bool *more, struct error *e)
{
    int before = sqlite3_total_changes(s->db);
    bool ok = run(s, sql, e);
    *more = ok && sqlite3_total_changes(s->db) - before > 1;
    return ok;
}

static bool purge_next(struct store *s, bool *more, struct error *e)
{
    bool next = false;
    return has_next(s, &next, e) && (!next || merge_some(s, merge_some_next_sql, more, e));
}

bool words_purge_step(struct store *s, bool *more, struct error *e)
{
    bool old;
    if (!merge_some(s, merge_some_sql, more, e) || *more || !words_old_waits(s, &old, e))
        return *more;
    if (old ? !words_old_clear(s, more, e) : !purge_next(s, more, e))
        return false;
    *more = *more || old; /* then it is the next one's turn */
    return *more || run(s, unmark_sql, e);
}
