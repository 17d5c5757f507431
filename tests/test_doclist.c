/* Lists of words read from FTS5's pages: equal to FTS5's own after any changes and merges. Also the
 * effects of damaged pages. */
#include "index/doclist.h"
#include "index/words_private.h"
#include "memory/sqlite_private.h"
#include "tests/suite.h"

enum { WORDS = 40, TEXTS = 400, LONG_TEXT = 9000 };

static struct store *store;
static struct corpus corpus;
static struct error e;
static uint64_t seed;
static char *texts[TEXTS]; /* as they stand in the index; NULL: none */

static void must(bool ok)
{
    if (!ok)
        fail_msg("%s", e.text);
}

static void open_store(void)
{
    must(store_open(support_path("tiro.db"), STORE_READ_WRITE, &store, &e));
    corpus = memory_sqlite_corpus(store);
}

static int set_up(void **state)
{
    support_setup(state);
    seed = support_seed();
    open_store();
    must(words_prepare(&corpus, "none", 0, &e));
    return 0;
}

static int tear_down(void **state)
{
    for (size_t i = 0; i < TEXTS; i++) {
        free(texts[i]);
        texts[i] = NULL;
    }
    store_close(store);
    return support_teardown(state);
}

static uint32_t chance(uint32_t below)
{
    return (uint32_t)(support_random(&seed) % below);
}

/* ---- a history of texts ---- */

/* Keys of several sessions, each of which has several talks. */
static int64_t key_of(size_t i)
{
    return rank_key(1 + (int64_t)i % 7 * 1000, (int64_t)i * 3);
}

/* Words that are in most texts, and such that are in few; now and then one that many times, or
 * words some hundred places apart. */
static char *random_text(void)
{
    struct buf out = BUF_INIT;
    bool is_long = chance(60) == 0, is_wide = chance(30) == 0;
    uint32_t words = 1 + chance(is_long ? LONG_TEXT : 30), range = 1 + chance(WORDS);
    if (is_wide) {
        words = 5 * WORDS + chance(10 * WORDS);
        range = 3 * WORDS;
    }
    for (uint32_t i = 0; i < words; i++)
        buf_addf(&out, "%sword%u", i > 0 ? " " : "", chance(range));
    return buf_take(&out);
}

static void change_some(void)
{
    must(store_begin(store, &e));
    for (uint32_t left = 1 + chance(chance(4) > 0 ? 10 : TEXTS); left > 0; left--) {
        size_t i = chance(TEXTS);
        if (texts[i])
            must(words_remove(&corpus, key_of(i), texts[i], &e));
        free(texts[i]);
        texts[i] = chance(4) > 0 ? random_text() : NULL;
        if (texts[i])
            must(words_add(&corpus, key_of(i), texts[i], &e));
    }
    must(store_commit(store, &e));
}

/* ---- FTS5's lists ---- */

static void open_vocabulary(void)
{
    must(store_exec(store,
                    "CREATE VIRTUAL TABLE temp.stands USING"
                    " fts5vocab (main, memory_words, instance)",
                    &e));
}

/* The lists, taken in turn, equal FTS5's for the word, or for all words with the prefix. */
static void expect_list(const char *word, bool open, const struct postings *list,
                        const struct place_bytes *bytes)
{
    struct query q = sql_query(store, &e,
                               "SELECT DISTINCT doc, offset FROM temp.stands WHERE term = ?1"
                               " OR (?2 AND substr(term, 1, length(?1)) = ?1) ORDER BY doc, offset",
                               "ti", word, (int64_t)open);
    struct occurrences places = {0};
    size_t at = 0;
    bool row = query_next(&q);
    for (; row; at++) {
        int64_t key = sqlite3_column_int64(q.handle, 0);
        vec_clear(&places.items);
        for (; row && sqlite3_column_int64(q.handle, 0) == key; row = query_next(&q))
            vec_push(&places.items,
                     (struct occurrence){.at = (uint32_t)sqlite3_column_int64(q.handle, 1)});
        assert_true(at < list->items.len);
        assert_int_equal(list->items.items[at].key, key);
        const struct posting *p = &list->items.items[at];
        struct occurrences found = {0};
        places_unpack(bytes->bytes.items + p->places, p->count, 0, &found);
        assert_int_equal(found.items.len, places.items.len);
        for (size_t i = 0; i < found.items.len; i++)
            assert_int_equal(found.items.items[i].at, places.items.items[i].at);
        assert_int_equal(p->named, places.items.items[0].at == 0);
        uint32_t last = places.items.items[places.items.len - 1].at;
        assert_int_equal(p->last, last < POSTING_LAST ? last : POSTING_LAST);
        vec_release(&found.items);
    }
    must(query_end(&q));
    assert_int_equal(at, list->items.len);
    vec_release(&places.items);
}

static void expect_read(const struct words_lists *lists, const char *word, bool open)
{
    struct postings list = {0};
    struct place_bytes bytes = {0};
    bool whole;
    must(words_list_read(lists, word, open, &list, &bytes, &whole, &e));
    assert_true(whole);
    expect_list(word, open, &list, &bytes);
    vec_release(&list.items);
    vec_release(&bytes.bytes);
}

static void expect_lists(void)
{
    static const char *const beginnings[] = {"a", "wor", "word", "word1", "word2", "word39", "x"};
    struct words_lists *lists;
    must(words_lists_open(&corpus, &lists, &e));
    assert_non_null(lists);
    for (int i = -1; i <= WORDS; i++)
        expect_read(lists, i < 0 ? "a" : support_text("word%d", i), false);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        expect_read(lists, beginnings[i], true);
    words_lists_close(lists);
}

FIXTURE(set_up, tear_down);

TEST(lists_are_those_of_fts5)
{
    open_vocabulary();
    expect_lists();
    for (int round = 0; round < (int)suite_sample(4, 40); round++) {
        change_some();
        bool more = true;
        if (chance(6) == 0)
            must(words_purge(&corpus, false, &e));
        for (uint32_t steps = chance(4); more && steps > 0; steps--)
            must(words_tidy(&corpus, &more, &e));
        if (chance(3) == 0)
            must(corpus_run(&corpus, &e, "INSERT INTO #_words (#_words, rank) VALUES ('merge', -3)",
                            ""));
        expect_lists();
    }
}

/* Writes of an open transaction need not be in the database pages yet. */
TEST(a_transaction_that_writes_asks_fts5)
{
    struct words_lists *lists;
    must(store_begin(store, &e));
    must(words_add(&corpus, rank_key(90000, 0), "word1", &e));
    must(words_lists_open(&corpus, &lists, &e));
    assert_null(lists);
    must(store_commit(store, &e));
    must(words_lists_open(&corpus, &lists, &e));
    assert_non_null(lists);
    words_lists_close(lists);
}

/* ---- damage ---- */

struct pages {
    VEC(int64_t) ids;
};

static struct buf page_at(int64_t id)
{
    struct buf out = BUF_INIT;
    struct query q =
        sql_query(store, &e, "SELECT block FROM memory_words_data WHERE id = ?", "i", id);
    if (query_next(&q))
        buf_add(&out, sqlite3_column_blob(q.handle, 0), (size_t)sqlite3_column_bytes(q.handle, 0));
    must(query_end(&q));
    return out;
}

static void put_page(int64_t id, const struct buf *page)
{
    struct query q = sql_query(store, &e, "UPDATE memory_words_data SET block = ?2 WHERE id = ?1",
                               "ib", id, (const void *)page->data, page->len);
    must(query_run(&q));
}

/* A search finds something, nothing or a fault, and FTS5 is asked about lists that make no sense.
 */
static void search_damaged(void)
{
    const struct words_question question = {.text = "word0 word1 word7 word30 word",
                                            .typing = chance(2) == 0,
                                            .rank = rank_settings_for(1.2, 0.75)};
    const struct corpus_scope scope = {.all = true};
    struct candidates found;
    struct word_weights weights = {0};
    e = (struct error){0};
    if (words_search(&corpus, &question, &scope, 5, &found, &weights, &e))
        vec_release(&found.items);
    else
        assert_int_equal(e.code, ERR_SESSION_STORE_ERROR);
    vec_release(&weights.items);
}

TEST(damaged_pages_are_no_danger)
{
    must(words_prepare(&corpus, "none", 0, &e));
    for (int round = 0; round < 6; round++)
        change_some();
    struct pages pages = {0};
    struct query q = sql_query(store, &e, "SELECT id FROM memory_words_data", "");
    while (query_next(&q))
        vec_push(&pages.ids, sqlite3_column_int64(q.handle, 0));
    must(query_end(&q));
    for (int round = 0; round < (int)suite_sample(100, 600); round++) {
        int64_t id = pages.ids.items[chance((uint32_t)pages.ids.len)];
        AUTO(buf_release) struct buf page = page_at(id), damaged = BUF_INIT;
        buf_add(&damaged, page.data, page.len);
        /* Changes some bytes, or removes the end. */
        if (damaged.len > 0 && chance(8) == 0)
            damaged.len = chance((uint32_t)damaged.len);
        for (uint32_t left = 1 + chance(4); damaged.len > 0 && left > 0; left--)
            damaged.data[chance((uint32_t)damaged.len)] = (char)chance(256);
        put_page(id, &damaged);
        search_damaged();
        put_page(id, &page);
    }
    vec_release(&pages.ids);
    store_close(store); /* FTS5 keeps records that it has read */
    open_store();
    open_vocabulary();
    expect_lists();
}

TEST(records_that_make_no_sense)
{
    static const uint8_t none[] = {0, 0, 0, 1, 0, 0, 0};
    static const uint8_t one[] = {0, 0, 0, 1, 1, 1, 0, 0, 1, 3, 1, 2};
    static const uint8_t backwards[] = {0, 0, 0, 1, 1, 1, 0, 0, 1, 3, 2, 1};
    static const uint8_t more[] = {0, 0, 0, 1, 1, 2, 0, 0, 1, 3, 1, 2};
    static const struct {
        const uint8_t *bytes;
        size_t len;
        bool ok;
    } records[] = {{none, sizeof none, true},
                   {none, 3, false},
                   {one, sizeof one, true},
                   {one, sizeof one - 1, false},
                   {backwards, sizeof backwards, false},
                   {more, sizeof more, false}};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct doclist_parts parts;
        assert_int_equal(doclist_parts_read(records[i].bytes, records[i].len, &parts),
                         records[i].ok);
        vec_release(&parts.items);
    }
    int64_t entries, words;
    assert_true(doclist_totals_read((const uint8_t *)"\x02\x81\x01", 3, &entries, &words));
    assert_true(entries == 2 && words == 129);
    assert_false(doclist_totals_read((const uint8_t *)"\x02\x81", 2, &entries, &words));
}
