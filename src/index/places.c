#include "index/places.h"

#include <math.h>
#include <stdlib.h>

enum { PLACE_BITS = 7, PLACE_GOES_ON = 1 << PLACE_BITS, PLACE_NEAREST = 2 };

void places_pack(struct place_bytes *out, uint32_t more)
{
    uint64_t number = (uint64_t)more + PLACE_NEAREST;
    int shift = 0;
    while (number >> shift >= PLACE_GOES_ON)
        shift += PLACE_BITS;
    for (; shift > 0; shift -= PLACE_BITS)
        vec_push(&out->bytes, (unsigned char)(number >> shift | PLACE_GOES_ON));
    vec_push(&out->bytes, (unsigned char)(number & (PLACE_GOES_ON - 1)));
}

void places_unpack(const unsigned char *bytes, uint32_t count, uint32_t term,
                   struct occurrences *out)
{
    struct occurrence place = {.term = term};
    for (; count > 0; count--) {
        uint32_t number = 0;
        for (; *bytes & PLACE_GOES_ON; bytes++)
            number = number << PLACE_BITS | (*bytes & (PLACE_GOES_ON - 1));
        place.at += (number << PLACE_BITS | *bytes++) - PLACE_NEAREST;
        vec_push(&out->items, place);
    }
}

static int compare_places(const void *a, const void *b)
{
    const struct occurrence *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at)
                          : (x->term > y->term) - (x->term < y->term);
}

void places_order(struct occurrences *p)
{
    vec_sort(&p->items, compare_places);
}

/* What one more of a term that is there `n` times adds. */
static double step(const struct place_worth *w, uint32_t term, uint32_t n)
{
    return w->weights[term] * (saturate(n + 1.0, w->k1, w->k) - saturate(n, w->k1, w->k));
}

struct passage places_passage(const struct occurrences *p, const struct place_worth *worth)
{
    const struct occurrence *at = p->items.items;
    uint32_t counts[PLACE_TERMS] = {0};
    struct passage best = {0};
    double sum = 0;
    for (size_t first = 0, i = 0; i < p->items.len; i++) {
        for (; at[i].at - at[first].at >= PASSAGE_WORDS; first++)
            sum -= step(worth, at[first].term, --counts[at[first].term]);
        sum += step(worth, at[i].term, counts[at[i].term]++);
        if (sum > best.worth)
            best = (struct passage){first, i + 1, sum};
    }
    return best;
}

double places_proximity(const struct occurrences *p, size_t terms, const struct place_worth *worth)
{
    const struct occurrence *at = p->items.items;
    double sums[PLACE_TERMS] = {0}, out = 0;
    for (size_t i = 1; i < p->items.len; i++) {
        const struct occurrence *a = &at[i - 1], *b = &at[i];
        double distance = fmax(1, b->at - a->at);
        if (a->term == b->term)
            continue;
        sums[a->term] += worth->weights[b->term] / (distance * distance);
        sums[b->term] += worth->weights[a->term] / (distance * distance);
    }
    for (size_t i = 0; i < terms; i++)
        out += fmin(1, worth->weights[i]) * saturate(sums[i], worth->k1, worth->k);
    return out;
}
