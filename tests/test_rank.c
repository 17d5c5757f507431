/* Ranking by words, against a plain calculation of the same; the best entries of many are those of
 * all of them, and facts are asked of few. */
#include <math.h>

#include "index/rank.h"
#include "tests/suite.h"

enum { ROWS = 1200, MANY_ROWS = 6000, MOST_TERMS = 6, MOST_WORDS = 160 };

/* A whole store: where each term stands in each entry, and how long that is. */
struct row {
    int64_t key;
    uint32_t counts[MOST_TERMS];
    bool stands[MOST_TERMS][MOST_WORDS];
    struct rank_facts facts;
    bool named; /* the speaker has the name of the first term */
    bool user;
};
struct world {
    struct row *rows; /* by key */
    size_t count, terms;
    double idf[MOST_TERMS];
    double average, idf_sum;
    int asked, users_asked; /* the query's words */
    int fails_at, user_fails_at;
    struct postings lists[MOST_TERMS]; /* of the last ask() */
    struct place_bytes places;
    struct rank_input in;
};

static void release_lists(struct world *w)
{
    for (size_t t = 0; t < MOST_TERMS; t++)
        vec_release(&w->lists[t].items);
    vec_release(&w->places.bytes);
}

static void free_world(struct world **w)
{
    release_lists(*w);
    free((*w)->rows);
    free(*w);
}

static struct world *new_world(size_t count, size_t terms)
{
    struct world *w = mem_alloc(sizeof *w);
    w->rows = mem_alloc(count * sizeof *w->rows);
    w->count = count;
    w->terms = terms;
    return w;
}

static uint32_t chance(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

/* Puts a term into the row `count` times, side by side. */
static void put_term(struct row *r, size_t term, uint32_t place, uint32_t count)
{
    r->counts[term] += count;
    for (uint32_t i = 0; i < count; i++)
        r->stands[term][place + i] = true;
}

static void scatter_term(struct row *r, size_t term, uint64_t *seed)
{
    uint32_t words = (uint32_t)r->facts.words;
    for (uint32_t count = 1 + chance(seed, words < 20 ? words : 20); count > 0; count--) {
        uint32_t place = chance(seed, words);
        if (!r->stands[term][place])
            put_term(r, term, place, 1);
    }
}

/* Sessions with and without pauses, some of which have longer talks than a block of places. */
static void random_keys(struct world *w, uint64_t *seed)
{
    int64_t session = 1, place = 0;
    uint32_t stays = 2 + chance(seed, 200);
    for (size_t i = 0; i < w->count; i++) {
        if (chance(seed, stays) == 0) {
            session++;
            place = 0;
        } else {
            place += 1 + (chance(seed, 12) == 0) * chance(seed, 100);
        }
        w->rows[i].key = rank_key(session, place);
    }
}

static struct world *random_world(uint64_t *seed, uint32_t most)
{
    size_t terms = 1 + chance(seed, MOST_TERMS);
    struct world *w = new_world(1 + chance(seed, chance(seed, 4) ? 60 : most), terms);
    random_keys(w, seed);
    for (size_t i = 0; i < w->count; i++) {
        struct row *r = &w->rows[i];
        const uint32_t longest = chance(seed, 4) ? 60 : MOST_WORDS;
        r->facts = (struct rank_facts){1 + chance(seed, longest), chance(seed, 3) == 0};
        r->named = chance(seed, 2) == 0;
        r->user = chance(seed, 3) == 0;
        w->average += r->facts.words / (double)w->count;
        for (size_t t = 0; t < w->terms; t++)
            if (chance(seed, 3 + (uint32_t)t) == 0)
                scatter_term(r, t, seed);
    }
    for (size_t t = 0; t < w->terms; t++) {
        int64_t entries = 0;
        for (size_t i = 0; i < w->count; i++)
            entries += w->rows[i].counts[t] > 0;
        w->idf[t] = rank_idf((int64_t)w->count, entries);
        w->idf_sum += w->idf[t];
    }
    return w;
}

/* Entries of ten words, each of a session of its own, with one term. */
static struct world *even_world(size_t count)
{
    struct world *w = new_world(count, 1);
    w->idf[0] = w->idf_sum = 2;
    w->average = 10;
    for (size_t i = 0; i < count; i++) {
        w->rows[i].key = rank_key((int64_t)i + 1, 0);
        w->rows[i].facts.words = 10;
    }
    return w;
}

static const struct row *row_of(const struct world *w, int64_t key)
{
    size_t low = 0, high = w->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->rows[middle].key == key)
            return &w->rows[middle];
        if (w->rows[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool find_words(void *context, int64_t key, double *out)
{
    struct world *w = context;
    const struct row *r = row_of(w, key);
    w->asked++;
    if (r)
        *out = r->facts.words;
    return w->asked != w->fails_at;
}

static bool find_asks(void *context, int64_t key, bool *out)
{
    const struct row *r = row_of(context, key);
    *out = r && r->facts.asks;
    return true;
}

static bool find_user(void *context, int64_t key, bool *out)
{
    struct world *w = context;
    const struct row *r = row_of(w, key);
    w->users_asked++;
    *out = r && r->user;
    return w->users_asked != w->user_fails_at;
}

static struct posting posting_of(const struct row *r, size_t term, struct place_bytes *places)
{
    struct posting p = {
        .key = r->key, .places = (uint32_t)places->bytes.len, .term = term & (PLACE_TERMS - 1)};
    uint32_t last = 0;
    for (uint32_t at = 0; at < MOST_WORDS; at++)
        if (r->stands[term][at]) {
            posting_add_place(&p, at - last);
            places_pack(places, at - last);
            last = at;
        }
    p.named = term == 0 && r->named;
    return p;
}

/* A query for all terms of the world as it is now. */
static const struct rank_input *ask(struct world *w)
{
    release_lists(w);
    for (size_t t = 0; t < w->terms; t++) {
        w->lists[t] = (struct postings){0};
        for (size_t i = 0; i < w->count; i++)
            if (w->rows[i].counts[t] > 0)
                vec_push(&w->lists[t].items, posting_of(&w->rows[i], t, &w->places));
    }
    w->in = (struct rank_input){.lists = w->lists,
                                .places = w->places.bytes.items,
                                .idf = w->idf,
                                .terms = w->terms,
                                .idf_sum = w->idf_sum,
                                .average = w->average,
                                .words = find_words,
                                .asks = find_asks,
                                .is_user = find_user,
                                .context = w};
    return &w->in;
}

static bool run(struct world *w, const struct rank_settings *s, size_t limit, struct ranking *out)
{
    return rank_best(s, ask(w), limit, out);
}

static const struct rank_settings *usual(void)
{
    static struct rank_settings settings;
    settings = rank_settings_for(1.2, 0.75);
    return &settings;
}

/* ---- the same as plainly as it can be said ---- */

static double plain_k(const struct world *w, const struct rank_settings *s, const struct row *r)
{
    return s->k1 * (1 - s->b + s->b * r->facts.words / w->average);
}

static double bm25(const struct world *w, const struct rank_settings *s, const double *counts,
                   double k)
{
    double sum = 0;
    for (size_t t = 0; t < w->terms; t++)
        if (counts[t] > 0)
            sum += w->idf[t] * counts[t] * (s->k1 + 1) / (counts[t] + k);
    return sum;
}

/* The score of the words from `from` to before `end`. */
static double plain_part(const struct world *w, const struct rank_settings *s, const struct row *r,
                         int from, int end)
{
    double counts[MOST_TERMS] = {0};
    for (size_t t = 0; t < w->terms; t++)
        for (int at = from; at < end && at < MOST_WORDS; at++)
            counts[t] += r->stands[t][at];
    return bm25(w, s, counts, plain_k(w, s, r));
}

static double plain_own(const struct world *w, const struct rank_settings *s, const struct row *r)
{
    return r ? plain_part(w, s, r, 0, MOST_WORDS) : 0;
}

static double plain_words(const struct world *w, const struct rank_settings *s, const struct row *r)
{
    double most = 0;
    if (r->facts.words <= 50 || !s->passages)
        return plain_own(w, s, r);
    for (int from = 0; from < MOST_WORDS; from++)
        most = fmax(most, plain_part(w, s, r, from, from + 50));
    return most;
}

static double plain_proximity(const struct world *w, const struct rank_settings *s,
                              const struct row *r)
{
    double sums[MOST_TERMS] = {0}, out = 0;
    int before = -1, term_before = 0;
    for (int at = 0; at < MOST_WORDS; at++)
        for (int t = 0; t < (int)w->terms; t++) {
            if (!r->stands[t][at])
                continue;
            double distance = at > before ? at - before : 1;
            if (before >= 0 && term_before != t) {
                sums[t] += w->idf[term_before] / distance / distance;
                sums[term_before] += w->idf[t] / distance / distance;
            }
            before = at;
            term_before = t;
        }
    for (size_t t = 0; t < w->terms; t++)
        if (sums[t] > 0)
            out += fmin(1, w->idf[t]) * sums[t] * (s->k1 + 1) / (sums[t] + plain_k(w, s, r));
    return s->near * out;
}

static bool plain_asks(const struct row *r)
{
    return r && r->facts.asks && r->facts.words <= 20;
}

static double plain_weight(const struct rank_settings *s, const struct row *r)
{
    double words = fmin(24, r->facts.words), weight = words / (words + 4) * 28 / 24;
    weight *= r->named && r->counts[0] > 0 ? s->named : 1;
    weight *= r->user ? s->user : 1;
    return plain_asks(r) ? weight * s->asks : weight;
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
    for (size_t i = 0; i < w->count; i++)
        for (size_t t = 0; belongs(w->rows[i].key, key) && t < w->terms; t++)
            counts[t] += w->rows[i].counts[t];
    return bm25(w, s, counts, s->k1);
}

static double plain_rank(const struct world *w, const struct rank_settings *s, const struct row *r)
{
    double sum = plain_words(w, s, r);
    if (sum <= 0)
        return 0;
    const struct row *before = row_of(w, r->key - 1), *after = row_of(w, r->key + 1);
    double around = (plain_asks(before) ? s->answer : s->before) * plain_own(w, s, before) +
                    s->after * plain_own(w, s, after);
    around += s->session * plain_joint(w, s, r->key, same_talk);
    around += s->window * plain_joint(w, s, r->key, same_window);
    sum += plain_proximity(w, s, r) + around * fmin(1, s->talk / w->average);
    return sum * plain_weight(s, r);
}

static double plain_held(const struct world *w, const struct row *r)
{
    double sum = 0;
    for (size_t t = 0; t < w->terms; t++)
        sum += r->counts[t] > 0 ? w->idf[t] : 0;
    return sum / w->idf_sum;
}

static int compare_down(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void expect_best(struct world *w, const struct rank_settings *s, size_t limit)
{
    double all[ROWS];
    size_t found = 0;
    struct ranking best;
    for (size_t i = 0; i < w->count; i++) {
        all[found] = plain_rank(w, s, &w->rows[i]);
        found += all[found] > 0;
    }
    qsort(all, found, sizeof *all, compare_down);
    assert_true(run(w, s, limit, &best));
    assert_true(best.items.len >= (found < limit ? found : limit));
    for (size_t i = 0; i < best.items.len; i++) {
        const struct ranked *r = &best.items.items[i];
        const struct row *row = row_of(w, r->key);
        assert_true(fabs(r->rank - all[i]) < 1e-6);
        assert_true(fabs(r->rank - plain_rank(w, s, row)) < 1e-6);
        assert_true(fabs(r->why.words - plain_words(w, s, row)) < 1e-6);
        assert_true(fabs(r->why.proximity - plain_proximity(w, s, row)) < 1e-6);
        assert_true(fabs(r->why.weight - plain_weight(s, row)) < 1e-6);
        assert_true(r->why.coverage > 0 && r->why.coverage <= 1);
        assert_true(fabs(r->why.held - plain_held(w, row)) < 1e-6);
        if (i >= limit)
            assert_true(fabs(r->rank - all[limit - 1]) < 1e-6);
    }
    vec_release(&best.items);
}

/* The result is the best of all entries, whatever the calculation skips: with the default settings,
 * and with others that give weight to other parts. */
TEST(is_what_it_is_meant_to_be)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < (int)suite_sample(100, 300); round++) {
        struct rank_settings s = rank_settings_for(1.2, 0.75);
        AUTO(free_world) struct world *w = random_world(&seed, ROWS);
        if (round % 3 == 1)
            s = rank_settings_for(chance(&seed, 30) / 10.0, chance(&seed, 11) / 10.0);
        if (round % 3 == 2) {
            s.near = chance(&seed, 4);
            s.user = 0.5 + chance(&seed, 3) * 0.5;
            s.asks = (1 + chance(&seed, 20)) / 10.0;
            s.named = 1 + chance(&seed, 3);
            s.passages = chance(&seed, 2) == 0;
        }
        expect_best(w, &s, 1 + chance(&seed, 30));
    }
}

/* If as many entries are wanted as exist, none can be skipped. */
TEST(the_best_are_the_best_of_all)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 150; round++) {
        AUTO(free_world) struct world *w = random_world(&seed, MANY_ROWS);
        struct ranking all, best;
        size_t limit = 1 + chance(&seed, 30);
        assert_true(run(w, usual(), w->count, &all));
        assert_true(rank_best(usual(), &w->in, limit, &best));
        assert_true(best.items.len >= (all.items.len < limit ? all.items.len : limit));
        for (size_t i = 0; i < best.items.len; i++) {
            const struct ranked *found = &best.items.items[i], *wanted = &all.items.items[i];
            assert_int_equal(found->key, wanted->key);
            assert_float_equal(found->rank, wanted->rank, 1e-9);
            assert_float_equal(found->why.words, wanted->why.words, 1e-9);
            assert_float_equal(found->why.session, wanted->why.session, 1e-9);
            assert_float_equal(found->why.window, wanted->why.window, 1e-9);
            assert_float_equal(found->why.before, wanted->why.before, 1e-9);
            assert_float_equal(found->why.after, wanted->why.after, 1e-9);
            assert_float_equal(found->why.weight, wanted->why.weight, 1e-9);
        }
        vec_release(&all.items);
        vec_release(&best.items);
    }
}

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
    uint64_t seed = support_seed();
    for (int round = 0; round < 60; round++) {
        AUTO(free_world) struct world *w = random_world(&seed, MANY_ROWS);
        struct ranking all;
        assert_true(run(w, usual(), w->count, &all));
        struct bounded b = {&all, 0};
        const struct rank_settings at = rank_settings_at(usual(), w->in.average);
        struct rank_survey survey = {0};
        rank_talks(&at, &w->in, -HUGE_VAL, expect_bound, &b, &survey);
        vec_release(&survey.talks);
        assert_int_equal(b.seen, all.items.len);
        vec_release(&all.items);
    }
}

static double expect_no_visit(void *context, const struct rank_entry *entry)
{
    (void)context;
    fail_msg("no rank can reach infinity, but that of %lld", (long long)entry->key);
    return HUGE_VAL;
}

/* Also in talks without an entry at the floor, whose bounds are computed in whole numbers. */
TEST(bounds_of_talks_are_true)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 60; round++) {
        AUTO(free_world) struct world *w = random_world(&seed, MANY_ROWS);
        struct rank_survey survey = {0};
        struct ranking all;
        assert_true(run(w, usual(), w->count, &all));
        const struct rank_settings at = rank_settings_at(usual(), w->in.average);
        rank_talks(&at, &w->in, HUGE_VAL, expect_no_visit, NULL, &survey);
        for (size_t i = 0, t; i < all.items.len; i++) {
            const struct ranked *r = &all.items.items[i];
            for (t = 0; survey.talks.items[t].talk != rank_key_talk(r->key); t++)
                assert_true(t + 1 < survey.talks.len);
            assert_true(survey.talks.items[t].most >= r->rank - 1e-9);
        }
        vec_release(&survey.talks);
        vec_release(&all.items);
    }
}

TEST(nothing_of_nothing)
{
    const struct rank_input none = {.average = 0};
    for (size_t limit = 0; limit <= 5; limit += 5) {
        struct ranking best;
        assert_true(rank_best(usual(), &none, limit, &best));
        assert_int_equal(best.items.len, 0);
    }
}

/* Ties beyond the limit come along; the newer first. */
TEST(ties_come_along)
{
    AUTO(free_world) struct world *w = even_world(12);
    struct ranking best;
    for (size_t i = 0; i < w->count; i++)
        put_term(&w->rows[i], 0, 0, i < 2 ? 5 : 1);
    assert_true(run(w, usual(), 4, &best));
    assert_int_equal(best.items.len, 12);
    assert_int_equal(best.items.items[0].key, w->rows[1].key);
    assert_int_equal(best.items.items[2].key, w->rows[11].key);
    vec_release(&best.items);
    assert_true(run(w, usual(), 2, &best));
    assert_int_equal(best.items.len, 2);
    vec_release(&best.items);
}

/* Facts cost a look into the index each, and whose message it is one into the table. */
TEST(few_facts_are_asked)
{
    AUTO(free_world) struct world *w = even_world(ROWS);
    struct ranking best;
    for (size_t i = 0; i < w->count; i++)
        put_term(&w->rows[i], 0, 0, i % 100 == 0 ? 9 : 1);
    assert_true(run(w, usual(), 5, &best));
    assert_in_range(w->asked, 5, 40);
    assert_in_range(w->users_asked, 5, 12);
    vec_release(&best.items);
    w->asked = 0;
    w->fails_at = 3;
    assert_false(run(w, usual(), 5, &best));
    assert_int_equal(best.items.len, 0);
    w->users_asked = w->fails_at = 0;
    w->user_fails_at = 3;
    assert_false(run(w, usual(), 5, &best));
    assert_int_equal(best.items.len, 0);
}

/* Sessions of forty entries with a common word, some of which have a rare word, too. */
TEST(few_facts_of_very_many_are_asked)
{
    AUTO(free_world) struct world *w = even_world(20000);
    struct ranking best;
    w->terms = 2;
    w->idf[0] = 1;
    w->idf[1] = 7;
    w->idf_sum = 8;
    w->average = 30;
    for (size_t i = 0; i < w->count; i++) {
        w->rows[i].key = rank_key(1 + (int64_t)i / 40, (int64_t)i % 40);
        w->rows[i].facts.words = 30;
        put_term(&w->rows[i], 0, (uint32_t)i % 20, 1);
        if (i % 500 == 0)
            put_term(&w->rows[i], 1, 25, 1);
    }
    assert_true(run(w, usual(), 5, &best));
    assert_true(best.items.len >= 5);
    assert_in_range(w->asked, 5, 400);
    vec_release(&best.items);
    for (w->fails_at = 1; w->fails_at <= 5; w->fails_at++) {
        w->asked = 0;
        assert_false(rank_best(usual(), &w->in, 5, &best));
        assert_int_equal(best.items.len, 0);
    }
}

/* Words that stand far apart are not worth a look at the facts. */
TEST(places_decide_before_facts)
{
    AUTO(free_world) struct world *w = even_world(20000);
    struct rank_settings s = *usual();
    struct ranking best;
    s.near = 4;
    w->terms = 2;
    w->idf[0] = w->idf[1] = 2;
    w->idf_sum = 4;
    w->average = 30;
    for (size_t i = 0; i < w->count; i++) {
        w->rows[i].facts.words = 30;
        put_term(&w->rows[i], 0, i < 100 && i % 20 == 0 ? 19 : 1, 1);
        put_term(&w->rows[i], 1, 20, 1);
    }
    assert_true(run(w, &s, 5, &best));
    assert_int_equal(best.items.items[4].key, w->rows[0].key);
    assert_in_range(w->asked, 5, 600);
    vec_release(&best.items);
}

/* Bounds that are all the same part nothing: the facts of each have to be asked for. */
TEST(facts_alone_may_decide)
{
    AUTO(free_world) struct world *w = even_world(ROWS);
    struct ranking best;
    for (size_t i = 0; i < w->count; i++) {
        put_term(&w->rows[i], 0, 0, 1);
        w->rows[i].facts.words = 24 + (double)i;
    }
    w->rows[ROWS - 1].facts.words = 25;
    w->rows[ROWS - 1].user = true;
    assert_true(run(w, usual(), 2, &best));
    assert_int_equal(best.items.len, 2);
    assert_int_equal(best.items.items[0].key, w->rows[ROWS - 1].key);
    assert_int_equal(best.items.items[1].key, w->rows[0].key);
    vec_release(&best.items);
}

/* Another session without the query's words changes neither order nor ranks, except through idf,
 * which is given. */
TEST(shares_stay_within_their_talk)
{
    AUTO(free_world) struct world *w = even_world(4);
    const int64_t keys[] = {rank_key(1, 5), rank_key(1, 6), rank_key(1, 64), rank_key(2, 6)};
    struct ranking best;
    w->terms = 2;
    w->idf[1] = 3;
    w->idf_sum = 5;
    for (size_t i = 0; i < w->count; i++) {
        w->rows[i].key = keys[i];
        put_term(&w->rows[i], 0, 0, 1);
    }
    put_term(&w->rows[0], 1, 5, 1);
    assert_true(run(w, usual(), 4, &best));
    assert_int_equal(best.items.items[0].key, keys[0]);
    assert_int_equal(best.items.items[1].key, keys[1]);
    const struct ranked *neighbour = &best.items.items[1], *far = &best.items.items[2];
    assert_true(neighbour->why.before > 0 && neighbour->why.after == 0);
    assert_true(neighbour->why.session > far->why.session);
    assert_true(neighbour->why.window > far->why.window);
    assert_true(far->why.before == 0 && far->why.after == 0);
    vec_release(&best.items);
}

/* Two entries with both terms: the first ranks higher because of one part of the ranking, and does
 * not without that part. With equal scores the newer entry ranks higher. */
TEST(each_part_decides)
{
    enum { LENGTH, PASSAGE, PROXIMITY, USER };
    static const struct {
        double words[2];
        uint32_t distance[2]; /* between the terms */
    } rows[] = {[LENGTH] = {{30, 45}, {9, 9}},
                /* Words that stand far apart in a long text do not count together. */
                [PASSAGE] = {{150, 150}, {30, 100}},
                [PROXIMITY] = {{40, 40}, {1, 30}},
                [USER] = {{40, 35}, {9, 9}}};
    for (int part = 0; part <= USER; part++) {
        AUTO(free_world) struct world *w = even_world(2);
        w->terms = 2;
        w->idf[1] = 3;
        w->idf_sum = 5;
        w->average = 40;
        for (size_t i = 0; i < 2; i++) {
            w->rows[i].facts.words = rows[part].words[i];
            put_term(&w->rows[i], 0, 0, 1);
            put_term(&w->rows[i], 1, rows[part].distance[i], 1);
        }
        if (part == PASSAGE)
            put_term(&w->rows[1], 0, 1, 1);
        w->rows[0].user = part == USER;
        for (int without = 0; without < 2; without++) {
            struct rank_settings s = *usual();
            struct ranking best;
            if (without) {
                s.b = part == LENGTH ? 0 : s.b;
                s.passages = s.passages && part != PASSAGE;
                s.near = part == PROXIMITY ? 0 : s.near;
                s.user = part == USER ? 1 : s.user;
            }
            assert_true(run(w, &s, 2, &best));
            if (best.items.items[0].key != w->rows[without].key)
                fail_msg("part %d%s", part, without ? ", without it" : "");
            vec_release(&best.items);
        }
    }
}

static double weight_of(double words, bool asks)
{
    AUTO(free_world) struct world *w = even_world(1);
    struct ranking best;
    w->rows[0].facts = (struct rank_facts){words, asks};
    put_term(&w->rows[0], 0, 0, 1);
    assert_true(run(w, usual(), 1, &best));
    double weight = best.items.items[0].why.weight;
    vec_release(&best.items);
    return weight;
}

/* A long message that ends with a question says something besides. */
TEST(only_short_questions_count_less)
{
    static const struct {
        double words;
        bool asks;
        double weight;
    } rows[] = {{24, false, 1},     {24, true, 1},       {500, true, 1},       {21, true, 0.98},
                {20, true, 0.7778}, {20, false, 0.9722}, {4, false, 0.583333}, {4, true, 0.466667}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fabs(weight_of(rows[i].words, rows[i].asks) - rows[i].weight) > 1e-4)
            fail_msg("%.0f words, asks %d: %f", rows[i].words, rows[i].asks,
                     weight_of(rows[i].words, rows[i].asks));
}

/* Shares of an entry that stands behind one that asks, where entries are of such length. */
static void expect_shares(double average, double part)
{
    AUTO(free_world) struct world *w = even_world(2);
    const struct rank_settings *s = usual();
    struct ranking best;
    w->average = average;
    w->rows[1].key = w->rows[0].key + 1;
    w->rows[0].facts.asks = true;
    put_term(&w->rows[0], 0, 0, 1);
    put_term(&w->rows[1], 0, 0, 1);
    assert_true(run(w, s, 2, &best));
    const struct ranked *r = &best.items.items[best.items.items[0].key == w->rows[0].key];
    double joint = bm25(w, s, (const double[MOST_TERMS]){2}, s->k1);
    double before = plain_own(w, s, &w->rows[0]);
    assert_true(fabs(r->why.before - part * s->answer * before) < 1e-9);
    assert_true(fabs(r->why.window - part * s->window * joint) < 1e-9);
    assert_true(fabs(r->why.session - part * s->session * joint) < 1e-9);
    vec_release(&best.items);
}

TEST(among_long_texts_shares_are_less)
{
    expect_shares(10, 1);
    expect_shares(30, 1);
    expect_shares(60, 0.5);
    expect_shares(300, 0.1);
}

/* An entry with the words of the same text has their last places side by side. */
TEST(words_that_are_far_apart_are_of_another_text)
{
    AUTO(free_world) struct world *w = even_world(20);
    w->terms = 2;
    w->idf[1] = 1;
    w->average = 20;
    for (uint32_t i = 0; i < 20; i++) {
        w->rows[i].facts.words = 30;
        put_term(&w->rows[i], 0, 3, 2);
        put_term(&w->rows[i], 1, 5 + i, 1);
    }
    for (size_t span = 0; span < 10; span++) {
        struct rank_input in = *ask(w);
        struct ranking best;
        in.span = span;
        assert_true(rank_best(usual(), &in, 1, &best));
        assert_int_equal(best.whole.count, span == 0 ? 20 : span - 1);
        for (size_t i = 0; i < best.whole.count; i++)
            assert_int_equal(best.whole.keys[i], w->rows[i].key);
        vec_release(&best.items);
    }
}

TEST(equal_postings_become_one)
{
    struct postings p = {0};
    const struct posting all[] = {{.key = 5, .count = 2, .named = 1, .places = 1, .last = 8},
                                  {.key = 9, .count = 1},
                                  {.key = 12, .count = 4, .places = 2},
                                  {.key = 2, .count = 1},
                                  {.key = 5, .count = 7, .places = 3},
                                  {.key = 12, .count = 3, .named = 1},
                                  {.key = 13, .count = 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        vec_push(&p.items, all[i]);
    postings_join(&p, 3);
    assert_int_equal(p.items.len, 5);
    assert_int_equal(p.items.items[0].key, 2);
    assert_true(p.items.items[1].count == 7 && p.items.items[1].named);
    assert_int_equal(p.items.items[1].places, 3);
    assert_int_equal(p.items.items[1].last, 8);
    assert_int_equal(p.items.items[2].key, 9);
    assert_true(p.items.items[3].count == 4 && p.items.items[3].named);
    assert_int_equal(p.items.items[3].places, 2);
    assert_int_equal(p.items.items[4].key, 13);
    vec_release(&p.items);
}

TEST(scores)
{
    assert_true(rank_score(-1) == 0 && rank_score(0) == 0 && rank_score(1) == 1);
    assert_true(rank_score(2) == 1);
    assert_true(fabs(rank_score(0.23) - 0.70) < 1e-12);
    assert_true(fabs(rank_score(0.115) - 0.35) < 1e-12);
    assert_true(fabs(rank_score(0.615) - 0.85) < 1e-12);
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
