#include "bench/exam_plain.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/sql.h"
#include "store/tokenizer.h"

static const struct {
    const char *tokenizer; /* FTS5's name of it */
    const char *language;  /* that the words of a question are taken from */
} all_words[] = {
    [EXAM_PORTER] = {"porter unicode61", "none"},
    [EXAM_SNOWBALL] = {"tiro english 1", "english"},
};

struct exam_plain {
    enum exam_words words;
    struct store *store; /* for its tokenizer */
    sqlite3_stmt *add, *search;
};

static _Noreturn void give_up(const char *message)
{
    fprintf(stderr, "bench: %s\n", message);
    exit(99);
}

static void must(const struct exam_plain *p, int result)
{
    if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW)
        give_up(sqlite3_errmsg(p->store->db));
}

static void add(const struct exam_plain *p, const struct memory_entry *turn)
{
    must(p, sqlite3_bind_text(p->add, 1, turn->id, -1, SQLITE_STATIC));
    must(p, sqlite3_bind_text(p->add, 2, turn->content, -1, SQLITE_STATIC));
    must(p, sqlite3_step(p->add));
    must(p, sqlite3_reset(p->add));
}

static void open_store(struct exam_plain *p)
{
    struct error e;
    char *path = store_memory_path();
    if (!store_open(path, STORE_READ_WRITE, &p->store, &e))
        give_up(e.text);
    free(path);
}

static void make_table(const struct exam_plain *p)
{
    char *sql = mem_printf(
        "CREATE VIRTUAL TABLE plain USING fts5 (id UNINDEXED, text,"
        " tokenize = '%s')",
        all_words[p->words].tokenizer);
    must(p, sqlite3_exec(p->store->db, sql, NULL, NULL, NULL));
    free(sql);
}

static void prepare(const struct exam_plain *p, const char *sql, sqlite3_stmt **out)
{
    must(p, sqlite3_prepare_v2(p->store->db, sql, -1, out, NULL));
}

struct exam_plain *exam_plain_new(enum exam_words words, const struct exam *x, size_t first,
                                  size_t count)
{
    struct exam_plain *p = mem_alloc(sizeof *p);
    p->words = words;
    open_store(p);
    make_table(p);
    prepare(p, "INSERT INTO plain VALUES (?, ?)", &p->add);
    prepare(p, "SELECT id FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?", &p->search);
    for (size_t i = first; i < first + count; i++) {
        const struct memory_entries *turns = &x->conversations.items[i].turns;
        for (size_t j = 0; j < turns->items.len; j++)
            add(p, &turns->items.items[j]);
    }
    return p;
}

void exam_plain_free(struct exam_plain *p)
{
    sqlite3_finalize(p->add);
    sqlite3_finalize(p->search);
    store_close(p->store);
    free(p);
}

/* "What's new" as "what" OR "s" OR "new". */
static void any_of(struct buf *out, const char *language, const char *question)
{
    struct tokens words = {0};
    (void)tokenize(language, question, strlen(question), false, &words);
    for (size_t i = 0; i < words.items.len; i++) {
        const struct token *t = &words.items.items[i];
        buf_addf(out, "%s\"%.*s\"", i > 0 ? " OR " : "", (int)(t->end - t->start),
                 question + t->start);
    }
    tokens_release(&words);
}

void exam_plain_ask(struct exam_plain *p, const char *question, int most, struct exam_found *out)
{
    struct buf match = BUF_INIT;
    exam_found_clear(out);
    any_of(&match, all_words[p->words].language, question);
    must(p, sqlite3_bind_text(p->search, 1, match.data, (int)match.len, SQLITE_STATIC));
    must(p, sqlite3_bind_int(p->search, 2, most));
    int result = SQLITE_DONE;
    while (match.len > 0 && (result = sqlite3_step(p->search)) == SQLITE_ROW)
        vec_push(&out->ids, mem_strdup((const char *)sqlite3_column_text(p->search, 0)));
    must(p, result);
    must(p, sqlite3_reset(p->search));
    buf_release(&match);
}
