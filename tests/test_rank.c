/* Ranking by words, against a plain calculation of the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/rank.h"
#include "tests/suite.h"
#include "tests/support.h"

enum { MOST_ROWS = 1200, MOST_TERMS = 6 };

/* A whole store: how often each term is in each entry, and how long that is. */
struct world {
    int64_t keys[MOST_ROWS]; /* ascending */
    uint32_t counts[MOST_ROWS][MOST_TERMS];
    struct rank_facts facts[MOST_ROWS];
    bool named[MOST_ROWS]; /* whoever said it has the name of the first term */
    size_t rows, terms;
    double idf[MOST_TERMS];
    double average, idf_sum;
    int asked; /* facts that were asked for */
    int fails_at;
};

static uint32_t chance(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static struct world random_world(uint64_t *seed)
{
    struct world w = {.terms = 1 + chance(seed, MOST_TERMS),
                      .rows = 1 + chance(seed, chance(seed, 4) ? 60 : MOST_ROWS)};
    int64_t session = 1, place = 0, all = (int64_t)w.rows;
    for (size_t i = 0; i < w.rows; i++) {
        if (chance(seed, 30) == 0) {
            session++;
            place = 0;
        } else {
            place += 1 + (chance(seed, 12) == 0) * chance(seed, 100);
        }
        w.keys[i] = rank_key(session, place);
        w.facts[i] = (struct rank_facts){1 + chance(seed, 60), chance(seed, 3) == 0};
        w.named[i] = chance(seed, 2) == 0;
        w.average += w.facts[i].words / (double)w.rows;
        for (size_t t = 0; t < w.terms; t++)
            w.counts[i][t] = chance(seed, 3 + (uint32_t)t) == 0 ? 1 + chance(seed, 20) : 0;
    }
    for (size_t t = 0; t < w.terms; t++) {
        int64_t entries = 0;
        for (size_t i = 0; i < w.rows; i++)
            entries += w.counts[i][t] > 0;
        w.idf[t] = rank_idf(all, entries);
        w.idf_sum += w.idf[t];
    }
    return w;
}

static bool find_facts(void *context, int64_t key, struct rank_facts *out)
{
    struct world *w = context;
    w->asked++;
    for (size_t i = 0; i < w->rows; i++)
        if (w->keys[i] == key)
            *out = w->facts[i];
    return w->asked != w->fails_at;
}

static struct postings postings_of(const struct world *w)
{
    struct postings p = {0};
    VEC(size_t) begins = {0};
    for (size_t t = 0; t < w->terms; t++) {
        vec_push(&begins, p.items.len);
        for (size_t i = 0; i < w->rows; i++)
            if (w->counts[i][t] > 0)
                vec_push(&p.items,
                         (struct posting){w->keys[i], (uint32_t)t, w->counts[i][t] & 0x7fffffff,
                                          t == 0 && w->named[i]});
    }
    postings_order(&p, begins.items, begins.len);
    vec_release(&begins);
    return p;
}

static bool run(struct world *w, const struct rank_settings *s, size_t limit, struct ranking *out)
{
    struct postings p = postings_of(w);
    struct rank_input in = {.postings = p.items.items,
                            .count = p.items.len,
                            .idf = w->idf,
                            .terms = w->terms,
                            .idf_sum = w->idf_sum,
                            .average = w->average,
                            .facts = find_facts,
                            .context = w};
    bool ok = rank_best(s, &in, limit, out);
    vec_release(&p.items);
    return ok;
}

/* ---- the same as plainly as it can be said ---- */

static double bm25(const struct world *w, const struct rank_settings *s, const double *counts,
                   double norm)
{
    double sum = 0;
    for (size_t t = 0; t < w->terms; t++)
        if (counts[t] > 0)
            sum += w->idf[t] * counts[t] * (s->k1 + 1) / (counts[t] + s->k1 * norm);
    return sum;
}

static size_t row_of(const struct world *w, int64_t key)
{
    size_t i = 0;
    while (i < w->rows && w->keys[i] != key)
        i++;
    return i;
}

static double plain_own(const struct world *w, const struct rank_settings *s, int64_t key)
{
    size_t i = row_of(w, key);
    double counts[MOST_TERMS];
    if (i == w->rows)
        return 0;
    for (size_t t = 0; t < w->terms; t++)
        counts[t] = w->counts[i][t];
    return bm25(w, s, counts, 1 - s->b + s->b * fmax(0.75, w->facts[i].words / w->average));
}

static double plain_before(const struct world *w, const struct rank_settings *s, int64_t key)
{
    size_t i = row_of(w, key - 1);
    bool asks = i < w->rows && w->facts[i].asks;
    return (asks ? s->answer : s->before) * plain_own(w, s, key - 1);
}

static double plain_weight(const struct world *w, const struct rank_settings *s, int64_t key)
{
    size_t i = row_of(w, key);
    double words = fmin(24, w->facts[i].words), weight = words / (words + 8) * 32 / 24;
    if (w->named[i] && w->counts[i][0] > 0)
        weight *= s->named;
    return w->facts[i].asks ? weight * s->asks : weight;
}

static bool same_talk(int64_t a, int64_t b)
{
    return rank_key_talk(a) == rank_key_talk(b);
}
static bool same_window(int64_t a, int64_t b)
{
    return llabs(a - b) <= RANK_WINDOW;
}

static double plain_joint(const struct world *w, const struct rank_settings *s, int64_t key,
                          bool (*belongs)(int64_t a, int64_t b))
{
    double counts[MOST_TERMS] = {0};
    for (size_t i = 0; i < w->rows; i++)
        for (size_t t = 0; belongs(w->keys[i], key) && t < w->terms; t++)
            counts[t] += w->counts[i][t];
    return bm25(w, s, counts, 1);
}

static double plain_rank(const struct world *w, const struct rank_settings *s, int64_t key)
{
    double own = plain_own(w, s, key);
    if (own <= 0)
        return 0;
    own += plain_before(w, s, key) + s->after * plain_own(w, s, key + 1);
    own += s->session * plain_joint(w, s, key, same_talk);
    own += s->window * plain_joint(w, s, key, same_window);
    return own * plain_weight(w, s, key);
}

static int compare_down(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The best are the best of all, whatever was left out of the calculation. */
TEST(is_what_it_is_meant_to_be)
{
    uint64_t seed = support_seed();
    const struct rank_settings settings = rank_settings_for(0.6, 0.4);
    for (int round = 0; round < 300; round++) {
        struct world w = random_world(&seed);
        size_t limit = 1 + chance(&seed, 30), found = 0;
        double *all = mem_alloc(w.rows * sizeof *all);
        struct ranking best;
        for (size_t i = 0; i < w.rows; i++) {
            all[found] = plain_rank(&w, &settings, w.keys[i]);
            found += all[found] > 0;
        }
        qsort(all, found, sizeof *all, compare_down);
        assert_true(run(&w, &settings, limit, &best));
        assert_true(best.items.len >= (found < limit ? found : limit));
        for (size_t i = 0; i < best.items.len; i++) {
            const struct ranked *r = &best.items.items[i];
            assert_true(fabs(r->rank - all[i]) < 1e-6);
            assert_true(fabs(r->rank - plain_rank(&w, &settings, r->key)) < 1e-6);
            assert_true(fabs(r->why.words - plain_own(&w, &settings, r->key)) < 1e-6);
            assert_true(fabs(r->why.weight - plain_weight(&w, &settings, r->key)) < 1e-6);
            assert_true(r->why.coverage > 0 && r->why.coverage <= 1);
            if (i >= limit)
                assert_true(fabs(r->rank - all[limit - 1]) < 1e-6);
        }
        vec_release(&best.items);
        free(all);
    }
}

/* Ties beyond the limit come along; the newer first. */
TEST(ties_come_along)
{
    struct world w = {.rows = 12, .terms = 1, .idf = {2}, .idf_sum = 2, .average = 10};
    const struct rank_settings settings = rank_settings_for(0.6, 0.4);
    struct ranking best;
    for (size_t i = 0; i < w.rows; i++) {
        w.keys[i] = rank_key((int64_t)i + 1, 0);
        w.counts[i][0] = i < 2 ? 5 : 1;
        w.facts[i].words = 10;
    }
    assert_true(run(&w, &settings, 4, &best));
    assert_int_equal(best.items.len, 12);
    assert_int_equal(best.items.items[0].key, w.keys[1]);
    assert_int_equal(best.items.items[2].key, w.keys[11]);
    vec_release(&best.items);
    assert_true(run(&w, &settings, 2, &best));
    assert_int_equal(best.items.len, 2);
    vec_release(&best.items);
}

/* Facts cost a look into the index each. */
TEST(few_facts_are_asked)
{
    struct world *w = mem_alloc(sizeof *w);
    const struct rank_settings settings = rank_settings_for(0.6, 0.4);
    struct ranking best;
    *w = (struct world){.rows = MOST_ROWS, .terms = 1, .idf = {2}, .idf_sum = 2, .average = 10};
    for (size_t i = 0; i < w->rows; i++) {
        w->keys[i] = rank_key((int64_t)i + 1, 0);
        w->counts[i][0] = i % 100 == 0 ? 9 : 1;
        w->facts[i].words = 10;
    }
    assert_true(run(w, &settings, 5, &best));
    assert_in_range(w->asked, 5, 40);
    vec_release(&best.items);
    w->asked = 0;
    w->fails_at = 3;
    assert_false(run(w, &settings, 5, &best));
    assert_int_equal(best.items.len, 0);
    free(w);
}

/* Bounds that are all the same part nothing: the facts of each have to be asked for. */
TEST(facts_alone_may_decide)
{
    struct world *w = mem_alloc(sizeof *w);
    const struct rank_settings settings = rank_settings_for(0.6, 0.4);
    struct ranking best;
    *w = (struct world){.rows = MOST_ROWS, .terms = 1, .idf = {2}, .idf_sum = 2, .average = 10};
    for (size_t i = 0; i < w->rows; i++) {
        w->keys[i] = rank_key((int64_t)i + 1, 0);
        w->counts[i][0] = 1;
        w->facts[i].words = 24 + (double)i;
    }
    assert_true(run(w, &settings, 2, &best));
    assert_int_equal(best.items.len, 2);
    assert_int_equal(best.items.items[0].key, w->keys[0]);
    assert_int_equal(best.items.items[1].key, w->keys[1]);
    vec_release(&best.items);
    free(w);
}

/* Another session that has nothing of the query changes neither order nor ranks but by idf, which
 * is given. */
TEST(shares_stay_within_their_talk)
{
    struct world w = {.rows = 4, .terms = 2, .idf = {2, 3}, .idf_sum = 5, .average = 10};
    const struct rank_settings settings = rank_settings_for(0.6, 0.4);
    const int64_t keys[] = {rank_key(1, 5), rank_key(1, 6), rank_key(1, 64), rank_key(2, 6)};
    struct ranking best;
    memcpy(w.keys, keys, sizeof keys);
    for (size_t i = 0; i < w.rows; i++) {
        w.counts[i][0] = 1;
        w.counts[i][1] = i == 0;
        w.facts[i].words = 10;
    }
    assert_true(run(&w, &settings, 4, &best));
    assert_int_equal(best.items.items[0].key, keys[0]);
    assert_int_equal(best.items.items[1].key, keys[1]);
    const struct ranked *neighbour = &best.items.items[1], *far = &best.items.items[2];
    assert_true(neighbour->why.before > 0 && neighbour->why.after == 0);
    assert_true(neighbour->why.session > far->why.session);
    assert_true(neighbour->why.window > far->why.window);
    assert_true(far->why.before == 0 && far->why.after == 0);
    vec_release(&best.items);
}

TEST(equal_postings_become_one)
{
    struct postings p = {0};
    const struct posting all[] = {{5, 0, 2, 1}, {9, 0, 1, 0}, {5, 0, 7, 0},
                                  {6, 0, 1, 0}, {2, 1, 1, 0}, {5, 1, 1, 0}};
    const size_t begins[] = {0, 2, 4};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        vec_push(&p.items, all[i]);
    postings_order(&p, begins, 3);
    assert_int_equal(p.items.len, 5);
    assert_int_equal(p.items.items[0].key, 2);
    assert_true(p.items.items[1].count == 7 && p.items.items[1].named);
    assert_int_equal(p.items.items[2].term, 1);
    assert_int_equal(p.items.items[4].key, 9);
    vec_release(&p.items);
}

TEST(scores)
{
    assert_true(rank_score(-1) == 0 && rank_score(0) == 0 && rank_score(1) == 1);
    assert_true(rank_score(2) == 1);
    assert_true(fabs(rank_score(0.32) - 0.70) < 1e-12);
    assert_true(fabs(rank_score(0.16) - 0.35) < 1e-12);
    assert_true(fabs(rank_score(0.66) - 0.85) < 1e-12);
    for (double c = 0; c < 1; c += 0.01)
        assert_true(rank_score(c) < rank_score(c + 0.01));
}

TEST(rarity)
{
    assert_true(rank_idf(100, 0) > rank_idf(100, 1));
    assert_true(rank_idf(100, 1) > rank_idf(100, 50));
    assert_true(rank_idf(100, 100) >= 0 && rank_idf(0, 0) >= 0 && rank_idf(3, 9) >= 0);
    assert_true(fabs(rank_idf(10, 2) - log(1 + 8.5 / 2.5)) < 1e-12);
}

TEST(talks_have_places_of_their_own)
{
    const int64_t hour = 3600 * 1000, now = 1700000000000;
    assert_int_equal(rank_place_for(0, 0, now), 0);
    assert_int_equal(rank_place_for(7, now, now + hour), 7);
    assert_int_equal(rank_place_for(7, now, now + 7 * hour), 64);
    assert_int_equal(rank_place_for(7, now + 7 * hour, now), 64);
    for (int64_t next = 1; next < 300; next++) {
        int64_t place = rank_place_for(next, now, now + 24 * hour);
        assert_true(place - (next - 1) > RANK_WINDOW);
        assert_false(same_talk(place, next - 1));
    }
    const int64_t half = (int64_t)1 << (RANK_PLACE_BITS - 1);
    assert_int_equal(rank_place_for(half, now, now + 24 * hour), half);
    assert_int_equal(rank_key_session(rank_key(77, half * 2 - 1)), 77);
}
