/* The next index of words: it grows beside the one that is searched, in as many transactions as it
 * takes, until it takes its place. What comes, changes and goes meanwhile among the texts that it
 * has is written to both. A key among the settings of the present index says how far it is; FTS5
 * passes over those that it does not know, and drops them with the index. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/words_private.h"

static const char key_sql[] = "SELECT v FROM #_words_config WHERE k = 'tiro_next'";
static const char reach_sql[] =
    "INSERT OR REPLACE INTO #_words_config (k, v) VALUES ('tiro_next', ?)";
static const char unkey_sql[] = "DELETE FROM #_words_config WHERE k = 'tiro_next'";
static const char add_sql[] = "INSERT INTO #_words_next (rowid, words) VALUES (?, ?)";
static const char remove_sql[] =
    "INSERT INTO #_words_next (#_words_next, rowid, words) VALUES ('delete', ?, ?)";
static const char made_sql[] = "SELECT sql FROM sqlite_schema WHERE name = '#_words_next'";
static const char old_sql[] = "SELECT 1 FROM sqlite_schema WHERE name = '#_words_old'";

/* ---- one that grows ---- */

bool words_next_key(const struct corpus *c, int64_t *key, bool *there, struct error *e)
{
    struct query q;
    *key = -1;
    if (!corpus_query(&q, c, key_sql, e))
        return false;
    enum query_result result = query_step(&q, e);
    *there = result == QUERY_ROW;
    if (*there)
        *key = sqlite3_column_int64(q.handle, 0);
    query_end(&q);
    return result != QUERY_FAILED;
}

bool words_next_reach(const struct corpus *c, int64_t key, struct error *e)
{
    struct query q;
    if (!corpus_query(&q, c, reach_sql, e))
        return false;
    query_int(&q, key);
    return query_run(&q, e);
}

static bool write_text(const struct corpus *c, const char *sql, int64_t key, const char *text,
                       struct error *e)
{
    struct query q;
    if (!corpus_query(&q, c, sql, e))
        return false;
    query_int(&q, key);
    query_text(&q, text);
    return query_run(&q, e);
}

bool words_next_add(const struct corpus *c, int64_t key, const char *text, struct error *e)
{
    return write_text(c, add_sql, key, text, e);
}

bool words_next_change(const struct corpus *c, int64_t key, const char *text, bool add,
                       struct error *e)
{
    int64_t reached;
    bool there;
    if (!words_next_key(c, &reached, &there, e))
        return false;
    return !there || key > reached || write_text(c, add ? add_sql : remove_sql, key, text, e);
}

static bool is_language(const struct corpus *c, const char *language, bool *out, struct error *e)
{
    struct query q;
    if (!corpus_query(&q, c, made_sql, e))
        return false;
    enum query_result result = query_step(&q, e);
    char *sql = result == QUERY_ROW ? query_column_text(&q, 0) : NULL;
    char *wanted = mem_printf("'tiro %s'", language);
    query_end(&q);
    *out = sql && strstr(sql, wanted);
    free(wanted);
    free(sql);
    return result != QUERY_FAILED;
}

static bool make(const struct corpus *c, const char *language, struct error *e)
{
    return words_make_table(c, "_next", language, e) && words_next_reach(c, -1, e);
}

/* One of another language is given up. */
static bool give_up(const struct corpus *c, struct error *e)
{
    struct query q;
    return corpus_exec(c, "ALTER TABLE #_words_next RENAME TO #_words_old", e) &&
           corpus_query(&q, c, unkey_sql, e) && query_run(&q, e);
}

bool words_next_begin(const struct corpus *c, const char *language, bool *begun, struct error *e)
{
    int64_t key;
    bool there, fits = true;
    if (!words_next_key(c, &key, &there, e) || (there && !is_language(c, language, &fits, e)))
        return false;
    *begun = fits;
    if (!fits)
        return give_up(c, e);
    return there || make(c, language, e);
}

/* What is to be purged of the old one may be in this one, too. */
bool words_next_use(const struct corpus *c, struct error *e)
{
    return corpus_exec(c,
                       "INSERT OR IGNORE INTO #_words_next_config (k, v)"
                       " SELECT k, v FROM #_words_config WHERE k = 'tiro_purge';"
                       "ALTER TABLE #_words RENAME TO #_words_old;"
                       "ALTER TABLE #_words_next RENAME TO #_words",
                       e);
}

/* ---- one that is over ---- */

bool words_old_waits(const struct corpus *c, bool *out, struct error *e)
{
    return corpus_has(c, old_sql, out, e);
}

/* The first rows are FTS5's notes and settings, without which it would not drop the table. */
bool words_old_clear(const struct corpus *c, bool *more, struct error *e)
{
    static const char *const steps[] = {
        "DELETE FROM #_words_old_data WHERE id IN"
        " (SELECT id FROM #_words_old_data WHERE id > 10 LIMIT 256)",
        "DELETE FROM #_words_old_docsize WHERE id IN"
        " (SELECT id FROM #_words_old_docsize LIMIT 8192)",
        "DELETE FROM #_words_old_idx WHERE (segid, term) IN"
        " (SELECT segid, term FROM #_words_old_idx LIMIT 1024)"};
    *more = false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !*more; i++) {
        if (!corpus_exec(c, steps[i], e))
            return false;
        *more = sqlite3_changes(c->store->db) > 0;
    }
    return *more || words_old_drop(c, e);
}

bool words_old_drop(const struct corpus *c, struct error *e)
{
    return corpus_exec(c, "DROP TABLE IF EXISTS #_words_old", e);
}
