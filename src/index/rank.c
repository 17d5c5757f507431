#include "index/rank.h"

#include <math.h>
#include <stdlib.h>

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
    return (next + RANK_WINDOW + TALK_PLACES - 1) / TALK_PLACES * TALK_PLACES;
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

/* Of what is in order up to `middle` and from there to `end`. */
static void merge(const struct posting *from, size_t begin, size_t middle, size_t end,
                  struct posting *to)
{
    size_t a = begin, b = middle;
    for (size_t i = begin; i < end; i++)
        to[i] =
            b == end || (a < middle && !stands_before(&from[b], &from[a])) ? from[a++] : from[b++];
}

/* Every second of `begins` goes; the result is how many are left. */
static size_t merge_pairs(const struct posting *from, struct posting *to, size_t *begins,
                          size_t count, size_t len)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i += 2) {
        size_t middle = i + 1 < count ? begins[i + 1] : len;
        size_t end = i + 2 < count ? begins[i + 2] : len;
        merge(from, begins[i], middle, end, to);
        begins[left++] = begins[i];
    }
    return left;
}

static void unite_equal(struct postings *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->items.len; i++) {
        struct posting *last = kept > 0 ? &p->items.items[kept - 1] : NULL;
        const struct posting *this = &p->items.items[i];
        if (!last || stands_before(last, this)) {
            p->items.items[kept++] = *this;
            continue;
        }
        bool named = last->named || this->named;
        if (this->count > last->count)
            *last = *this;
        last->named = named;
    }
    p->items.len = kept;
}

void postings_merge(struct postings *p, const size_t *begins, size_t count)
{
    size_t *left = mem_alloc((count + 1) * sizeof *left);
    struct posting *other = mem_alloc((p->items.len + 1) * sizeof *other);
    for (size_t i = 0; i < count; i++)
        left[i] = begins[i];
    while (count > 1) {
        count = merge_pairs(p->items.items, other, left, count, p->items.len);
        struct posting *swap = p->items.items;
        p->items.items = other;
        p->items.cap = p->items.len + 1;
        other = swap;
    }
    free(other);
    free(left);
}

void postings_order(struct postings *p, const size_t *begins, size_t count)
{
    postings_merge(p, begins, count);
    unite_equal(p);
}

size_t postings_find(const struct postings *list, size_t near, int64_t key)
{
    const struct posting *p = list->items.items;
    size_t from = 0, end = list->items.len;
    if (near < end && p[near].key >= key) {
        end = near;
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
