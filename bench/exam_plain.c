#include "bench/exam_plain.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/tokenizer.h"

struct exam_plain {
    sqlite3 *db;
    sqlite3_stmt *add, *search;
};

static void must(const struct exam_plain *p, int result)
{
    if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW)
        return;
    fprintf(stderr, "bench: %s\n", sqlite3_errmsg(p->db));
    exit(99);
}

static void add(const struct exam_plain *p, const struct memory_entry *turn)
{
    must(p, sqlite3_bind_text(p->add, 1, turn->id, -1, SQLITE_STATIC));
    must(p, sqlite3_bind_text(p->add, 2, turn->content, -1, SQLITE_STATIC));
    must(p, sqlite3_step(p->add));
    must(p, sqlite3_reset(p->add));
}

struct exam_plain *exam_plain_new(const struct exam *x, size_t first, size_t count)
{
    struct exam_plain *p = mem_alloc(sizeof *p);
    must(p, sqlite3_open(":memory:", &p->db));
    must(p, sqlite3_exec(p->db,
                         "CREATE VIRTUAL TABLE plain USING fts5 (id UNINDEXED, text,"
                         " tokenize = 'porter unicode61')",
                         NULL, NULL, NULL));
    must(p, sqlite3_prepare_v2(p->db, "INSERT INTO plain VALUES (?, ?)", -1, &p->add, NULL));
    must(p,
         sqlite3_prepare_v2(p->db, "SELECT id FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?",
                            -1, &p->search, NULL));
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
    sqlite3_close(p->db);
    free(p);
}

/* "What's new" as "what" OR "s" OR "new". */
static void any_of(struct buf *out, const char *question, bool stop_words_out)
{
    struct tokens words = {0};
    (void)tokenize(stop_words_out ? "english" : "none", question, strlen(question), false, &words);
    for (size_t i = 0; i < words.items.len; i++) {
        const struct token *t = &words.items.items[i];
        buf_addf(out, "%s\"%.*s\"", i > 0 ? " OR " : "", (int)(t->end - t->start),
                 question + t->start);
    }
    tokens_release(&words);
}

void exam_plain_ask(struct exam_plain *p, bool stop_words_out, const char *question,
                    struct exam_found *out)
{
    struct buf match = BUF_INIT;
    exam_found_clear(out);
    any_of(&match, question, stop_words_out);
    must(p, sqlite3_bind_text(p->search, 1, match.data, (int)match.len, SQLITE_STATIC));
    must(p, sqlite3_bind_int(p->search, 2, EXAM_MOST));
    int result = SQLITE_DONE;
    while (match.len > 0 && (result = sqlite3_step(p->search)) == SQLITE_ROW)
        vec_push(&out->ids, mem_strdup((const char *)sqlite3_column_text(p->search, 0)));
    must(p, result);
    must(p, sqlite3_reset(p->search));
    buf_release(&match);
}
