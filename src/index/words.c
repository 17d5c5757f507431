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
static const char any_sql[] = "SELECT 1 FROM #_entry LIMIT 1";

bool words_write(const struct corpus *c, const char *sql, int64_t key, const char *text,
                 struct error *e)
{
    struct query q = corpus_query(c, sql, e);
    query_int(&q, key);
    query_text(&q, text);
    return query_run(&q);
}

static bool change(const struct corpus *c, int64_t key, const char *text, bool add, struct error *e)
{
    return words_write(c, add ? add_sql : remove_sql, key, text, e) &&
           words_next_change(c, key, text, add, e);
}

bool words_add(const struct corpus *c, int64_t key, const char *text, struct error *e)
{
    return change(c, key, text, true, e);
}

bool words_remove(const struct corpus *c, int64_t key, const char *text, struct error *e)
{
    return change(c, key, text, false, e);
}

/* ---- language ---- */

static char *find_language(const char *sql)
{
    static const char mark[] = "'tiro ";
    const char *at = sql ? strstr(sql, mark) : NULL;
    if (!at)
        return mem_strdup("none");
    at += sizeof mark - 1;
    return mem_strndup(at, strcspn(at, "'"));
}

bool words_table_language(const struct corpus *c, const char *ending, char **out, struct error *e)
{
    *out = NULL;
    struct query q = corpus_query(c, schema_sql, e);
    query_text(&q, ending);
    bool there = query_next(&q);
    if (q.fault == SQLITE_OK)
        *out = find_language(there ? (const char *)sqlite3_column_text(q.handle, 0) : NULL);
    return query_end(&q);
}

bool words_language(const struct corpus *c, char **out, struct error *e)
{
    return words_table_language(c, "", out, e);
}

bool words_speak(const struct corpus *c, struct language **out, struct error *e)
{
    char *name;
    if (!words_language(c, &name, e))
        return false;
    *out = language_new(name);
    free(name);
    return *out || store_fault(c->store, SQLITE_ERROR, e);
}

bool words_make_table(const struct corpus *c, const char *ending, const char *language,
                      struct error *e)
{
    assert(language_known(language));
    char *sql = mem_printf(
        "CREATE VIRTUAL TABLE #_words%s USING fts5 (words, content = '',"
        " prefix = '2 3', tokenize = 'tiro %s');"
        "INSERT INTO #_words%s (#_words%s, rank) VALUES ('automerge', 0)",
        ending, language, ending, ending);
    bool ok = corpus_exec(c, sql, e);
    free(sql);
    return ok;
}

static bool make_anew(const struct corpus *c, const char *language, struct error *e)
{
    return corpus_exec(c,
                       "DROP TABLE #_words; DROP TABLE IF EXISTS #_words_next;"
                       "UPDATE words_state SET purge = 0, next = NULL WHERE tables = '#'",
                       e) &&
           words_make_table(c, "", language, e);
}

static bool settle_language(const struct corpus *c, const char *language, struct error *e)
{
    char *made_for;
    bool any = false;
    if (!words_language(c, &made_for, e))
        return false;
    bool same = strcmp(made_for, language) == 0;
    free(made_for);
    return same || (corpus_has(c, any_sql, &any, e) && (any || make_anew(c, language, e)));
}

bool words_prepare(const struct corpus *c, const char *language, size_t bytes, struct error *e)
{
    return settle_language(c, language, e) && words_make_room(c, bytes, e);
}
