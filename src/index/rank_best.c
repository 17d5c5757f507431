#include <stdlib.h>

#include "base/mem.h"
#include "index/rank_rows.h"

/* Rows with the highest bounds that are looked at first. */
enum { FIRST_ROOM = 250 };

static bool ranks_below(const struct ranked *a, const struct ranked *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->key < b->key;
}

/* Adds what was found, in order; what then ranks below the limit'th goes. */
static void keep_best(struct ranking *out, size_t limit, const struct ranked *found)
{
    size_t at = out->items.len;
    while (at > 0 && ranks_below(&out->items.items[at - 1], found))
        at--;
    vec_insert(&out->items, at, *found);
    while (out->items.len > limit + RANK_TIES ||
           (out->items.len > limit &&
            vec_last(&out->items).rank < out->items.items[limit - 1].rank - RANK_SAME))
        out->items.len--;
}

/* The rows with the highest bounds, as a heap with the lowest of them first. */
struct bounds {
    struct bound {
        double most;
        size_t row;
    } * items;
    size_t len;
};

static bool is_lower(const struct bound *a, const struct bound *b)
{
    return a->most != b->most ? a->most < b->most : a->row < b->row;
}

static void sift(struct bounds *b, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < b->len; at = child) {
        if (child + 1 < b->len && is_lower(&b->items[child + 1], &b->items[child]))
            child++;
        if (is_lower(&b->items[at], &b->items[child]))
            return;
        struct bound swap = b->items[at];
        b->items[at] = b->items[child];
        b->items[child] = swap;
    }
}

static int compare_bounds(const void *a, const void *b)
{
    return is_lower(a, b) ? 1 : -1;
}

/* Highest first. */
static struct bounds highest_bounds(const struct ranker *r, size_t room)
{
    struct bounds b = {.items = mem_alloc(room * sizeof *b.items)};
    for (size_t i = 0; i < r->rows.len; i++) {
        struct bound bound = {r->rows.items[i].bound, i};
        if (b.len < room) {
            b.items[b.len++] = bound;
            for (size_t at = b.len / 2; b.len == room && at-- > 0;)
                sift(&b, at);
        } else if (is_lower(&b.items[0], &bound)) {
            b.items[0] = bound;
            sift(&b, 0);
        }
    }
    qsort(b.items, b.len, sizeof *b.items, compare_bounds);
    return b;
}

/* Facts are asked only of rows that could still be among the best. *done: no row that is not
 * among the `room` with the highest bounds could be. */
static bool take_best(const struct ranker *r, size_t room, size_t limit, struct ranking *out,
                      bool *done)
{
    struct bounds b = highest_bounds(r, room);
    bool ok = true;
    *done = b.len == r->rows.len;
    for (size_t i = 0; ok && i < b.len; i++) {
        struct ranked found;
        if (out->items.len >= limit &&
            b.items[i].most < out->items.items[limit - 1].rank - RANK_SAME) {
            *done = true;
            break;
        }
        ok = ranker_rank(r, b.items[i].row, &found);
        if (ok)
            keep_best(out, limit, &found);
    }
    free(b.items);
    return ok;
}

bool rank_best(const struct rank_settings *settings, const struct rank_input *in, size_t limit,
               struct ranking *out)
{
    struct ranker r;
    bool ok = true, done = false;
    *out = (struct ranking){0};
    if (in->count == 0 || limit == 0)
        return true;
    ranker_init(&r, settings, in);
    for (size_t room = limit + FIRST_ROOM; ok && !done; room *= 16) {
        vec_clear(&out->items);
        ok = take_best(&r, room, limit, out, &done);
    }
    ranker_release(&r);
    if (!ok)
        vec_release(&out->items);
    return ok;
}
