/* The index of words while it is merged and rebuilt: every entry is found at any time, others write
 * in between, and entries that they forget leave no trace in any of the indexes. */
#include <dirent.h>

#include "base/entropy.h"
#include "memory/memory.h"
#include "store/sql.h"
#include "store/tokenizer.h"
#include "tests/damage.h"
#include "tests/memory_store.h"
#include "tests/suite.h"

/* MANY: more than two steps of a reindex. */
enum { MANY = 2300, A_SESSION = 115, FEW_PARTS = 8, MOST_PARTS = 18 };

#define SECRET "zqxjkvwomb"

struct place {
    struct store *store;
    struct memory *memory;
};

static char *path;
static struct place own, other;
static struct error e;

static struct place open_place(void)
{
    struct place p;
    memory_check(store_open(path, STORE_READ_WRITE, &p.store, &e), &e);
    p.memory = memory_open(p.store, NULL);
    return p;
}

static void close_place(struct place *p)
{
    memory_close(p->memory);
    store_close(p->store);
}

static int set_up(void **state)
{
    support_setup(state);
    path = support_path("tiro.db");
    entropy_seed(support_seed());
    e = (struct error){0};
    own = open_place();
    other = open_place();
    return 0;
}

static int tear_down(void **state)
{
    close_place(&own);
    close_place(&other);
    return support_teardown(state);
}

static int64_t number(const char *sql)
{
    return damage_number(path, sql);
}

static int found(const struct place *p, const char *text)
{
    AUTO(memory_hits_release) struct memory_hits hits = {0};
    struct memory_query query = {.text = text, .limit = 20, .rank = rank_settings_for(1.2, 0.75)};
    memory_check(p->memory->ops->search(p->memory, &query, &hits, &e), &e);
    return (int)hits.items.len;
}

/* Counts the matches among all entries, since a search returns only the best few. */
static int count(const struct place *p, const char *word)
{
    struct query q = sql_query(
        p->store, &e, "SELECT count(*) FROM memory_words WHERE memory_words MATCH ?", "t", word);
    int n = query_next(&q) ? sqlite3_column_int(q.handle, 0) : -1;
    memory_check(query_end(&q), &e);
    return n;
}

static void begin(void)
{
    memory_check(store_begin(own.store, &e), &e);
}

static void commit(void)
{
    memory_check(store_commit(own.store, &e), &e);
}

static void run(const char *sql)
{
    memory_check(store_exec(own.store, sql, &e), &e);
}

static void say(struct memory *m, const char *session, const char *id, const char *text)
{
    free(memory_store_one(m, session, id, text, 1000));
}

/* Adds this number of entries, in one session after the other. */
static void add_many(struct memory *m, int number_of)
{
    begin();
    for (int i = 0; i < number_of; i++) {
        say(m, support_text("s%d", i / A_SESSION), support_text("e%d", i),
            support_text("quincunx number%d of the badgers", i));
    }
    commit();
}

static bool tables_are_left(void)
{
    return number("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'memory_words_next%'") > 0;
}

static bool is_german(void)
{
    return number(
               "SELECT count(*) FROM sqlite_schema WHERE name = 'memory_words' AND"
               " sql LIKE '%tiro german%'") > 0;
}

/* The index in German is complete. */
static void expect_german(void)
{
    assert_true(is_german());
    assert_false(tables_are_left());
}

/* Every word with its entries and its count in each. */
static char *index_of(void)
{
    struct buf out = BUF_INIT;
    run("CREATE VIRTUAL TABLE temp.seen USING fts5vocab(main, memory_words, instance)");
    struct query q = sql_query(own.store, &e,
                               "SELECT term, doc, \"offset\" FROM temp.seen ORDER BY 1, 2, 3", "");
    while (query_next(&q)) {
        auto_free char *term = query_column_text(&q, 0);
        buf_addf(&out, "%s %lld %d\n", term, (long long)sqlite3_column_int64(q.handle, 1),
                 sqlite3_column_int(q.handle, 2));
    }
    memory_check(query_end(&q), &e);
    run("DROP TABLE temp.seen");
    return support_keep(buf_take(&out));
}

/* ---- parts ---- */

static int64_t parts(void)
{
    return number("SELECT count(DISTINCT segid) FROM memory_words_idx");
}

static bool tidy(struct memory *m)
{
    bool more;
    memory_check(m->ops->tidy(m, &more, &e), &e);
    return more;
}

FIXTURE(set_up, tear_down);

/* Batches of some pages each, or merging would be too easy. */
TEST(parts_do_not_become_many)
{
    enum { BATCHES = 120, A_BATCH = 40 };
    for (int i = 0; i < BATCHES; i++) {
        begin();
        for (int k = 0; k < A_BATCH; k++)
            say(own.memory, "s", NULL,
                support_text("quincunx word%d number%d", i * A_BATCH + k, k));
        commit();
        assert_true(parts() <= MOST_PARTS);
    }
    assert_int_equal(count(&own, "quincunx"), BATCHES * A_BATCH);
}

TEST(merging_changes_no_word)
{
    for (int i = 0; i < 15; i++)
        say(own.memory, "s", NULL, support_text("quincunx number%d of wombats", i));
    assert_true(parts() > FEW_PARTS);
    char *before = index_of();
    while (tidy(other.memory))
        assert_int_equal(count(&own, "quincunx"), 15);
    assert_true(parts() <= FEW_PARTS);
    assert_string_equal(before, index_of());
    int changes = sqlite3_total_changes(other.store->db);
    assert_false(tidy(other.memory)); /* all is done: it costs nothing */
    assert_int_equal(sqlite3_total_changes(other.store->db), changes);
}

static void forget_one(struct memory *m, const char *id)
{
    memory_check(m->ops->forget(m, &id, 1, NULL, &e), &e);
}

/* ---- an index of another language ---- */

static bool old_is_left(void)
{
    return number("SELECT count(*) FROM sqlite_schema WHERE name = 'memory_words_old'") > 0;
}

static bool stop(void *context, int64_t done, int64_t of)
{
    (void)context, (void)done, (void)of;
    return false;
}

/* Begins an index of another language, which tidying goes on with. */
static void begin_other(void)
{
    assert_false(
        own.memory->ops->reindex(own.memory, is_german() ? "english" : "german", stop, NULL, &e));
    assert_int_equal(e.code, ERR_INTERRUPTED);
}

static void change_language(void)
{
    bool german = is_german();
    begin_other();
    while (is_german() == german)
        assert_true(tidy(own.memory));
}

/* An older program made other words of a text. */
TEST(an_index_of_older_rules_is_made_again)
{
    add_many(own.memory, 10);
    run("DROP TABLE memory_words");
    run("CREATE VIRTUAL TABLE memory_words USING fts5 (words, content = '', tokenize = 'tiro "
        "auto')");
    assert_int_equal(count(&own, "quincunx"), 0);
    while (tidy(own.memory))
        continue;
    assert_int_equal(count(&own, "quincunx"), 10);
    assert_int_equal(number("SELECT count(*) FROM sqlite_schema WHERE name = 'memory_words' AND"
                            " sql LIKE '%''tiro auto " TOKEN_RULES "''%'"),
                     1);
    assert_false(tidy(own.memory));
}

/* The replaced index is removed in steps, which any process continues; a purge removes all of
 * it. */
TEST(the_replaced_index_goes_bit_by_bit)
{
    add_many(own.memory, MANY);
    say(own.memory, "s", "gone", "this text is " SECRET);
    change_language();
    assert_true(old_is_left());
    assert_int_equal(count(&own, "quincunx"), MANY);
    close_place(&own);
    own = open_place();
    assert_true(tidy(own.memory));
    while (tidy(own.memory))
        continue;
    assert_false(old_is_left());
    change_language();
    assert_true(old_is_left());
    forget_one(own.memory, "gone");
    assert_false(old_is_left());
    assert_false(damage_on_disk(path, SECRET));
    change_language();
    memory_check(own.memory->ops->reindex(own.memory, "english", NULL, NULL, &e), &e);
    assert_false(old_is_left());
}

/* Two processes that build the index do not disturb each other, and either can finish it. */
TEST(two_go_on_with_an_index)
{
    add_many(own.memory, MANY);
    begin_other();
    assert_true(tidy(own.memory));
    assert_true(tidy(other.memory));
    close_place(&own);
    own = open_place();
    while (tidy(other.memory) || tidy(own.memory))
        assert_int_equal(count(&own, "quincunx"), MANY);
    expect_german();
    assert_int_equal(count(&other, "quincunx"), MANY);
}

/* ---- purged again and again ---- */

enum { PAGES = 600 }; /* entries, of which the index has some pages */

static void wear(int times)
{
    add_many(own.memory, PAGES);
    begin();
    for (int i = 0; i < times; i++) {
        say(own.memory, "s", "secret", support_text("a secret%d", i));
        forget_one(own.memory, "secret");
    }
    commit();
}

/* The size of the record in which FTS5 describes its segments. */
static int64_t notes(void)
{
    return number("SELECT length(block) FROM memory_words_data WHERE id = 10");
}

TEST(a_worn_index_is_made_anew_in_time)
{
    wear(150);
    assert_true(notes() > 200);
    while (tidy(other.memory))
        assert_int_equal(count(&own, "quincunx"), PAGES);
    assert_true(notes() < 50);
    assert_false(tables_are_left());
    assert_int_equal(count(&own, "quincunx"), PAGES);
}

/* SQLite 3.40 would have damaged it. */
TEST(or_where_there_is_none)
{
    wear(1200);
    assert_false(tables_are_left());
    assert_int_equal(count(&own, "quincunx"), PAGES);
    run("INSERT INTO memory_words (memory_words) VALUES ('integrity-check')");
}

/* ---- made anew ---- */

struct meddling {
    int calls, added, gone;
};

/* An entry anywhere: one that is in the new index already, or not yet. Kept. */
static char *any_id(void)
{
    char *id = NULL;
    while (!id || !memory_has(other.memory, id))
        id = support_text("e%d", (int)(entropy_unit() * MANY));
    return id;
}

static bool meddle(void *context, int64_t done, int64_t of)
{
    struct meddling *x = context;
    assert_true(done <= of);
    assert_int_equal(count(&other, "quincunx"), MANY + x->added - x->gone);
    memory_check(other.memory->ops->edit(other.memory, any_id(), "a quincunx of wombats", &e), &e);
    forget_one(other.memory, any_id());
    for (int i = 0; i < 4; i++) /* in sessions from first to last, and a new one */
        say(other.memory, support_text("s%d", i * MANY / A_SESSION / 3), NULL,
            support_text("a quincunx that came late: %d, %d", x->calls, i));
    x->calls++;
    x->added += 4;
    x->gone++;
    return true;
}

TEST(others_write_while_it_is_made_anew)
{
    struct meddling x = {0};
    add_many(own.memory, MANY);
    memory_check(own.memory->ops->reindex(own.memory, "german", meddle, &x, &e), &e);
    assert_true(x.calls > MANY / 1000 + 1);
    expect_german();
    assert_int_equal(count(&own, "quincunx"), MANY + x.added - x.gone);
    char *stepwise = index_of();
    memory_check(own.memory->ops->reindex(own.memory, "german", NULL, NULL, &e), &e);
    assert_string_equal(stepwise, index_of());
}

/* Stops at the n-th call. */
static bool until(void *context, int64_t done, int64_t of)
{
    int *left = context;
    (void)done, (void)of;
    return --*left > 0;
}

static void stop_after(int calls, const char *language)
{
    assert_false(own.memory->ops->reindex(own.memory, language, until, &calls, &e));
    assert_int_equal(e.code, ERR_INTERRUPTED);
    assert_int_equal(count(&own, "quincunx"), MANY);
}

struct told {
    int64_t first, last;
    int calls;
};

static bool note(void *context, int64_t done, int64_t of)
{
    struct told *t = context;
    assert_int_equal(of, MANY);
    if (t->calls++ == 0)
        t->first = done;
    assert_true(done >= t->last);
    t->last = done;
    return true;
}

TEST(it_goes_on_where_it_was_stopped)
{
    struct told told = {0};
    add_many(own.memory, MANY);
    stop_after(3, "german"); /* begun, two steps */
    assert_true(tables_are_left());
    int64_t reached = number("SELECT count(*) FROM memory_words_next_docsize");
    assert_true(reached >= 1000 && reached < MANY);
    memory_check(other.memory->ops->reindex(other.memory, "german", note, &told, &e), &e);
    assert_int_equal(told.last, MANY);
    assert_true(told.calls <= 8);
    expect_german();
}

TEST(whoever_has_time_brings_it_to_its_end)
{
    add_many(own.memory, MANY);
    stop_after(2, "german");
    while (tidy(other.memory))
        assert_int_equal(count(&own, "quincunx"), MANY);
    expect_german();
    assert_int_equal(found(&own, "number77"), 1);
}

TEST(another_language_begins_anew)
{
    add_many(own.memory, MANY);
    stop_after(3, "french");
    memory_check(other.memory->ops->reindex(other.memory, "german", NULL, NULL, &e), &e);
    expect_german();
    assert_int_equal(count(&own, "quincunx"), MANY);
}

TEST(an_empty_memory_leaves_none)
{
    add_many(own.memory, MANY);
    stop_after(3, "german");
    other.memory->lazy = true;
    for (int i = 0; i <= MANY / A_SESSION; i++) {
        char *session = support_text("s%d", i);
        memory_check(other.memory->ops->forget_session(other.memory, session, &e), &e);
    }
    assert_true(tables_are_left());
    struct memory *french = memory_open(own.store, &(struct memory_settings){.language = "french"});
    say(french, "s", NULL, "a quincunx");
    memory_close(french);
    assert_false(tables_are_left() || is_german());
    assert_int_equal(count(&other, "quincunx"), 1);
}

/* ---- forgetting meanwhile ---- */

static void purge(const struct place *p)
{
    for (bool more = true; more;)
        memory_check(p->memory->ops->purge(p->memory, &more, &e), &e);
}

/* Stopped after every number of steps there is. */
static void nothing_stays_in_any_index(bool lazy)
{
    for (int calls = 1; !is_german(); calls++) {
        say(own.memory, "s1", "secret", "the " SECRET "ats");
        int left = calls;
        own.memory->ops->reindex(own.memory, "german", until, &left, &e);
        assert_int_equal(found(&own, SECRET "ats"), 1);
        other.memory->lazy = lazy;
        forget_one(other.memory, "secret");
        assert_int_equal(found(&own, SECRET "ats"), 0);
        if (lazy)
            purge(&other);
        assert_false(damage_on_disk(path, SECRET));
        assert_int_equal(count(&own, "quincunx"), MANY);
    }
    while (tidy(own.memory))
        continue;
    assert_false(tables_are_left());
    assert_int_equal(count(&own, "quincunx"), MANY);
}

TEST(a_forgotten_text_goes_from_all)
{
    add_many(own.memory, MANY);
    nothing_stays_in_any_index(false);
}

TEST(so_it_does_bit_by_bit)
{
    add_many(own.memory, MANY);
    nothing_stays_in_any_index(true);
}

TEST(a_purge_that_waits_is_not_lost)
{
    add_many(own.memory, MANY);
    say(own.memory, "s1", "secret", "the " SECRET "ats");
    int left = 3;
    assert_false(own.memory->ops->reindex(own.memory, "german", until, &left, &e));
    other.memory->lazy = true;
    forget_one(other.memory, "secret");
    memory_check(own.memory->ops->reindex(own.memory, "german", NULL, NULL, &e), &e);
    assert_true(damage_on_disk(path, SECRET));
    purge(&own);
    assert_false(damage_on_disk(path, SECRET));
}

/* ---- the same texts ---- */

/* 300 sessions fill several groups of the index of equal texts. */
TEST(equal_texts_of_all_sessions_are_found)
{
    enum { SESSIONS = 300 };
    AUTO(memory_hits_release) struct memory_hits hits = {0};
    struct memory_query query = {
        .text = "To be  or not to be", .limit = 1000, .rank = rank_settings_for(1.2, 0.75)};
    begin();
    for (int i = 0; i < SESSIONS; i++) {
        char *session = support_text("s%d", i);
        say(own.memory, session, NULL, "To be or not to be");
        say(own.memory, session, NULL, "To be or not\nto be");
        say(own.memory, session, NULL, "or to be");
    }
    commit();
    assert_int_equal(memory_total(own.memory), 2 * SESSIONS); /* a session has a text once */
    memory_check(own.memory->ops->search(own.memory, &query, &hits, &e), &e);
    assert_int_equal(hits.items.len, SESSIONS);
    for (size_t i = 0; i < hits.items.len; i++)
        assert_true(hits.items.items[i].why.exact);
}
