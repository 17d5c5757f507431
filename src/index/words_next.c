/* The next index of words: it grows beside the one that is searched, in as many transactions as it
 * takes, until it takes its place. What comes, changes and goes meanwhile among the entries that it
 * has is written to both. A key among the settings of the present index says how far it is; FTS5
 * passes over those that it does not know, and drops them with the index. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/words.h"
#include "store/language.h"
#include "store/sql.h"

static const char key_sql[] = "SELECT v FROM memory_words_config WHERE k = 'tiro_next'";
static const char reach_sql[] =
    "INSERT OR REPLACE INTO memory_words_config (k, v) VALUES ('tiro_next', ?)";
static const char unkey_sql[] = "DELETE FROM memory_words_config WHERE k = 'tiro_next'";
static const char add_sql[] = "INSERT INTO memory_words_next (rowid, words) VALUES (?, ?)";
static const char remove_sql[] =
    "INSERT INTO memory_words_next (memory_words_next, rowid, words) VALUES ('delete', ?, ?)";
static const char made_sql[] = "SELECT sql FROM sqlite_schema WHERE name = 'memory_words_next'";
static const char old_sql[] = "SELECT 1 FROM sqlite_schema WHERE name = 'memory_words_old'";

/* ---- one that grows ---- */

bool words_next_key(struct store *s, int64_t *key, bool *there, struct error *e)
{
    struct query q;
    *key = -1;
    if (!query_begin(&q, s, key_sql, e))
        return false;
    enum query_result result = query_step(&q, e);
    *there = result == QUERY_ROW;
    if (*there)
        *key = sqlite3_column_int64(q.handle, 0);
    query_end(&q);
    return result != QUERY_FAILED;
}

bool words_next_reach(struct store *s, int64_t key, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, reach_sql, e))
        return false;
    query_int(&q, key);
    return query_run(&q, e);
}

static bool write_text(struct store *s, const char *sql, int64_t key, const char *text,
                       struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, sql, e))
        return false;
    query_int(&q, key);
    query_text(&q, text);
    return query_run(&q, e);
}

bool words_next_add(struct store *s, int64_t key, const char *text, struct error *e)
{
    return write_text(s, add_sql, key, text, e);
}

bool words_next_change(struct store *s, int64_t key, const char *text, bool add, struct error *e)
{
    int64_t reached;
    bool there;
    if (!words_next_key(s, &reached, &there, e))
        return false;
    return !there || key > reached || write_text(s, add ? add_sql : remove_sql, key, text, e);
}

static bool is_language(struct store *s, const char *language, bool *out, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, made_sql, e))
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

static bool make(struct store *s, const char *language, struct error *e)
{
    assert(language_known(language));
    char *sql = mem_printf(WORDS_TABLE_SQL("memory_words_next"), language);
    bool ok = store_exec(s, sql, e) && words_next_reach(s, -1, e);
    free(sql);
    return ok;
}

/* One of another language is given up. */
static bool give_up(struct store *s, struct error *e)
{
    struct query q;
    return store_exec(s, "ALTER TABLE memory_words_next RENAME TO memory_words_old", e) &&
           query_begin(&q, s, unkey_sql, e) && query_run(&q, e);
}

bool words_next_begin(struct store *s, const char *language, bool *begun, struct error *e)
{
    int64_t key;
    bool there, fits = true;
    if (!words_next_key(s, &key, &there, e) || (there && !is_language(s, language, &fits, e)))
        return false;
    *begun = fits;
    if (!fits)
        return give_up(s, e);
    return there || make(s, language, e);
}

/* What is to be purged of the old one may be in this one, too. */
bool words_next_use(struct store *s, struct error *e)
{
    return store_exec(s,
                      "INSERT OR IGNORE INTO memory_words_next_config (k, v)"
                      " SELECT k, v FROM memory_words_config WHERE k = 'tiro_purge';"
                      "ALTER TABLE memory_words RENAME TO memory_words_old;"
                      "ALTER TABLE memory_words_next RENAME TO memory_words",
                      e);
}

/* ---- one that is over ---- */

bool words_old_waits(struct store *s, bool *out, struct error *e)
{
    struct query q;
    *out = false;
    if (!query_begin(&q, s, old_sql, e))
        return false;
    enum query_result result = query_step(&q, e);
    *out = result == QUERY_ROW;
    query_end(&q);
    return result != QUERY_FAILED;
}

/* The first rows are FTS5's notes and settings, without which it would not drop the table. */
bool words_old_clear(struct store *s, bool *more, struct error *e)
{
    static const char *const steps[] = {
        "DELETE FROM memory_words_old_data WHERE id IN"
        " (SELECT id FROM memory_words_old_data WHERE id > 10 LIMIT 256)",
        "DELETE FROM memory_words_old_docsize WHERE id IN"
        " (SELECT id FROM memory_words_old_docsize LIMIT 8192)",
        "DELETE FROM memory_words_old_idx WHERE (segid, term) IN"
        " (SELECT segid, term FROM memory_words_old_idx LIMIT 1024)"};
    *more = false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !*more; i++) {
        if (!store_exec(s, steps[i], e))
            return false;
        *more = sqlite3_changes(s->db) > 0;
    }
    return *more || words_old_drop(s, e);
}

bool words_old_drop(struct store *s, struct error *e)
{
    return store_exec(s, "DROP TABLE IF EXISTS memory_words_old", e);
}
