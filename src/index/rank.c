#include "index/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { PAUSE_MS = 6 * 60 * 60 * 1000, TALK_PLACES = 1 << RANK_TALK_BITS };

struct rank_settings rank_settings_for(double k1, double b)
{
    return (struct rank_settings){.k1 = k1,
                                  .b = b,
                                  .before = 0.3,
                                  .after = 0.1,
                                  .answer = 1,
                                  .session = 0.3,
                                  .window = 0.4,
                                  .named = 1.5,
                                  .asks = 0.8,
                                  .half = 4,
                                  .talk = 30,
                                  .near = 0.5,
                                  .passages = true,
                                  .user = 1.3};
}

struct rank_settings rank_settings_alone(void)
{
    struct rank_settings s = rank_settings_for(1.2, 0.75);
    s.before = s.after = s.answer = s.session = s.window = 0;
    s.asks = s.named = s.user = 1;
    s.half = 0;
    s.passages = false;
    return s;
}

int64_t rank_place_for(int64_t next, int64_t last_ms, int64_t created_ms)
{
    int64_t pause = created_ms > last_ms ? created_ms - last_ms : last_ms - created_ms;
    bool has_room = next < (int64_t)1 << (RANK_PLACE_BITS - 1);
    if (pause < PAUSE_MS || next == 0 || !has_room)
        return next;
    return rank_next_talk(next);
}

int64_t rank_next_talk(int64_t next)
{
    return next == 0 ? 0 : (next + RANK_WINDOW + TALK_PLACES - 1) / TALK_PLACES * TALK_PLACES;
}

double rank_idf(int64_t all, int64_t entries)
{
    double n = (double)entries;
    double others = (double)(all > entries ? all - entries : 0);
    return log(1 + (others + 0.5) / (n + 0.5));
}

double rank_score(double coverage)
{
    const double knee = 0.23, at_knee = 0.70;
    if (coverage <= 0)
        return 0;
    if (coverage >= 1)
        return 1;
    if (coverage <= knee)
        return coverage / knee * at_knee;
    return at_knee + (coverage - knee) / (1 - knee) * (1 - at_knee);
}

/* ---- postings ---- */

static bool stands_before(const struct posting *a, const struct posting *b)
{
    return a->key != b->key ? a->key < b->key : a->term < b->term;
}

void postings_merge(struct postings *p, const size_t *begins, size_t count)
{
    if (count < 2)
        return;
    auto_free size_t *left = mem_alloc(count * sizeof *left);
    struct posting *other = mem_alloc((p->items.len + 1) * sizeof *other);
    memcpy(left, begins, count * sizeof *left);
    while (count > 1) {
        size_t kept = 0;
        for (size_t i = 0; i < count; i += 2) {
            size_t middle = i + 1 < count ? left[i + 1] : p->items.len;
            size_t end = i + 2 < count ? left[i + 2] : p->items.len;
            const struct posting *from = p->items.items;
            size_t a = left[i], b = middle;
            for (size_t to = left[i]; to < end; to++)
                other[to] = b == end || (a < middle && !stands_before(&from[b], &from[a]))
                                ? from[a++]
                                : from[b++];
            left[kept++] = left[i];
        }
        count = kept;
        struct posting *swap = p->items.items;
        p->items.items = other;
        p->items.cap = p->items.len + 1;
        other = swap;
    }
    free(other);
}

void postings_join(struct postings *p, size_t middle)
{
    struct posting *all = p->items.items;
    size_t len = p->items.len, old = middle, newer = len - middle, at = len;
    auto_free struct posting *copy = mem_alloc(newer * sizeof *copy);
    memcpy(copy, all + middle, newer * sizeof *copy);
    for (; newer > 0; newer--) {
        struct posting b = copy[newer - 1];
        const struct postings left = {.items = {all, old, old}};
        size_t from = postings_find(&left, old - 1, b.key), behind = from;
        if (from < old && all[from].key == b.key) {
            struct posting a = all[behind++], *more = a.count >= b.count ? &a : &b;
            more->last = a.last > b.last ? a.last : b.last;
            more->named = a.named || b.named;
            b = *more;
        }
        at -= old - behind;
        memmove(all + at, all + behind, (old - behind) * sizeof *all);
        all[--at] = b;
        old = from;
    }
    /* Entries of both have left a gap. */
    memmove(all + old, all + at, (len - at) * sizeof *all);
    p->items.len -= at - old;
}

size_t postings_find(const struct postings *list, size_t near, int64_t key)
{
    const struct posting *p = list->items.items;
    size_t from = 0, end = list->items.len;
    if (near < end && p[near].key >= key) {
        size_t step = 1;
        for (end = near; end > step && p[end - step].key >= key; step *= 2)
            end -= step;
        from = end > step ? end - step + 1 : 0;
    } else if (near < end) {
        size_t step = 1;
        for (from = near + 1; from + step < end && p[from + step].key < key; step *= 2)
            from += step;
        end = from + step < end ? from + step : end;
    }
    while (from < end) {
        size_t middle = from + (end - from) / 2;
        if (p[middle].key < key)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

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
    vec_reserve(&out->items, out->items.len + count);
    for (; count > 0; count--) {
        uint32_t number = 0;
        for (; *bytes & PLACE_GOES_ON; bytes++)
            number = number << PLACE_BITS | (*bytes & (PLACE_GOES_ON - 1));
        place.at += (number << PLACE_BITS | *bytes++) - PLACE_NEAREST;
        out->items.items[out->items.len++] = place;
    }
}

static int compare_places(const void *a, const void *b)
{
    const struct occurrence *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at)
                          : (x->term > y->term) - (x->term < y->term);
}

/* Few, as most texts have, are sorted by insertion, without the calls of a function. */
enum { FEW_PLACES = 24 };

void places_order(struct occurrences *p)
{
    struct occurrence *at = p->items.items;
    if (p->items.len > FEW_PLACES)
        vec_sort(&p->items, compare_places);
    for (size_t i = 1; i < p->items.len && p->items.len <= FEW_PLACES; i++) {
        struct occurrence moved = at[i];
        size_t to = i;
        for (; to > 0 && compare_places(&at[to - 1], &moved) > 0; to--)
            at[to] = at[to - 1];
        at[to] = moved;
    }
}

/* The worth of one more occurrence of a term that is there `n` times. */
static double gain(const struct place_worth *w, uint32_t term, uint32_t n)
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
            sum -= gain(worth, at[first].term, --counts[at[first].term]);
        sum += gain(worth, at[i].term, counts[at[i].term]++);
        if (sum > best.worth)
            best = (struct passage){first, i + 1, sum};
    }
    return best;
}

double places_proximity(const struct occurrences *p, size_t terms, const struct place_worth *worth)
{
    const struct occurrence *at = p->items.items;
    double sums[PLACE_TERMS], out = 0;
    memset(sums, 0, terms * sizeof *sums);
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
