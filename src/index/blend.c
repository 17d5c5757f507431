#include "index/blend.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* The first by words: a hundredth of all entries, so that chance hardly brings the nearest there.
 */
enum { FIRST_OF = 100, MOST_FIRST = 10 };
static const double PREVIOUS = 0.5;
static const double AGREEMENT = 0.8; /* what it is worth that both agree */
static const double OUT_FROM = 1.5;  /* deviations beyond chance from which one stands out … */
static const double OUT_AT = 2.5;    /* … and at which it does without doubt */
static const double SAME_AS_WORDS = 0.5; /* correlation from which on cosines say nothing new */

double blend_previous(const struct rank_settings *settings, double average)
{
    return average > settings->talk ? PREVIOUS * settings->talk / average : PREVIOUS;
}

/* ---- standard scores ---- */

struct standard {
    double mean, deviation;
};

static double standard_of(const struct standard *s, double value)
{
    return s->deviation > 0 ? (value - s->mean) / s->deviation : 0;
}

/* Of all entries, most of which have no word of the question. */
static struct standard standard_words(const struct blend_input *in)
{
    double sum = 0, squares = 0;
    size_t found = in->words->items.len;
    double all = fmax((double)in->field->count, (double)found);
    for (size_t i = 0; i < found; i++) {
        double rank = in->words->items.items[i].rank;
        sum += rank;
        squares += rank * rank;
    }
    if (all <= 0)
        return (struct standard){0};
    double mean = sum / all, variance = squares / all - mean * mean;
    return (struct standard){mean, variance > 0 ? sqrt(variance) : 0};
}

/* Less than floats tell apart is nothing. */
static struct standard standard_vectors(const struct blend_input *in)
{
    double deviation = in->field->deviation;
    return (struct standard){in->field->mean, deviation > FLT_EPSILON ? deviation : 0};
}

/* ---- one list ---- */

/* An entry, and what both say of it: standard scores, where it has them. */
struct joined {
    struct candidate c;
    double words, vector;
    size_t place; /* by words */
};
struct joined_list {
    VEC(struct joined) items;
};

static int compare_joined(const void *a, const void *b)
{
    const struct joined *x = a, *y = b;
    return (x->c.key > y->c.key) - (x->c.key < y->c.key);
}

/* The same entry twice: what vectors know of it joins what words know. */
static void join(struct joined *to, const struct joined *from)
{
    const struct joined *vector = to->c.why.has_vector ? to : from;
    struct joined both = to->c.why.has_vector ? *from : *to;
    both.vector = vector->vector;
    both.c.score = fmax(to->c.score, from->c.score);
    both.c.why.has_vector = true;
    both.c.why.cosine = vector->c.why.cosine;
    *to = both;
}

static void unite_equal(struct joined_list *l)
{
    size_t kept = 0;
    if (l->items.len > 0)
        vec_sort(&l->items, compare_joined);
    for (size_t i = 0; i < l->items.len; i++) {
        if (kept > 0 && l->items.items[kept - 1].c.key == l->items.items[i].c.key)
            join(&l->items.items[kept - 1], &l->items.items[i]);
        else
            l->items.items[kept++] = l->items.items[i];
    }
    l->items.len = kept;
}

/* What has no word has the rank 0; what has no vector is as near as the mean. */
static struct joined_list join_all(const struct blend_input *in)
{
    struct joined_list out = {0};
    struct standard words = standard_words(in), vectors = standard_vectors(in);
    for (size_t i = 0; i < in->words->items.len; i++) {
        const struct candidate *c = &in->words->items.items[i];
        struct joined one = {.c = *c, .words = standard_of(&words, c->rank), .place = i};
        vec_push(&out.items, one);
    }
    for (size_t i = 0; i < in->vectors->items.len; i++) {
        const struct candidate *c = &in->vectors->items.items[i];
        struct joined one = {.c = *c,
                             .words = standard_of(&words, 0),
                             .vector = standard_of(&vectors, c->rank),
                             .place = SIZE_MAX};
        one.c.why.has_vector = true;
        vec_push(&out.items, one);
    }
    unite_equal(&out);
    return out;
}

/* ---- the share ---- */

static double within(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* Of so many independent ones the greatest is about so many deviations above the mean: where the
 * tail of the normal distribution, exp(-x²/2) / (x sqrt(2π)), is 1 / count. */
static double chance(double count)
{
    double x = 1;
    for (int i = 0; i < 8; i++) {
        double tail = count / (x * 2.5066282746310002);
        x = tail > 1.7 ? sqrt(2 * log(tail)) : 1;
    }
    return x;
}

/* Over all entries. Those that words did not find all have one standard score, and the vectors'
 * sum up to nothing. */
static double correlation(const struct blend_input *in, const struct joined_list *l)
{
    struct standard words = standard_words(in);
    double sum = 0, none = standard_of(&words, 0);
    for (size_t i = 0; i < l->items.len; i++)
        sum += (l->items.items[i].words - none) * l->items.items[i].vector;
    return in->field->count > 0 ? sum / (double)in->field->count : 0;
}

static size_t count_first(int64_t all)
{
    return all < FIRST_OF ? 1 : all < FIRST_OF * MOST_FIRST ? (size_t)(all / FIRST_OF) : MOST_FIRST;
}

static double share_of(const struct blend_input *in, const struct joined_list *l)
{
    const struct joined *nearest = NULL;
    for (size_t i = 0; i < l->items.len; i++)
        if (!nearest || l->items.items[i].vector > nearest->vector)
            nearest = &l->items.items[i];
    if (!nearest || nearest->vector <= 0)
        return 0;
    if (in->words->items.len == 0)
        return BLEND_MOST;
    double agrees = nearest->place < count_first(in->field->count) ? AGREEMENT : 0;
    double beyond = nearest->vector - chance((double)in->field->count);
    double stands_out = within((beyond - OUT_FROM) / (OUT_AT - OUT_FROM));
    double own = within(1 - correlation(in, l) / SAME_AS_WORDS);
    return BLEND_MOST * fmax(agrees, stands_out) * own;
}

double blend_share(const struct blend_input *in)
{
    struct joined_list l = join_all(in);
    double share = share_of(in, &l);
    vec_release(&l.items);
    return share;
}

/* ---- the order ---- */

static int compare_ranks(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return (x->key < y->key) - (x->key > y->key);
}

void blend(const struct blend_input *in, struct candidates *out)
{
    struct joined_list l = join_all(in);
    double share = share_of(in, &l);
    *out = (struct candidates){.average = in->words->average};
    for (size_t i = 0; i < l.items.len; i++) {
        struct candidate c = l.items.items[i].c;
        c.rank = (1 - share) * l.items.items[i].words + share * l.items.items[i].vector;
        vec_push(&out->items, c);
    }
    if (out->items.len > 0)
        vec_sort(&out->items, compare_ranks);
    vec_release(&l.items);
}
