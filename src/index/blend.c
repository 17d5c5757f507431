#include "index/blend.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double PREVIOUS = 0.5;
static const double WEIGHT = 0.5;  /* of a deviation by which an entry stands out, of the way that
                                    * the first by words is before what has none */
static const double BEYOND = 0.8;  /* deviations beyond chance from which it does */
static const double REPEATS = 0.4; /* correlation from which on cosines only repeat words */
/* Orders those that words did not find, and is too little to bring one before another. */
static const double NEARNESS = 1e-6;

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
    bool has_words;
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
        struct joined one = {.c = *c, .words = standard_of(&words, c->rank), .has_words = true};
        vec_push(&out.items, one);
    }
    for (size_t i = 0; i < in->vectors->items.len; i++) {
        const struct candidate *c = &in->vectors->items.items[i];
        struct joined one = {
            .c = *c, .words = standard_of(&words, 0), .vector = standard_of(&vectors, c->rank)};
        one.c.why.has_vector = true;
        vec_push(&out.items, one);
    }
    unite_equal(&out);
    return out;
}

/* ---- what stands out ---- */

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

/* What this question tells of its vectors. */
struct field {
    double repeats; /* correlation with words; never negative */
    double level;   /* deviations that chance explains */
    double weight;  /* of what is above it */
};

/* Standard scores of words grow with a store, of which always more has none of them. */
static double way_of_words(const struct blend_input *in)
{
    struct standard words = standard_words(in);
    double first = in->words->items.len > 0 ? in->words->items.items[0].rank : 0;
    return standard_of(&words, first) - standard_of(&words, 0);
}

static struct field field_of(const struct blend_input *in, const struct joined_list *l)
{
    double repeats = fmax(0, correlation(in, l)), own = fmax(0, 1 - repeats / REPEATS);
    return (struct field){.repeats = repeats,
                          .level = chance((double)in->field->count) + BEYOND,
                          .weight = WEIGHT * own * own * way_of_words(in)};
}

/* By so many deviations it is nearer than its words let expect and chance brings. */
static double stands_out(const struct field *f, const struct joined *one)
{
    double expected = f->repeats * fmax(0, one->words);
    return fmax(0, one->vector - expected - f->level);
}

static double rank_of(const struct field *f, const struct joined *one)
{
    return one->words + f->weight * stands_out(f, one) +
           (one->has_words ? 0 : NEARNESS * one->vector);
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
    struct field field = field_of(in, &l);
    *out = (struct candidates){.average = in->words->average};
    for (size_t i = 0; i < l.items.len; i++) {
        struct candidate c = l.items.items[i].c;
        c.rank = rank_of(&field, &l.items.items[i]);
        vec_push(&out->items, c);
    }
    if (out->items.len > 0)
        vec_sort(&out->items, compare_ranks);
    vec_release(&l.items);
}
