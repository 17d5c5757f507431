#include "index/words.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/vectors.h"
#include "index/words_private.h"
#include "store/tokenizer.h"

static const char add_sql[] = "INSERT INTO #_words (rowid, words) VALUES (?, ?)";
static const char remove_sql[] =
    "INSERT INTO #_words (#_words, rowid, words) VALUES ('delete', ?, ?)";
static const char schema_sql[] = "SELECT sql FROM sqlite_schema WHERE name = '#_words' || ?";
static const char any_sql[] = "SELECT 1 FROM #_words_docsize LIMIT 1";

/* ---- language ---- */

bool words_language(const struct corpus *c, const char *ending, char **out, struct error *e)
{
    static const char mark[] = "'tiro ";
    *out = NULL;
    struct query q = corpus_query(c, e, schema_sql, "t", ending);
    const char *sql = query_next(&q) ? (const char *)sqlite3_column_text(q.handle, 0) : NULL;
    const char *at = sql ? strstr(sql, mark) : NULL;
    if (q.fault == SQLITE_OK)
        *out = at ? mem_strndup(at + sizeof mark - 1, strcspn(at + sizeof mark - 1, " '"))
                  : mem_strdup("none");
    return query_end(&q);
}

bool words_open_language(const struct corpus *c, struct language **out, struct error *e)
{
    struct store *s = c->store;
    auto_free char *language = NULL;
    if (!words_language(c, "", &language, e))
        return false;
    if (!s->asked || strcmp(s->asked_name, language) != 0) {
        language_free(s->asked);
        s->asked = language_new(language);
        if (s->asked)
            language_is_brief(s->asked);
        mem_replace(&s->asked_name, mem_strdup(language));
    }
    *out = s->asked;
    return *out || store_fault(s, SQLITE_ERROR, e);
}

/* Bytes that a transaction adds in memory before they become a part: larger parts are merged less
 * often. Also in data/schema.sql. */
enum { PART_BYTES = 4 << 20 };

static bool make_table(const struct corpus *c, const char *ending, const char *language,
                       struct error *e)
{
    assert(language_known(language));
    auto_free char *sql = mem_printf(
        "CREATE VIRTUAL TABLE #_words%s USING fts5 (words, content = '', tokenize = 'tiro "
        "%s " TOKEN_RULES
        "');"
        "INSERT INTO #_words%s (#_words%s, rank) VALUES ('automerge', 0), ('hashsize', %d)",
        ending, language, ending, ending, PART_BYTES);
    return corpus_exec(c, sql, e);
}

/* Whether the table was made with this language and the present TOKEN_RULES. */
static bool fits(const struct corpus *c, const char *ending, const char *language, bool *out,
                 struct error *e)
{
    auto_free char *spec = mem_printf("'tiro %s " TOKEN_RULES "'", language);
    struct query q = corpus_query(c, e, schema_sql, "t", ending);
    *out = query_next(&q) && strstr((const char *)sqlite3_column_text(q.handle, 0), spec);
    return query_end(&q);
}

/* ---- the next index ----
 *
 * It is filled beside the one that is searched, in as many transactions as that takes, and then
 * takes its place. Changes of texts that it has already are written to both. */

static const char key_sql[] =
    "SELECT next FROM words_state WHERE tables = '#' AND next IS NOT NULL";
static const char reach_sql[] = "UPDATE words_state SET next = ? WHERE tables = '#'";
static const char add_next_sql[] = "INSERT INTO #_words_next (rowid, words) VALUES (?, ?)";
static const char remove_next_sql[] =
    "INSERT INTO #_words_next (#_words_next, rowid, words) VALUES ('delete', ?, ?)";

/* *key: the last text that it has, -1: none. */
static bool next_key(const struct corpus *c, int64_t *key, bool *there, struct error *e)
{
    *key = -1;
    struct query q = corpus_query(c, e, key_sql, "");
    *there = query_next(&q);
    if (*there)
        *key = sqlite3_column_int64(q.handle, 0);
    return query_end(&q);
}

/* ---- the old index ---- */

/* The replaced index goes in steps, because a statement that drops a whole table keeps its old
 * pages in memory. FTS5's own notes (up to OLD_NOTES) stay to the end: it cannot open a table
 * without them, and so not drop it. */
enum { OLD_NOTES = 10, OLD_PAGES = 500, OLD_LENGTHS = 50 * OLD_PAGES };
static const char old_sql[] =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '#_words_old'";

/* No prepared statement: one would be in the way of dropping the table. */
static bool delete_some(const struct corpus *c, const char *table, int most, bool *more,
                        struct error *e)
{
    auto_free char *sql = mem_printf(
        "DELETE FROM #_words_old_%s WHERE id IN"
        " (SELECT id FROM #_words_old_%s WHERE id > %d LIMIT %d)",
        table, table, OLD_NOTES, most);
    bool ok = corpus_exec(c, sql, e);
    *more = ok && sqlite3_changes(c->store->db) == most;
    return ok;
}

static bool old_step(const struct corpus *c, bool *more, struct error *e)
{
    int64_t tables;
    *more = false;
    if (!corpus_number(c, &tables, e, old_sql, ""))
        return false;
    return tables == 0 || (delete_some(c, "data", OLD_PAGES, more, e) &&
                           (*more || delete_some(c, "docsize", OLD_LENGTHS, more, e)) &&
                           (*more || corpus_exec(c, "DROP TABLE #_words_old", e)));
}

/* ---- adding and removing ---- */

static bool change(const struct corpus *c, int64_t key, const char *text, bool add, struct error *e)
{
    int64_t reached;
    bool there;
    return corpus_run(c, e, add ? add_sql : remove_sql, "it", key, text) &&
           next_key(c, &reached, &there, e) &&
           (!there || key > reached ||
            corpus_run(c, e, add ? add_next_sql : remove_next_sql, "it", key, text));
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

/* ---- merging ----
 *
 * A transaction adds a part of its own, and a search reads each part. FTS5 can merge by itself,
 * within the transaction that adds; but then a compaction waits now and then for the merging of all
 * others'. So parts are merged in idle time, and within a transaction only when they have become
 * many. */

/* In SQLite 3.40 each purge adds a layer to an index, and with 2,000 it is damaged. */
enum { WORN_LAYERS = 100, MOST_LAYERS = 1500, COOKIE_BYTES = 4 };

enum { FEW = 8, MANY = 16, STEP_PAGES = 64 };

/* Pages that are merged for added bytes, so that the number of parts does not grow: a byte of text
 * makes less than two of the index, and each is written again in at most seven layers. */
enum { LEAST_PAGES = 16, INDEX_BYTES_PER_BYTE = 12, PAGE_BYTES = 4096 };

static const char parts_sql[] =
    "WITH RECURSIVE part (id) AS (SELECT min(segid) FROM #_words_idx UNION ALL"
    " SELECT (SELECT min(segid) FROM #_words_idx WHERE segid > part.id) FROM part"
    " WHERE part.id IS NOT NULL) SELECT count(id) FROM part";
static const char merge_sql[] = "INSERT INTO #_words (#_words, rank) VALUES ('merge', ?)";

/* The number of layers stands behind a cookie of FTS5's. */
static bool has_layers(const struct corpus *c, int64_t most, bool *out, struct error *e)
{
    *out = false;
    struct query q = corpus_query(c, e, "SELECT block FROM #_words_data WHERE id = 10", "");
    if (query_next(&q))
        *out = words_column_varint(&q, 0, COOKIE_BYTES) > most;
    return query_end(&q);
}

bool words_prepare(const struct corpus *c, const char *language, size_t bytes, struct error *e)
{
    bool same, any;
    int64_t parts;
    if (!fits(c, "", language, &same, e))
        return false;
    if (!same) {
        struct query q = corpus_query(c, e, any_sql, "");
        if (!query_any(&q, &any) ||
            (!any && (!corpus_exec(c,
                                   "DROP TABLE #_words; DROP TABLE IF EXISTS #_words_next;"
                                   "DROP TABLE IF EXISTS #_words_old;"
                                   "UPDATE words_state SET purge = 0, next = NULL"
                                   " WHERE tables = '#'",
                                   e) ||
                      !make_table(c, "", language, e))))
            return false;
    }
    int64_t pages = LEAST_PAGES + (int64_t)(bytes / PAGE_BYTES) * INDEX_BYTES_PER_BYTE;
    return corpus_number(c, &parts, e, parts_sql, "") &&
           (parts <= MANY || corpus_run(c, e, merge_sql, "i", pages));
}

/* A merge that finds nothing to do counts as one change. */
static bool merge_some(const struct corpus *c, const char *sql, int64_t pages, bool *more,
                       struct error *e)
{
    int before = sqlite3_total_changes(c->store->db);
    bool ok = corpus_run(c, e, sql, "i", pages);
    *more = ok && sqlite3_total_changes(c->store->db) - before > 1;
    return ok;
}

/* ---- purging: all parts of the index, and of the next one, are merged ---- */

static const char merge_next_sql[] =
    "INSERT INTO #_words_next (#_words_next, rank) VALUES ('merge', ?)";
static const char mark_sql[] = "UPDATE words_state SET purge = 1 WHERE tables = '#'";
static const char unmark_sql[] = "UPDATE words_state SET purge = 0 WHERE tables = '#'";

/* Pages that are written at a time; negative: whatever there is is merged. */
enum { PURGE_PAGES = -64 };

bool words_purge(const struct corpus *c, bool later, struct error *e)
{
    bool worn_out, there, more = true;
    int64_t key;
    if (!has_layers(c, MOST_LAYERS, &worn_out, e))
        return false;
    if (worn_out) {
        auto_free char *language = NULL;
        return words_language(c, "", &language, e) && words_reindex(c, language, NULL, NULL, e);
    }
    if (later)
        return corpus_run(c, e, mark_sql, "");
    while (more)
        if (!old_step(c, &more, e))
            return false;
    return corpus_run(c, e, "INSERT INTO #_words (#_words) VALUES ('optimize')", "") &&
           next_key(c, &key, &there, e) &&
           (!there ||
            corpus_run(c, e, "INSERT INTO #_words_next (#_words_next) VALUES ('optimize')", "")) &&
           corpus_run(c, e, unmark_sql, "");
}

bool words_purge_waits(const struct corpus *c, bool *out, struct error *e)
{
    int64_t purge;
    bool ok = corpus_number(c, &purge, e, "SELECT purge FROM words_state WHERE tables = '#'", "");
    *out = ok && purge != 0;
    return ok;
}

bool words_purge_step(const struct corpus *c, struct vectors *v, bool *more, struct error *e)
{
    bool waits, began, there = false;
    int64_t key;
    *more = false;
    if (!words_purge_waits(c, &waits, e) || !waits || !store_step_begin(c->store, &began, e))
        return !waits;
    /* The first statement writes: one that had read first could not wait for another writer. */
    bool ok = merge_some(c, merge_sql, PURGE_PAGES, more, e);
    if (ok && !*more)
        ok = next_key(c, &key, &there, e) &&
             (!there || merge_some(c, merge_next_sql, PURGE_PAGES, more, e));
    if (ok && !*more)
        ok = old_step(c, more, e);
    if (ok && !*more)
        ok = corpus_run(c, e, unmark_sql, "") && (!v || vectors_graph_purge(v, c, e));
    ok = store_step_end(c->store, began, ok, e);
    if (ok && !*more)
        store_settle(c->store);
    return ok;
}

/* ---- reindexing ----
 *
 * Each step is a transaction of its own, unless one is open: others write in between, searches use
 * the old index until the new one is whole, and another process can go on where one died. */

/* REST_MS: other writers look every few milliseconds whether they may write. */
enum { STEP_TEXTS = 1000, STEP_BYTES = 1 << 20, FILL_PAGES = 512, REST_MS = 15 };

static const char before_sql[] = "SELECT count(*) FROM #_entry WHERE key <= ?";

enum stage { BEGIN, FILL, EMPTY_OLD, DONE };

struct reindexing {
    const struct corpus *corpus;
    const char *language;
    enum stage stage;
    int64_t done;
};

/* Adds some texts to the next index. When none is left, it takes the place of the old one in the
 * same transaction: else another process that goes on adding could keep it from ever doing so. */
static bool fill_some(struct reindexing *r, struct error *e)
{
    const struct corpus *c = r->corpus;
    int64_t key, texts = 0;
    size_t bytes = 0;
    bool there, found = true;
    if (!next_key(c, &key, &there, e))
        return false;
    if (!there) { /* another process has brought it to its end */
        r->stage = EMPTY_OLD;
        return true;
    }
    while (texts < STEP_TEXTS && bytes < STEP_BYTES) {
        struct document d;
        if (!c->document(c->store, key + 1, &d, &found, e))
            return false;
        if (!found)
            break;
        key = d.key;
        texts++;
        bytes += strlen(d.words);
        bool ok = corpus_run(c, e, add_next_sql, "it", key, d.words);
        document_release(&d);
        if (!ok)
            return false;
    }
    r->done += texts;
    r->stage = found ? FILL : EMPTY_OLD;
    return corpus_run(c, e, merge_next_sql, "i", (int64_t)FILL_PAGES) &&
           (found ? corpus_run(c, e, reach_sql, "i", key)
                  : corpus_exec(c,
                                "DROP TABLE IF EXISTS #_words_old;"
                                "ALTER TABLE #_words RENAME TO #_words_old;"
                                "ALTER TABLE #_words_next RENAME TO #_words;"
                                "UPDATE words_state SET next = NULL WHERE tables = '#'",
                                e));
}

static bool reindex_step(struct reindexing *r, struct error *e)
{
    struct store *s = r->corpus->store;
    int64_t key;
    bool began, there, more, same = false, ok = true;
    if (!store_enter(s, &began, e))
        return false;
    switch (r->stage) {
    case BEGIN:
        r->stage = FILL;
        /* An empty one, unless there is one that fits already. */
        ok = next_key(r->corpus, &key, &there, e) &&
             (!there || fits(r->corpus, "_next", r->language, &same, e));
        if (ok && !same) {
            key = -1;
            ok = (!there || corpus_exec(r->corpus, "DROP TABLE #_words_next", e)) &&
                 make_table(r->corpus, "_next", r->language, e) &&
                 corpus_run(r->corpus, e, reach_sql, "i", key);
        }
        ok = ok &&
             corpus_number(r->corpus, &r->done, e, before_sql, "i", key > 0 ? key : (int64_t)0);
        break;
    case FILL:
        ok = fill_some(r, e);
        break;
    case EMPTY_OLD:
        ok = old_step(r->corpus, &more, e);
        r->stage = ok && !more ? DONE : EMPTY_OLD;
        break;
    case DONE:
        break;
    }
    ok = store_leave(s, began, ok, e);
    if (ok && began)
        poll(NULL, 0, REST_MS);
    return ok;
}

bool words_reindex(const struct corpus *c, const char *language,
                   bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                   struct error *e)
{
    struct reindexing r = {.corpus = c, .language = language};
    int64_t of;
    bool same;
    if (!corpus_number(c, &of, e, "SELECT count(*) FROM #_entry", ""))
        return false;
    while (r.stage != DONE) {
        if (!reindex_step(&r, e))
            return false;
        bool goes_on = !progress || progress(context, r.done, r.done > of ? r.done : of);
        if (!goes_on && r.stage < EMPTY_OLD)
            return err_set(e, ERR_INTERRUPTED,
                           "stopped; searches use the index as before, and making the new one goes "
                           "on another time");
    }
    return fits(c, "", language, &same, e) &&
           (same || err_set(e, ERR_SESSION_STORE_ERROR,
                            "another program has made the index of words for another language; "
                            "configure the same for both and try again"));
}

bool words_tidy(const struct corpus *c, bool *more, struct error *e)
{
    struct reindexing r = {.corpus = c};
    auto_free char *language = NULL;
    int64_t key, parts, old;
    bool next, worn, same;
    *more = false;
    if (!next_key(c, &key, &next, e) || !has_layers(c, WORN_LAYERS, &worn, e) ||
        !corpus_number(c, &old, e, old_sql, "") || !words_language(c, "", &language, e) ||
        !fits(c, "", language, &same, e))
        return false;
    if (!old && !next && !worn && same)
        return corpus_number(c, &parts, e, parts_sql, "") &&
               (parts <= FEW || merge_some(c, merge_sql, STEP_PAGES, more, e));
    r.stage = old ? EMPTY_OLD : next ? FILL : BEGIN;
    *more = true;
    r.language = language;
    return reindex_step(&r, e);
}
