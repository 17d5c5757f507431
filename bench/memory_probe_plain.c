/* SQLite's full-text search as it comes: porter stems, ORDER BY rank, the texts in the same table.
 */
#include <sqlite3.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bench/memory_probe.h"
#include "bench/memory_texts.h"
#include "tests/screen.h"

enum { QUESTIONS = 400, HITS = 5 };

static void must(sqlite3 *db, int result)
{
    if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW)
        probe_fail(sqlite3_errmsg(db));
}

static sqlite3 *open_plain(const char *directory)
{
    sqlite3 *db;
    char *path = mem_printf("%s/plain.db", directory);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        probe_fail("cannot open the plain database");
    free(path);
    must(db,
         sqlite3_exec(db, "PRAGMA journal_mode = WAL; PRAGMA cache_size = -512", NULL, NULL, NULL));
    return db;
}

void probe_plain_fill(const char *directory, size_t count)
{
    struct memory_texts *texts = memory_texts_new();
    struct buf text = BUF_INIT;
    sqlite3_stmt *q;
    sqlite3 *db = open_plain(directory);
    must(db, sqlite3_exec(db,
                          "CREATE VIRTUAL TABLE plain USING fts5 (text, tokenize = 'porter"
                          " unicode61'); BEGIN",
                          NULL, NULL, NULL));
    must(db, sqlite3_prepare_v2(db, "INSERT INTO plain (rowid, text) VALUES (?, ?)", -1, &q, NULL));
    for (size_t i = 0; i < count; i++) {
        memory_texts_turn(texts, i, &text);
        sqlite3_bind_int64(q, 1, (sqlite3_int64)i + 1);
        sqlite3_bind_text(q, 2, text.data, (int)text.len, SQLITE_STATIC);
        must(db, sqlite3_step(q));
        must(db, sqlite3_reset(q));
    }
    sqlite3_finalize(q);
    must(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    sqlite3_close(db);
    buf_release(&text);
    memory_texts_free(texts);
}

/* "one two" as "one OR two". */
static void any_of(struct buf *out, const char *words)
{
    buf_clear(out);
    for (const char *at = words; *at; at++)
        if (*at == ' ')
            buf_addstr(out, " OR ");
        else
            buf_addch(out, *at);
}

/* The plain search gets the rarer words alone, which favours it: it would search the common ones,
 * too. */
static void search_plain(const char *directory, size_t count, bool common)
{
    struct memory_texts *texts = memory_texts_new();
    struct probe_times times = {0};
    struct buf question = BUF_INIT;
    struct buf words = BUF_INIT;
    struct buf match = BUF_INIT;
    sqlite3_stmt *q;
    sqlite3 *db = open_plain(directory);
    must(db, sqlite3_prepare_v2(db,
                                "SELECT rowid, text, rank FROM plain WHERE plain MATCH ? ORDER BY"
                                " rank LIMIT ?",
                                -1, &q, NULL));
    for (size_t i = 0; i < (common ? PROBE_COMMON : QUESTIONS); i++) {
        if (common)
            memory_texts_common(texts, i, &words);
        else
            memory_texts_question(texts, i * 7919 % count, &question, &words);
        double start = screen_clock();
        any_of(&match, words.data);
        sqlite3_bind_text(q, 1, match.data, (int)match.len, SQLITE_STATIC);
        sqlite3_bind_int(q, 2, HITS);
        while (sqlite3_step(q) == SQLITE_ROW)
            (void)sqlite3_column_text(q, 1);
        must(db, sqlite3_reset(q));
        vec_push(&times.ms, screen_clock() - start);
    }
    sqlite3_finalize(q);
    sqlite3_close(db);
    probe_times_tell(&times);
    buf_release(&question);
    buf_release(&words);
    buf_release(&match);
    memory_texts_free(texts);
}

void probe_plain_search(const char *directory, size_t count)
{
    search_plain(directory, count, false);
}

void probe_plain_search_common(const char *directory, size_t count)
{
    search_plain(directory, count, true);
}
