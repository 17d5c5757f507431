/* Blending the hits of words and vectors into one list: the score of each for an entry, and their
 * weights. */
#include "index/blend.h"

#include <math.h>

#include "base/entropy.h"
#include "tests/suite.h"

/* ALL: entries that there are, with the keys 0 … */
enum { ALL = 1000, NAMED = 40, NEAREST = 200 };

/* A question: what words and vectors say of each entry. */
struct question {
    double words[ALL], cosines[ALL]; /* words 0: it has none of them */
};

struct answer {
    struct candidates words, vectors, found;
    struct vectors_field field;
};

static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->rank != y->rank ? (x->rank < y->rank ? 1 : -1)
                              : (x->key > y->key) - (x->key < y->key);
}

static struct candidate by_words(int64_t key, double rank)
{
    return (struct candidate){.key = key, .rank = rank, .score = 0.3};
}

static struct candidate by_cosine(int64_t key, double cosine)
{
    return (struct candidate){.key = key,
                              .rank = cosine,
                              .score = cosine > 0 ? cosine : 0,
                              .why = {.has_vector = true, .cosine = cosine}};
}

/* The hits as a search returns them: the nearest entries, and those that words found. */
static struct answer ask(const struct question *q)
{
    struct answer a = {.field = {.count = ALL}};
    double squares = 0;
    for (int i = 0; i < ALL; i++) {
        if (q->words[i] > 0)
            vec_push(&a.words.items, by_words(i, q->words[i]));
        vec_push(&a.vectors.items, by_cosine(i, q->cosines[i]));
        a.field.mean += q->cosines[i] / ALL;
        squares += q->cosines[i] * q->cosines[i] / ALL;
    }
    a.field.deviation = sqrt(squares - a.field.mean * a.field.mean);
    if (a.words.items.len > 0)
        vec_sort(&a.words.items, compare);
    vec_sort(&a.vectors.items, compare);
    size_t kept = 0;
    for (size_t i = 0; i < ALL; i++)
        if (i < NEAREST || q->words[a.vectors.items.items[i].key] > 0)
            a.vectors.items.items[kept++] = a.vectors.items.items[i];
    a.vectors.items.len = kept;
    const struct blend_input in = {&a.words, &a.vectors, &a.field};
    blend(&in, &a.found);
    return a;
}

static void release(struct answer *a)
{
    vec_release(&a->words.items);
    vec_release(&a->vectors.items);
    vec_release(&a->found.items);
}

/* The sum of twelve is nearly normal, with the deviation 1. */
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += entropy_unit();
    return sum;
}

/* Words name some entries, the model says nothing. Valid until the next. */
static struct question *noise(void)
{
    static struct question only;
    struct question *q = &only;
    *q = (struct question){0};
    for (int i = 0; i < ALL; i++)
        q->cosines[i] = 0.2 + 0.05 * normal();
    for (int i = 0; i < NAMED; i++)
        q->words[(int)(entropy_unit() * ALL)] = 1 + 9 * entropy_unit();
    return q;
}

static int setup(void **state)
{
    support_setup(state);
    entropy_seed(support_seed());
    return 0;
}

FIXTURE(setup, support_teardown);

/* ---- how much vectors count ---- */

enum { KNOWN = 400, OTHER = 700, CALM_MOST = 2 };

/* Noise without outliers, and one entry that words put first. */
static struct question *calm(void)
{
    struct question *q = noise();
    for (int i = 0; i < ALL; i++)
        q->cosines[i] = fmin(q->cosines[i], 0.2 + 0.05 * CALM_MOST);
    q->words[OTHER] = 0;
    q->words[KNOWN] = 20;
    return q;
}

static double rank_of(const struct answer *a, int64_t key)
{
    for (size_t i = 0; i < a->found.items.len; i++)
        if (a->found.items.items[i].key == key)
            return a->found.items.items[i].rank;
    fail_msg("%d is not there", (int)key);
    return 0;
}

/* The standardised score by words alone. */
static double standard_words(const struct question *q, int64_t key)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < ALL; i++) {
        sum += q->words[i] / ALL;
        squares += q->words[i] * q->words[i] / ALL;
    }
    return (q->words[key] - sum) / sqrt(squares - sum * sum);
}

static bool is_order_of_words(const struct answer *a)
{
    for (size_t i = 0; i < a->words.items.len; i++)
        if (a->found.items.items[i].key != a->words.items.items[i].key)
            return false;
    return true;
}

static void say_nothing(struct question *q)
{
    (void)q;
}

static void be_all_the_same(struct question *q)
{
    for (int i = 0; i < ALL; i++)
        q->cosines[i] = 0.5;
}

static void repeat_words(struct question *q)
{
    for (int i = 0; i < ALL; i++)
        q->cosines[i] = 0.1 * q->words[i];
    q->cosines[OTHER] = 1.2;
}

TEST(words_order_where_vectors_say_nothing_new)
{
    static const struct {
        const char *name;
        void (*change)(struct question *q);
    } cases[] = {
        {"noise", say_nothing},
        {"all are as near", be_all_the_same},
        {"cosines say what words say, and something stands out", repeat_words},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct question *q = calm();
        cases[i].change(q);
        struct answer a = ask(q);
        if (!is_order_of_words(&a))
            fail_msg("%s", cases[i].name);
        release(&a);
    }
}

TEST(what_stands_out_comes_first)
{
    struct question *q = calm();
    q->cosines[OTHER] = 0.9;
    struct answer a = ask(q);
    assert_int_equal(a.found.items.items[0].key, OTHER);
    release(&a);
}

TEST(what_stands_out_does_so_in_a_large_store)
{
    struct question *q = calm();
    q->cosines[OTHER] = 0.9;
    struct answer a = ask(q);
    vec_release(&a.found.items);
    a.field.count = 100 * ALL;
    blend(&(struct blend_input){&a.words, &a.vectors, &a.field}, &a.found);
    assert_int_equal(a.found.items.items[0].key, OTHER);
    release(&a);
}

/* A model that brings many much nearer than chance does not tell which is the answer. */
TEST(what_stands_out_among_many_counts_less)
{
    enum { MANY = 20 };
    struct question *q = calm();
    q->cosines[OTHER] = 0.4;
    struct answer alone = ask(q);
    for (int i = 0; i < MANY; i++)
        q->cosines[OTHER + 1 + i] = 0.4;
    struct answer crowd = ask(q);
    double none = standard_words(q, OTHER);
    assert_true(rank_of(&alone, OTHER) > none + 1);
    assert_true(rank_of(&crowd, OTHER) - none < (rank_of(&alone, OTHER) - none) / 2);
    release(&alone);
    release(&crowd);
}

/* Less nearness is enough for an entry with many words. */
TEST(what_words_find_too_needs_to_stand_out_less)
{
    struct question *q = calm();
    double before = standard_words(q, KNOWN), none = standard_words(q, OTHER);
    for (int i = 0; i < ALL; i++) /* they do not repeat words */
        if (q->words[i] > 0)
            q->cosines[i] = 0.15;
    q->cosines[KNOWN] = q->cosines[OTHER] = 0.33;
    struct answer a = ask(q);
    assert_true(rank_of(&a, KNOWN) - before > rank_of(&a, OTHER) - none + 0.5);
    release(&a);
}

/* An equal cosine counts more for an entry that the words did not find. */
TEST(what_words_let_expect_adds_nothing)
{
    struct question *q = calm();
    for (int i = 0; i < ALL; i++)
        if (q->words[i] > 0)
            q->cosines[i] = 0.2 + 0.005 * q->words[i];
    q->cosines[KNOWN] = q->cosines[OTHER] = 0.42;
    struct answer a = ask(q);
    double added = rank_of(&a, KNOWN) - standard_words(q, KNOWN);
    assert_true(fabs(added) < 1e-9);
    assert_true(rank_of(&a, OTHER) - standard_words(q, OTHER) > 0.05);
    release(&a);
}

TEST(without_words_the_nearest_come_first)
{
    struct question *q = noise();
    for (int i = 0; i < ALL; i++)
        q->words[i] = 0;
    struct answer a = ask(q);
    for (size_t i = 0; i < NEAREST; i++)
        assert_int_equal(a.found.items.items[i].key, a.vectors.items.items[i].key);
    release(&a);
}

/* Entries without matching words follow the others, in order of nearness. */
TEST(what_words_did_not_find_is_not_lost)
{
    struct answer a = ask(calm());
    for (size_t i = a.words.items.len; i < a.found.items.len; i++) {
        const struct candidate *c = &a.found.items.items[i];
        assert_true(i == a.words.items.len || c[-1].why.cosine >= c->why.cosine);
    }
    release(&a);
}

TEST(the_turn_before_counts_in_short_talk)
{
    struct rank_settings s = rank_settings_for(1.2, 0.75);
    assert_true(fabs(blend_previous(&s, s.talk / 2) - 0.5) < 1e-9);
    assert_true(fabs(blend_previous(&s, s.talk * 4) - 0.125) < 1e-9);
}

/* ---- any question ---- */

static bool same_order(const struct candidates *a, const struct candidates *b)
{
    if (a->items.len != b->items.len)
        return false;
    for (size_t i = 0; i < a->items.len; i++)
        if (a->items.items[i].key != b->items.items[i].key)
            return false;
    return true;
}

/* A model that says nothing hardly changes which five come first. */
TEST(noise_changes_little)
{
    enum { QUESTIONS = 300, FEW = 5 };
    int kept = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        struct answer a = ask(noise());
        for (size_t k = 0; k < FEW; k++)
            for (size_t j = 0; j < FEW; j++)
                kept += a.found.items.items[k].key == a.words.items.items[j].key;
        release(&a);
    }
    print_message("%d of %d were kept\n", kept, QUESTIONS * FEW);
    assert_true(kept > QUESTIONS * FEW * 9 / 10);
}

/* The absolute size of ranks and cosines does not matter. */
TEST(only_what_is_relative_counts)
{
    for (int i = 0; i < 100; i++) {
        struct question *q = noise();
        if (i % 2 == 0)
            q->cosines[OTHER] = 0.45;
        struct answer a = ask(q);
        double factor = 0.01 + entropy_unit() * 50, spread = 0.1 + entropy_unit();
        for (int k = 0; k < ALL; k++) {
            q->words[k] *= factor;
            q->cosines[k] = q->cosines[k] * spread - 0.3;
        }
        struct answer b = ask(q);
        assert_true(same_order(&a.found, &b.found));
        release(&a);
        release(&b);
    }
}

/* Each entry occurs once, with the better of its scores, in order. */
TEST(each_stands_there_once)
{
    for (int i = 0; i < 100; i++) {
        int seen[ALL] = {0};
        struct question *q = noise();
        struct answer a = ask(q);
        assert_int_equal(a.found.items.len, a.vectors.items.len);
        for (size_t k = 0; k < a.found.items.len; k++) {
            const struct candidate *c = &a.found.items.items[k];
            double own = fmax(q->cosines[c->key], 0);
            assert_int_equal(seen[c->key]++, 0);
            assert_true(c->why.has_vector && c->why.cosine == q->cosines[c->key]);
            assert_true(c->score == (q->words[c->key] > 0 ? fmax(own, 0.3) : own));
            assert_true(k == 0 || c[-1].rank >= c->rank);
        }
        release(&a);
    }
}
