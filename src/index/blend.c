#include "index/blend.h"

#include <math.h>
#include <stdlib.h>

static const double words_weight = 0.5, vectors_weight = 0.5;

/* The whole rank by the highest of its parts' sum: as coverage is of the entry's own words. */
static double whole_score(const struct rank_settings *s, const struct candidate *c)
{
    double shares = 1 + s->before + s->after + s->session + s->window;
    if (c->why.words <= 0)
        return 0;
    return rank_score(c->why.coverage * c->rank / c->why.words / shares);
}

static int compare_keys(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int compare_ranks(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return compare_keys(b, a);
}

/* The same entry twice: what vectors know of it joins what words know. */
static struct candidate join(struct candidate a, const struct candidate *b)
{
    const struct candidate *with_words = a.why.has_vector ? b : &a;
    const struct candidate *with_vector = a.why.has_vector ? &a : b;
    struct candidate both = *with_words;
    both.rank = a.rank + b->rank;
    both.score = fmax(a.score, b->score);
    both.why.has_vector = true;
    both.why.cosine = with_vector->why.cosine;
    return both;
}

static void unite_equal(struct candidates *c)
{
    size_t kept = 0;
    vec_sort(&c->items, compare_keys);
    for (size_t i = 0; i < c->items.len; i++) {
        struct candidate *last = kept > 0 ? &c->items.items[kept - 1] : NULL;
        if (last && last->key == c->items.items[i].key)
            *last = join(*last, &c->items.items[i]);
        else
            c->items.items[kept++] = c->items.items[i];
    }
    c->items.len = kept;
}

void blend(const struct rank_settings *settings, const struct candidates *words,
           const struct candidates *vectors, struct candidates *out)
{
    *out = (struct candidates){0};
    for (size_t i = 0; i < words->items.len; i++) {
        struct candidate c = words->items.items[i];
        c.rank = words_weight * whole_score(settings, &c);
        vec_push(&out->items, c);
    }
    for (size_t i = 0; i < vectors->items.len; i++) {
        struct candidate c = vectors->items.items[i];
        c.rank = vectors_weight * c.score;
        c.why.has_vector = true;
        vec_push(&out->items, c);
    }
    unite_equal(out);
    vec_sort(&out->items, compare_ranks);
}
