#include "index/words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/words_private.h"

static const char add_sql[] = "INSERT INTO #_words (rowid, words) VALUES (?, ?)";
static const char remove_sql[] =
    "INSERT INTO #_words (#_words, rowid, words) VALUES ('delete', ?, ?)";
static const char schema_sql[] = "SELECT sql FROM sqlite_schema WHERE name = '#_words' || ?";
static const char any_sql[] = "SELECT 1 FROM #_words_docsize LIMIT 1";

static bool write_text(const struct corpus *c, const char *sql, int64_t key, const char *text,
                       struct error *e)
{
    struct query q = corpus_query(c, sql, e);
    query_int(&q, key);
    query_text(&q, text);
    return query_run(&q);
}

/* ---- language ---- */

/* Language of the tokenizer of the table P_wordsENDING; the caller frees. */
static bool table_language(const struct corpus *c, const char *ending, char **out, struct error *e)
{
    static const char mark[] = "'tiro ";
    *out = NULL;
    struct query q = corpus_query(c, schema_sql, e);
    query_text(&q, ending);
    const char *sql = query_next(&q) ? (const char *)sqlite3_column_text(q.handle, 0) : NULL;
    const char *at = sql ? strstr(sql, mark) : NULL;
    if (q.fault == SQLITE_OK)
        *out = at ? mem_strndup(at + sizeof mark - 1, strcspn(at + sizeof mark - 1, "'"))
                  : mem_strdup("none");
    return query_end(&q);
}

bool words_language(const struct corpus *c, char **out, struct error *e)
{
    return table_language(c, "", out, e);
}

bool words_speak(const struct corpus *c, struct language **out, struct error *e)
{
    auto_free char *language = NULL;
    if (!words_language(c, &language, e))
        return false;
    *out = language_new(language);
    return *out || store_fault(c->store, SQLITE_ERROR, e);
}

/* What a transaction adds lies in memory up to so many bytes before it becomes a part: the larger
 * the parts of who adds much, the less often they are merged. */
enum { PART_BYTES = 4 << 20 };

static bool make_table(const struct corpus *c, const char *ending, const char *language,
                       struct error *e)
{
    assert(language_known(language));
    char *sql = mem_printf(
        "CREATE VIRTUAL TABLE #_words%s USING fts5 (words, content = '',"
        " tokenize = 'tiro %s');"
        "INSERT INTO #_words%s (#_words%s, rank) VALUES ('automerge', 0), ('hashsize', %d)",
        ending, language, ending, ending, PART_BYTES);
    bool ok = corpus_exec(c, sql, e);
    free(sql);
    return ok;
}

static bool make_anew(const struct corpus *c, const char *language, struct error *e)
{
    return corpus_exec(c,
                       "DROP TABLE #_words; DROP TABLE IF EXISTS #_words_next;"
                       "DROP TABLE IF EXISTS #_words_old;"
                       "UPDATE words_state SET purge = 0, next = NULL WHERE tables = '#'",
                       e) &&
           make_table(c, "", language, e);
}

static bool has_language(const struct corpus *c, const char *ending, const char *language,
                         bool *out, struct error *e)
{
    auto_free char *found = NULL;
    if (!table_language(c, ending, &found, e))
        return false;
    *out = strcmp(found, language) == 0;
    return true;
}

static bool settle_making(const struct corpus *c, const char *language, struct error *e)
{
    bool same, any = false;
    return has_language(c, "", language, &same, e) &&
           (same || (corpus_has(c, any_sql, &any, e) && (any || make_anew(c, language, e))));
}

bool words_prepare(const struct corpus *c, const char *language, size_t bytes, struct error *e)
{
    return settle_making(c, language, e) && words_make_room(c, bytes, e);
}

/* ---- the next index ---- */

/* It grows beside the one that is searched, in as many transactions as it takes, until it takes its
 * place. What comes, changes and goes meanwhile among the texts that it has is written to both. */

static const char key_sql[] =
    "SELECT next FROM words_state WHERE tables = '#' AND next IS NOT NULL";
static const char add_next_sql[] = "INSERT INTO #_words_next (rowid, words) VALUES (?, ?)";
static const char remove_next_sql[] =
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
    struct query q = corpus_query(c, "UPDATE words_state SET next = ? WHERE tables = '#'", e);
    query_int(&q, key);
    return query_run(&q);
}

bool words_next_add(const struct corpus *c, int64_t key, const char *text, struct error *e)
{
    return write_text(c, add_next_sql, key, text, e);
}

bool words_next_begin(const struct corpus *c, const char *language, struct error *e)
{
    int64_t key;
    bool there, fits = false;
    if (!words_next_key(c, &key, &there, e) ||
        (there && !has_language(c, "_next", language, &fits, e)))
        return false;
    if (fits)
        return true;
    return (!there || corpus_exec(c, "DROP TABLE #_words_next", e)) &&
           make_table(c, "_next", language, e) && words_next_reach(c, -1, e);
}

bool words_next_use(const struct corpus *c, struct error *e)
{
    return corpus_exec(c,
                       "DROP TABLE IF EXISTS #_words_old;"
                       "ALTER TABLE #_words RENAME TO #_words_old;"
                       "ALTER TABLE #_words_next RENAME TO #_words;"
                       "UPDATE words_state SET next = NULL WHERE tables = '#'",
                       e);
}

/* ---- the old index ---- */

/* A statement that takes away a whole table keeps what its pages were in memory. FTS5's own notes
 * (up to OLD_NOTES) stay to the end: without them it does not open the table, and so not drop it.
 */
enum { OLD_NOTES = 10, OLD_PAGES = 500, OLD_LENGTHS = 50 * OLD_PAGES };
static const char old_sql[] =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '#_words_old'";

bool words_old_waits(const struct corpus *c, bool *out, struct error *e)
{
    return corpus_has(c, old_sql, out, e);
}

/* No prepared statement: one would stand in the way of dropping the table. */
static bool take_some(const struct corpus *c, const char *table, int most, bool *more,
                      struct error *e)
{
    char *sql = mem_printf(
        "DELETE FROM #_words_old_%s WHERE id IN"
        " (SELECT id FROM #_words_old_%s WHERE id > %d LIMIT %d)",
        table, table, OLD_NOTES, most);
    bool ok = corpus_exec(c, sql, e);
    *more = ok && sqlite3_changes(c->store->db) == most;
    free(sql);
    return ok;
}

bool words_old_step(const struct corpus *c, bool *more, struct error *e)
{
    *more = false;
    return words_old_waits(c, more, e) &&
           (!*more || (take_some(c, "data", OLD_PAGES, more, e) &&
                       (*more || take_some(c, "docsize", OLD_LENGTHS, more, e)) &&
                       (*more || corpus_exec(c, "DROP TABLE #_words_old", e))));
}

/* ---- what comes and goes ---- */

static bool change_next(const struct corpus *c, int64_t key, const char *text, bool add,
                        struct error *e)
{
    int64_t reached;
    bool there;
    if (!words_next_key(c, &reached, &there, e))
        return false;
    return !there || key > reached ||
           write_text(c, add ? add_next_sql : remove_next_sql, key, text, e);
}

static bool change(const struct corpus *c, int64_t key, const char *text, bool add, struct error *e)
{
    return write_text(c, add ? add_sql : remove_sql, key, text, e) &&
           change_next(c, key, text, add, e);
}

bool words_add(const struct corpus *c, int64_t key, const char *text, struct error *e)
{
    return change(c, key, text, true, e);
}

bool words_remove(const struct corpus *c, int64_t key, const char *text, struct error *e)
{
    return change(c, key, text, false, e);
}

int64_t words_column_varint(const struct query *q, int column, int from)
{
    const unsigned char *bytes = sqlite3_column_blob(q->handle, column);
    int len = sqlite3_column_bytes(q->handle, column);
    int64_t n = 0;
    for (bool more = true; more && from < len; from++) {
        n = n << 7 | (bytes[from] & 0x7f);
        more = bytes[from] & 0x80;
    }
    return n;
}
