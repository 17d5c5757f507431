/* The graph of facts, compared with SQLite's full-text search over the same entities, one text
 * each, and its LIKE over the graph's own rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/memory_probe.h"
#include "bench/memory_texts.h"
#include "knowledge/graph.h"
#include "store/sql.h"
#include "tests/screen.h"

enum { QUESTIONS = 400, PARTS = 40, PART_BYTES = 5 };

static void must(bool ok, const struct error *e)
{
    if (!ok)
        probe_fail(e->text);
}

static struct graph open_graph(const char *directory)
{
    struct graph g = {.language = "english"};
    struct error e = {0};
    char *path = mem_printf("%s/tiro.db", directory);
    must(store_open(path, STORE_READ_WRITE, &g.store, &e), &e);
    free(path);
    return g;
}

/* --- filling --- */

static struct graph_new_entity make_entity(const struct memory_texts *texts, size_t number,
                                           struct buf *text)
{
    struct graph_new_entity n = {.name = mem_printf("thing %zu", number),
                                 .type = mem_printf("kind %zu", number % 50)};
    for (size_t i = 0; i < FACTS_OBSERVED; i++) {
        memory_texts_turn(texts, number * FACTS_OBSERVED + i, text);
        vec_push(&n.observations, mem_strdup(text->data));
    }
    return n;
}

static void free_entities(struct graph_create *p)
{
    for (size_t i = 0; i < p->entities.len; i++) {
        struct graph_new_entity *n = &p->entities.items[i];
        for (size_t k = 0; k < n->observations.len; k++)
            free((char *)n->observations.items[k]);
        vec_release(&n->observations);
        free((char *)n->name);
        free((char *)n->type);
    }
    vec_release(&p->entities);
}

void probe_facts_fill(const char *directory, size_t count)
{
    const struct graph_by nobody = {0};
    struct memory_texts *texts = memory_texts_new();
    struct graph g = open_graph(directory);
    struct buf text = BUF_INIT;
    struct error e = {0};
    for (size_t i = 0; i < count;) {
        struct graph_create p = {0};
        struct graph_part made;
        for (; i < count && p.entities.len < GRAPH_BATCH; i++)
            vec_push(&p.entities, make_entity(texts, i, &text));
        must(graph_create(&g, &p, &nobody, &made, &e), &e);
        graph_part_release(&made);
        free_entities(&p);
    }
    store_close(g.store);
    buf_release(&text);
    memory_texts_free(texts);
}

static void must_sql(sqlite3 *db, int result)
{
    if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW)
        probe_fail(sqlite3_errmsg(db));
}

static sqlite3 *open_plain(const char *directory, const char *name)
{
    sqlite3 *db;
    char *path = mem_printf("%s/%s", directory, name);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        probe_fail("cannot open the database to compare with");
    free(path);
    must_sql(db, sqlite3_exec(db, "PRAGMA journal_mode = WAL; PRAGMA cache_size = -512", NULL, NULL,
                              NULL));
    return db;
}

void probe_facts_plain_fill(const char *directory, size_t count)
{
    struct memory_texts *texts = memory_texts_new();
    struct buf text = BUF_INIT, turn = BUF_INIT;
    sqlite3_stmt *q;
    sqlite3 *db = open_plain(directory, "plain.db");
    must_sql(db, sqlite3_exec(db,
                              "CREATE VIRTUAL TABLE plain USING fts5 (text, tokenize = 'porter"
                              " unicode61'); BEGIN",
                              NULL, NULL, NULL));
    must_sql(db, sqlite3_prepare_v2(db, "INSERT INTO plain (text) VALUES (?)", -1, &q, NULL));
    for (size_t i = 0; i < count; i++) {
        buf_clear(&text);
        buf_addf(&text, "thing %zu\nkind %zu", i, i % 50);
        for (size_t k = 0; k < FACTS_OBSERVED; k++) {
            memory_texts_turn(texts, i * FACTS_OBSERVED + k, &turn);
            buf_addf(&text, "\n%s", turn.data);
        }
        sqlite3_bind_text(q, 1, text.data, (int)text.len, SQLITE_STATIC);
        must_sql(db, sqlite3_step(q));
        must_sql(db, sqlite3_reset(q));
    }
    sqlite3_finalize(q);
    must_sql(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    sqlite3_close(db);
    buf_release(&text);
    buf_release(&turn);
    memory_texts_free(texts);
}

/* --- questions --- */

/* Words of an observation; `words`: the rarer ones of it alone. */
static void ask_words(const struct memory_texts *texts, size_t count, size_t number,
                      struct buf *question, struct buf *words)
{
    memory_texts_question(texts, number * 7919 % (count * FACTS_OBSERVED), question, words);
}

/* Letters from within a rarer word: no word begins with them, mostly. */
static void ask_part(const struct memory_texts *texts, size_t count, size_t number,
                     struct buf *part)
{
    struct buf question = BUF_INIT, words = BUF_INIT;
    ask_words(texts, count, number, &question, &words);
    const char *word = words.data;
    while (strcspn(word, " ") <= PART_BYTES && strchr(word, ' '))
        word = strchr(word, ' ') + 1;
    size_t len = strcspn(word, " ");
    buf_clear(part);
    buf_add(part, word + (len > PART_BYTES), len > PART_BYTES ? PART_BYTES : len);
    buf_release(&question);
    buf_release(&words);
}

static double search(const struct graph *g, const char *query, bool nowhere)
{
    const struct graph_search search = {.query = query, .limit = GRAPH_FOUND};
    struct graph_part found;
    struct error e = {0};
    double start = screen_clock();
    must(graph_search(g, &search, &found, &e), &e);
    double took = screen_clock() - start;
    if ((found.entities.len == 0) != nowhere)
        probe_fail("a question about an entity finds nothing, or one about none something");
    graph_part_release(&found);
    return took;
}

void probe_facts_search(const char *directory, size_t count)
{
    struct memory_texts *texts = memory_texts_new();
    struct graph g = open_graph(directory);
    struct probe_times times = {0};
    struct buf question = BUF_INIT, words = BUF_INIT;
    for (size_t i = 0; i < QUESTIONS; i++) {
        ask_words(texts, count, i, &question, &words);
        vec_push(&times.ms, search(&g, question.data, false));
    }
    probe_times_tell(&times);
    store_close(g.store);
    buf_release(&question);
    buf_release(&words);
    memory_texts_free(texts);
}

void probe_facts_part(const char *directory, size_t count)
{
    struct memory_texts *texts = memory_texts_new();
    struct graph g = open_graph(directory);
    struct probe_times times = {0};
    struct buf part = BUF_INIT;
    for (size_t i = 0; i < PARTS; i++) {
        ask_part(texts, count, i, &part);
        vec_push(&times.ms, search(&g, part.data, false));
    }
    vec_push(&times.ms, search(&g, "qqzzqq", true));
    probe_tell("nowhere", vec_last(&times.ms));
    probe_times_tell(&times);
    store_close(g.store);
    buf_release(&part);
    memory_texts_free(texts);
}

/* Runs a statement with a text and the limit; its rows are read. */
static double run_plain(sqlite3 *db, sqlite3_stmt *q, const char *text)
{
    double start = screen_clock();
    sqlite3_bind_text(q, 1, text, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int(q, 2, GRAPH_FOUND);
    while (sqlite3_step(q) == SQLITE_ROW)
        (void)sqlite3_column_text(q, 1);
    must_sql(db, sqlite3_reset(q));
    return screen_clock() - start;
}

/* The plain search gets the rarer words alone, as in memory_probe_plain.c. */
void probe_facts_plain_search(const char *directory, size_t count)
{
    struct memory_texts *texts = memory_texts_new();
    struct probe_times times = {0};
    struct buf question = BUF_INIT, words = BUF_INIT, match = BUF_INIT;
    sqlite3_stmt *q;
    sqlite3 *db = open_plain(directory, "plain.db");
    must_sql(db, sqlite3_prepare_v2(db,
                                    "SELECT rowid, text FROM plain WHERE plain MATCH ?1 ORDER BY"
                                    " rank LIMIT ?2",
                                    -1, &q, NULL));
    for (size_t i = 0; i < QUESTIONS; i++) {
        ask_words(texts, count, i, &question, &words);
        buf_clear(&match);
        for (const char *at = words.data; *at; at++)
            buf_addf(&match, *at == ' ' ? " OR " : "%c", *at);
        vec_push(&times.ms, run_plain(db, q, match.data));
    }
    sqlite3_finalize(q);
    sqlite3_close(db);
    probe_times_tell(&times);
    buf_release(&question);
    buf_release(&words);
    buf_release(&match);
    memory_texts_free(texts);
}

/* LIKE folds the case of ASCII alone and ends at the limit of observations; our search looks at all
 * names first. */
void probe_facts_like(const char *directory, size_t count)
{
    struct memory_texts *texts = memory_texts_new();
    struct probe_times times = {0};
    struct buf part = BUF_INIT;
    sqlite3_stmt *q;
    sqlite3 *db = open_plain(directory, "tiro.db");
    must_sql(db, sqlite3_prepare_v2(db,
                                    "SELECT entity, content FROM graph_observation WHERE content"
                                    " LIKE '%' || ?1 || '%' LIMIT ?2",
                                    -1, &q, NULL));
    for (size_t i = 0; i < PARTS; i++) {
        ask_part(texts, count, i, &part);
        vec_push(&times.ms, run_plain(db, q, part.data));
    }
    vec_push(&times.ms, run_plain(db, q, "qqzzqq"));
    probe_tell("nowhere", vec_last(&times.ms));
    probe_times_tell(&times);
    sqlite3_finalize(q);
    sqlite3_close(db);
    buf_release(&part);
    memory_texts_free(texts);
}
