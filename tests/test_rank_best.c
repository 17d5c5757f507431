/* The best entries of many: the same as those of all of them ranked one by one, and facts are asked
 * of few. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/rank.h"
#include "tests/suite.h"
#include "tests/support.h"

enum { MOST_ROWS = 6000, MOST_TERMS = 6, MOST_COUNT = 20 };

struct row {
    int64_t key;
    struct rank_facts facts;
    bool user;
};

/* A store as far as a query sees it. */
struct world {
    VEC(struct row) rows; /* by key */
    struct postings lists[MOST_TERMS];
    struct place_bytes places;
    double idf[MOST_TERMS];
    struct rank_input in;
    int asked; /* facts that were asked for */
    int fails_at;
};

static uint64_t seed;

static uint32_t chance(uint32_t below)
{
    return (uint32_t)(support_random(&seed) % below);
}

static const struct row *find_row(const struct world *w, int64_t key)
{
    for (size_t low = 0, high = w->rows.len; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (w->rows.items[middle].key == key)
            return &w->rows.items[middle];
        if (w->rows.items[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    fail_msg("facts of an entry that is not there");
    return NULL;
}

static bool find_words(void *context, int64_t key, double *out)
{
    struct world *w = context;
    *out = find_row(w, key)->facts.words;
    return ++w->asked != w->fails_at;
}

static bool find_asks(void *context, int64_t key, bool *out)
{
    struct world *w = context;
    *out = find_row(w, key)->facts.asks;
    return ++w->asked != w->fails_at;
}

static bool find_user(void *context, int64_t key, bool *out)
{
    *out = find_row(context, key)->user;
    return true;
}

/* ---- worlds ---- */

/* Adds a term at these places of a text of this many words. */
static void add_posting(struct world *w, size_t term, int64_t key, uint32_t words, uint32_t count)
{
    struct posting p = {.key = key, .term = term & 0x7f, .places = (uint32_t)w->places.bytes.len};
    uint32_t room = words / count, more = chance(room);
    for (uint32_t i = 0; i < count; i++) {
        posting_add_place(&p, more);
        places_pack(&w->places, more);
        more = 1 + chance(room);
    }
    vec_push(&w->lists[term].items, p);
}

static void add_row(struct world *w, int64_t key)
{
    uint32_t words = MOST_COUNT + 1 + chance(chance(8) == 0 ? 400 : 20);
    if (chance(3) == 0)
        words = 1 + chance(MOST_COUNT);
    struct row row = {key, {words, chance(3) == 0}, chance(2) == 0};
    vec_push(&w->rows, row);
    for (size_t t = 0; t < w->in.terms; t++)
        if (chance(2 + 3 * (uint32_t)t) == 0)
            add_posting(w, t, key, words,
                        1 + chance(chance(4) > 0        ? 1
                                   : words < MOST_COUNT ? words
                                                        : MOST_COUNT));
}

/* Sessions with and without pauses, some of which have longer talks than a block of places. */
static struct world *random_world(void)
{
    struct world *w = mem_alloc(sizeof *w);
    int64_t session = 1, place = 0;
    size_t rows = 1 + chance(chance(4) ? 300 : MOST_ROWS);
    uint32_t stays = 2 + chance(200);
    double words = 0;
    w->in.terms = 1 + chance(MOST_TERMS);
    for (size_t i = 0; i < rows; i++) {
        bool next = chance(stays) == 0;
        session += next;
        place = next ? chance(70) : place + 1 + (chance(12) == 0) * chance(100);
        add_row(w, rank_key(session, place));
        words += vec_last(&w->rows).facts.words;
    }
    for (size_t t = 0; t < w->in.terms; t++) {
        w->idf[t] = rank_idf((int64_t)rows, (int64_t)w->lists[t].items.len);
        w->in.idf_sum += w->idf[t];
    }
    w->in.lists = w->lists;
    w->in.places = w->places.bytes.items;
    w->in.idf = w->idf;
    w->in.average = words / (double)rows;
    w->in.words = find_words;
    w->in.asks = find_asks;
    w->in.is_user = find_user;
    w->in.context = w;
    return w;
}

static void free_world(struct world *w)
{
    for (size_t t = 0; t < MOST_TERMS; t++)
        vec_release(&w->lists[t].items);
    vec_release(&w->places.bytes);
    vec_release(&w->rows);
    free(w);
}

/* ---- the best of all ---- */

/* If as many entries are wanted as exist, none can be skipped. */
TEST(the_best_are_the_best_of_all)
{
    const struct rank_settings settings = rank_settings_for(1.2, 0.75);
    seed = support_seed();
    for (int round = 0; round < 150; round++) {
        struct world *w = random_world();
        struct ranking all, best;
        assert_true(rank_best(&settings, &w->in, w->rows.len, &all));
        size_t limit = 1 + chance(30);
        assert_true(rank_best(&settings, &w->in, limit, &best));
        assert_true(best.items.len >= (all.items.len < limit ? all.items.len : limit));
        for (size_t i = 0; i < best.items.len; i++) {
            const struct ranked *found = &best.items.items[i];
            const struct ranked *expected = &all.items.items[i];
            assert_int_equal(found->key, expected->key);
            assert_float_equal(found->rank, expected->rank, 1e-9);
            assert_float_equal(found->why.words, expected->why.words, 1e-9);
            assert_float_equal(found->why.session, expected->why.session, 1e-9);
            assert_float_equal(found->why.window, expected->why.window, 1e-9);
            assert_float_equal(found->why.before, expected->why.before, 1e-9);
            assert_float_equal(found->why.after, expected->why.after, 1e-9);
            assert_float_equal(found->why.weight, expected->why.weight, 1e-9);
        }
        vec_release(&all.items);
        vec_release(&best.items);
        free_world(w);
    }
}

/* ---- bounds ---- */

struct bounded {
    const struct ranking *all;
    size_t seen;
};

static double expect_bound(void *context, const struct rank_entry *entry)
{
    struct bounded *b = context;
    size_t i = 0;
    while (i < b->all->items.len && b->all->items.items[i].key != entry->key)
        i++;
    assert_true(i < b->all->items.len);
    const struct ranked *real = &b->all->items.items[i];
    assert_true(entry->most >= real->rank - 1e-9);
    assert_true(entry->neighbours >= real->why.before + real->why.after - 1e-9);
    assert_float_equal(entry->session, real->why.session, 1e-9);
    assert_float_equal(entry->window, real->why.window, 1e-9);
    b->seen++;
    return -HUGE_VAL;
}

TEST(bounds_are_true)
{
    const struct rank_settings settings = rank_settings_for(1.2, 0.75);
    seed = support_seed();
    for (int round = 0; round < 60; round++) {
        struct world *w = random_world();
        struct ranking all;
        assert_true(rank_best(&settings, &w->in, w->rows.len, &all));
        struct bounded b = {&all, 0};
        const struct rank_settings at = rank_settings_at(&settings, w->in.average);
        struct rank_survey survey = {0};
        rank_talks(&at, &w->in, -HUGE_VAL, expect_bound, &b, &survey);
        vec_release(&survey.talks);
        assert_int_equal(b.seen, all.items.len);
        vec_release(&all.items);
        free_world(w);
    }
}

/* ---- costs ---- */

/* A world of 20,000 entries with a common word, some of which have a rare word, too. */
static struct world *wide_world(void)
{
    struct world *w = mem_alloc(sizeof *w);
    w->in = (struct rank_input){.lists = w->lists,
                                .idf = w->idf,
                                .terms = 2,
                                .idf_sum = 8,
                                .average = 30,
                                .words = find_words,
                                .asks = find_asks,
                                .is_user = find_user,
                                .context = w};
    w->idf[0] = 1;
    w->idf[1] = 7;
    for (int64_t i = 0; i < 20000; i++) {
        int64_t key = rank_key(1 + i / 40, i % 40);
        vec_push(&w->rows, (struct row){key, {30, false}, false});
        add_posting(w, 0, key, 30, 1);
        if (i % 500 == 0)
            add_posting(w, 1, key, 30, 1);
    }
    w->in.places = w->places.bytes.items;
    return w;
}

TEST(facts_are_asked_of_few)
{
    const struct rank_settings settings = rank_settings_for(1.2, 0.75);
    struct ranking best;
    seed = support_seed();
    struct world *w = wide_world();
    assert_true(rank_best(&settings, &w->in, 5, &best));
    assert_int_equal(best.items.len >= 5, true);
    assert_in_range(w->asked, 5, 400);
    vec_release(&best.items);
    for (w->fails_at = 1; w->fails_at <= 20; w->fails_at++) {
        w->asked = 0;
        assert_false(rank_best(&settings, &w->in, 5, &best));
        assert_int_equal(best.items.len, 0);
    }
    free_world(w);
}

TEST(nothing_of_nothing)
{
    const struct rank_settings settings = rank_settings_for(1.2, 0.75);
    const struct rank_input none = {.average = 0};
    struct ranking best;
    assert_true(rank_best(&settings, &none, 5, &best));
    assert_int_equal(best.items.len, 0);
    assert_true(rank_best(&settings, &none, 0, &best));
    assert_int_equal(best.items.len, 0);
}
