/* The next index of words: it grows beside the one that is searched, in as many transactions as it
 * takes, until it takes its place. What comes, changes and goes meanwhile among the texts that it
 * has is written to both. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/words_private.h"

static const char key_sql[] =
    "SELECT next FROM words_state WHERE tables = '#' AND next IS NOT NULL";
static const char reach_sql[] = "UPDATE words_state SET next = ? WHERE tables = '#'";
static const char add_sql[] = "INSERT INTO #_words_next (rowid, words) VALUES (?, ?)";
static const char remove_sql[] =
    "INSERT INTO #_words_next (#_words_next, rowid, words) VALUES ('delete', ?, ?)";

bool words_next_key(const struct corpus *c, int64_t *key, bool *there, struct error *e)
{
    *key = -1;
    struct query q = corpus_query(c, key_sql, e);
    *there = query_next(&q);
    if (*there)
        *key = sqlite3_column_int64(q.handle, 0);
    return query_end(&q);
}

bool words_next_reach(const struct corpus *c, int64_t key, struct error *e)
{
    struct query q = corpus_query(c, reach_sql, e);
    query_int(&q, key);
    return query_run(&q);
}

bool words_next_add(const struct corpus *c, int64_t key, const char *text, struct error *e)
{
    return words_write(c, add_sql, key, text, e);
}

bool words_next_change(const struct corpus *c, int64_t key, const char *text, bool add,
                       struct error *e)
{
    int64_t reached;
    bool there;
    if (!words_next_key(c, &reached, &there, e))
        return false;
    return !there || key > reached || words_write(c, add ? add_sql : remove_sql, key, text, e);
}

static bool is_for(const struct corpus *c, const char *language, bool *out, struct error *e)
{
    char *made_for;
    if (!words_table_language(c, "_next", &made_for, e))
        return false;
    *out = strcmp(made_for, language) == 0;
    free(made_for);
    return true;
}

bool words_next_begin(const struct corpus *c, const char *language, struct error *e)
{
    int64_t key;
    bool there, fits = false;
    if (!words_next_key(c, &key, &there, e) || (there && !is_for(c, language, &fits, e)))
        return false;
    if (fits)
        return true;
    return (!there || corpus_exec(c, "DROP TABLE #_words_next", e)) &&
           words_make_table(c, "_next", language, e) && words_next_reach(c, -1, e);
}

bool words_next_use(const struct corpus *c, struct error *e)
{
    return corpus_exec(c,
                       "DROP TABLE #_words; ALTER TABLE #_words_next RENAME TO #_words;"
                       "UPDATE words_state SET next = NULL WHERE tables = '#'",
                       e);
}
