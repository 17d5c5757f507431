#include "index/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* Ranking by words gives about one random pair in so many more than this score. */
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

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add(struct calibration *c, double cosine, double score)
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
    qsort(cosines, count, sizeof *cosines, compare);
    double median = cosines[count / 2];
    if (!(median < 1))
        return c;
    add(&c, median, 0);
    if (count >= FEWEST_PAIRS && cosines[count - 1 - count / ACCEPTED_ONE_IN] < 1) {
        double high = cosines[count - 1 - count / ACCEPTED_ONE_IN];
        double straight = (high - median) / (1 - median);
        if (straight < USEFUL_SCORE)
            add(&c, high, USEFUL_SCORE);
    }
    add(&c, 1, 1);
    return c;
}

char *calibration_print(const struct calibration *c)
{
    struct json *all = json_new_array();
    for (size_t i = 0; i < c->count; i++) {
        struct json *knot = json_new_object();
        json_set_number(knot, "cosine", c->knots[i].cosine);
        json_set_number(knot, "score", c->knots[i].score);
        json_push(all, knot);
    }
    char *text = json_print(all);
    json_free(all);
    return text;
}

static bool parse_knot(const struct json *v, struct calibration *out)
{
    struct knot k = {json_get_number(v, "cosine", NAN), json_get_number(v, "score", NAN)};
    const struct knot *last = out->count ? &out->knots[out->count - 1] : NULL;
    bool fits = out->count < CALIBRATION_KNOTS && k.cosine >= -1 && k.cosine <= 1 && k.score >= 0 &&
                k.score <= 1;
    if (!fits || (last && (k.cosine <= last->cosine || k.score < last->score)))
        return false;
    out->knots[out->count++] = k;
    return true;
}

bool calibration_parse(const char *text, struct calibration *out)
{
    struct json *all = text ? json_parse(text, strlen(text), NULL) : NULL;
    bool ok = json_type(all) == JSON_ARRAY && json_len(all) >= 2;
    *out = (struct calibration){0};
    for (const struct json *v = ok ? json_first(all) : NULL; ok && v; v = json_next(v))
        ok = parse_knot(v, out);
    json_free(all);
    if (!ok)
        *out = (struct calibration){0};
    return ok;
}
