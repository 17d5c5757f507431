#include "index/blend.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_pack.h"
#include "base/mem.h"

/* ---- calibration ---- */

/* Ranking by words gives one random pair in ACCEPTED_ONE_IN more than this score. */
#define USEFUL_SCORE 0.7
enum { ACCEPTED_ONE_IN = 1000, FEWEST_PAIRS = 2 * ACCEPTED_ONE_IN };

static const struct calibration unfitted = {.count = 2, .knots = {{0, 0}, {1, 1}}};

static double clamp(double score)
{
    return score < 0 ? 0 : score > 1 ? 1 : score;
}

double calibration_score(const struct calibration *c, double cosine)
{
    if (c->count == 0)
        c = &unfitted;
    const struct knot *k = c->knots;
    size_t i = 1;
    if (!(cosine > k[0].cosine))
        return clamp(k[0].score);
    while (i < c->count && cosine > k[i].cosine)
        i++;
    if (i == c->count)
        return clamp(k[i - 1].score);
    double part = (cosine - k[i - 1].cosine) / (k[i].cosine - k[i - 1].cosine);
    return clamp(k[i - 1].score + part * (k[i].score - k[i - 1].score));
}

static int compare_cosines(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add_knot(struct calibration *c, double cosine, double score)
{
    if (c->count == 0 || cosine > c->knots[c->count - 1].cosine)
        c->knots[c->count++] = (struct knot){cosine, score};
}

/* (1 + cos) / 2, moved and stretched so that the median of random pairs is 0 and 1 is 1, is a
 * straight line between the two. */
struct calibration calibration_fit(double *cosines, size_t count)
{
    struct calibration c = {0};
    if (count == 0)
        return c;
    qsort(cosines, count, sizeof *cosines, compare_cosines);
    double median = cosines[count / 2];
    if (!(median < 1))
        return c;
    add_knot(&c, median, 0);
    if (count >= FEWEST_PAIRS && cosines[count - 1 - count / ACCEPTED_ONE_IN] < 1) {
        double high = cosines[count - 1 - count / ACCEPTED_ONE_IN];
        double straight = (high - median) / (1 - median);
        if (straight < USEFUL_SCORE)
            add_knot(&c, high, USEFUL_SCORE);
    }
    add_knot(&c, 1, 1);
    return c;
}

char *calibration_print(const struct calibration *c)
{
    AUTO(json_free_local) struct json *all = json_new_array();
    for (size_t i = 0; i < c->count; i++)
        json_push(all, json_pack("{cosine:d score:d}", c->knots[i].cosine, c->knots[i].score));
    return json_print(all);
}

bool calibration_parse(const char *text, struct calibration *out)
{
    AUTO(json_free_local) struct json *all = text ? json_parse(text, strlen(text), NULL) : NULL;
    struct calibration c = {0};
    *out = c;
    if (json_type(all) != JSON_ARRAY || json_len(all) < 2 || json_len(all) > CALIBRATION_KNOTS)
        return false;
    for (const struct json *v = json_first(all); v; v = json_next(v)) {
        struct knot k = {json_get_number(v, "cosine", NAN), json_get_number(v, "score", NAN)};
        const struct knot *last = c.count ? &c.knots[c.count - 1] : NULL;
        if (!(k.cosine >= -1 && k.cosine <= 1 && k.score >= 0 && k.score <= 1) ||
            (last && (k.cosine <= last->cosine || k.score < last->score)))
            return false;
        c.knots[c.count++] = k;
    }
    *out = c;
    return true;
}

static const double PREVIOUS = 0.5;
/* Near these values recall hardly changes (doc/decisions.md). */
static const double WEIGHT = 0.4;  /* of a deviation by which an entry stands out, of the way that
                                    * the first by words is before what has none */
static const double BEYOND = 0.2;  /* deviations beyond chance from which it does */
static const double FIRST = 1;     /* and so many less for the first by words */
static const double REPEATS = 0.8; /* correlation from which on cosines only repeat words */
enum { CROWD = 6 };                /* the nearest that chance is compared with */
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

/* Over all entries, most of which have no word of the question. */
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

static struct standard standard_vectors(const struct blend_input *in)
{
    const struct vectors_field *f = in->field;
    bool differ = f->deviation > FLT_EPSILON; /* by more than the precision of floats */
    return (struct standard){f->mean, differ ? f->deviation : 0};
}

/* ---- one list ---- */

/* An entry with its standard scores. */
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

/* An entry without a matching word has rank 0; one without a vector has the mean nearness. */
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
    size_t kept = 0;
    struct joined_list *l = &out;
    if (l->items.len > 0)
        vec_sort(&l->items, compare_joined);
    for (size_t i = 0; i < l->items.len; i++) {
        const struct joined *one = &l->items.items[i];
        struct joined *to = kept > 0 ? &l->items.items[kept - 1] : NULL;
        if (!to || to->c.key != one->c.key) {
            l->items.items[kept++] = *one;
            continue;
        }
        /* The same entry, from words and from vectors. */
        const struct joined *vector = to->c.why.has_vector ? to : one;
        struct joined both = to->c.why.has_vector ? *one : *to;
        both.vector = vector->vector;
        both.c.score = fmax(to->c.score, one->c.score);
        both.c.why.has_vector = true;
        both.c.why.cosine = vector->c.why.cosine;
        *to = both;
    }
    l->items.len = kept;
    return out;
}

/* ---- what stands out ---- */

struct field {
    double none, way; /* standard score without words; from there to that of the first by words */
    double repeats;   /* correlation of cosines with words; never negative */
    double scale;     /* of the vectors' scores: less than 1 where many are nearer than by chance */
    double level;     /* deviations from which on an entry without words stands out */
    double weight;    /* of the part above that */
};

/* Deviations by which the greatest of so many independent values exceeds the mean: where the tail
 * of the normal distribution, exp(-x²/2) / (x sqrt(2π)), is 1 / count. */
static double chance_of(double count)
{
    double chance = 1;
    for (int i = 0; i < 8; i++) {
        double tail = count / (chance * 2.5066282746310002);
        chance = tail > 1.7 ? sqrt(2 * log(tail)) : 1;
    }
    return chance;
}

static struct field field_of(const struct blend_input *in, const struct joined_list *l)
{
    const struct candidates *near = in->vectors;
    struct standard words = standard_words(in), vectors = standard_vectors(in);
    double sum = 0, none = standard_of(&words, 0), count = (double)in->field->count;
    double first = in->words->items.len > 0 ? in->words->items.items[0].rank : 0;
    /* Over all entries: those without words all have one standard score, and the sum of the
     * vectors' is zero. */
    for (size_t i = 0; i < l->items.len; i++)
        sum += (l->items.items[i].words - none) * l->items.items[i].vector;
    double repeats = fmax(0, count > 0 ? sum / count : 0), own = fmax(0, 1 - repeats / REPEATS);
    double crowd =
        near->items.len < CROWD ? 0 : standard_of(&vectors, near->items.items[CROWD - 1].rank);
    double way = standard_of(&words, first) - none;
    return (struct field){.none = none,
                          .way = way,
                          .repeats = repeats,
                          .scale = fmin(1, chance_of(count / CROWD) / fmax(crowd, FLT_EPSILON)),
                          .level = chance_of(count) + BEYOND,
                          .weight = WEIGHT * own * own * way};
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
        const struct joined *one = &l.items.items[i];
        struct candidate c = one->c;
        /* Deviations by which it is nearer than its words and chance explain. The better its words,
         * the fewer others there are among which chance could have chosen it. */
        double expected = field.repeats * fmax(0, one->words);
        double found = field.way > 0 ? (one->words - field.none) / field.way : 0;
        double out_by = fmax(0, field.scale * one->vector - expected - field.level + FIRST * found);
        c.rank = one->words + field.weight * out_by + (one->has_words ? 0 : NEARNESS * one->vector);
        vec_push(&out->items, c);
    }
    if (out->items.len > 0)
        vec_sort(&out->items, compare_ranks);
    vec_release(&l.items);
}
