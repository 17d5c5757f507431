#include <stdlib.h>

#include "base/mem.h"
#include "index/rank.h"

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
        last->count = this->count > last->count ? this->count : last->count;
        last->named = last->named || this->named;
    }
    p->items.len = kept;
}

void postings_order(struct postings *p, const size_t *begins, size_t count)
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
    unite_equal(p);
}
