/* Which way a search by vectors goes, and the scores of what it finds. */
#include "index/vectors.h"

#include <stdlib.h>

#include "base/mem.h"
#include "index/rank.h"
#include "index/vectors_private.h"

enum { RESCORED = 50 };

struct vectors *vectors_new(const char *tables, const char *graph_directory, int64_t graph_from)
{
    struct vectors *v = mem_alloc(sizeof *v);
    v->tables = tables;
    v->directory = mem_strdup(graph_directory);
    v->graph_from = graph_from;
    v->graph.lock = -1;
    v->graph.version = v->graph.target = -1;
    return v;
}

void vectors_free(struct vectors *v)
{
    if (!v)
        return;
    vector_block_release(&v->block);
    vector_graph_release(&v->graph);
    free(v->directory);
    free(v);
}

bool vectors_has_graph(const struct vectors *v)
{
    return v->used_graph;
}

/* --- candidates ------------------------------------------------------------------------------ */

static struct candidate candidate_of(const struct vector_model *model, const struct nearest *n)
{
    double cosine = (double)n->cosine;
    return (struct candidate){.key = n->key,
                              .rank = cosine + (double)n->before,
                              .score = calibration_score(&model->calibration, cosine),
                              .why = {.has_vector = true, .cosine = cosine}};
}

/* Equal ones in the order of their keys: the same search gives the same list. */
static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* What one search needs. */
struct searcher {
    struct vectors *vectors;
    const struct corpus *corpus;
    struct vector_model model;
    struct vector_search search;
};

static bool cosine_of(const struct searcher *x, int64_t key, double *cosine, bool *found,
                      struct error *e)
{
    return vectors_cosine(x->corpus, x->model.number, key, x->search.query, cosine, found, e);
}

/* In floats; what has none any more was forgotten meanwhile. */
static bool rescore(const struct searcher *x, struct candidates *out, struct error *e)
{
    const struct vector_search *s = &x->search;
    for (size_t i = 0; i < s->near.items.len; i++) {
        struct nearest n = s->near.items.items[i];
        double cosine = (double)n.cosine;
        bool found = true;
        if (i < RESCORED && !cosine_of(x, n.key, &cosine, &found, e))
            return false;
        n.cosine = (float)cosine;
        const struct candidate one = candidate_of(&x->model, &n);
        if (found && (one.score > 0 || s->field))
            vec_push(&out->items, one);
    }
    vec_sort(&out->items, compare);
    if (out->items.len > s->limit)
        out->items.len = s->limit;
    return true;
}

static bool is_among(const struct candidates *c, size_t count, int64_t key)
{
    for (size_t i = 0; i < count; i++)
        if (c->items.items[i].key == key)
            return true;
    return false;
}

static void add_also(const struct searcher *x, struct candidates *out)
{
    size_t nearest = out->items.len;
    for (size_t i = 0; i < x->search.also.items.len; i++) {
        const struct nearest *n = &x->search.also.items.items[i];
        if (!is_among(out, nearest, n->key))
            vec_push(&out->items, candidate_of(&x->model, n));
    }
}

/* --- with a graph, which knows the nearest alone --------------------------------------------- */

static bool add_before(const struct searcher *x, struct nearest *n, struct error *e)
{
    double cosine;
    bool found;
    if (x->search.field->previous == 0 || rank_key_session(n->key - 1) != rank_key_session(n->key))
        return true;
    if (!cosine_of(x, n->key - 1, &cosine, &found, e))
        return false;
    n->before = found ? (float)(x->search.field->previous * cosine) : 0;
    return true;
}

static bool look_up_also(struct searcher *x, struct error *e)
{
    const struct candidates *also = x->search.field->also;
    for (size_t i = 0; also && i < also->items.len; i++) {
        struct nearest one = {.key = also->items.items[i].key};
        double cosine;
        bool found;
        if (!cosine_of(x, one.key, &cosine, &found, e))
            return false;
        if (!found)
            continue;
        one.cosine = (float)cosine;
        if (!add_before(x, &one, e))
            return false;
        vec_push(&x->search.also.items, one);
    }
    return true;
}

static bool complete_graph(struct searcher *x, int64_t count, struct error *e)
{
    x->search.field->count = count;
    for (size_t i = 0; i < x->search.near.items.len; i++)
        if (!add_before(x, &x->search.near.items.items[i], e))
            return false;
    vector_graph_measure(&x->vectors->graph, &x->search);
    return look_up_also(x, e);
}

/* --- searching ------------------------------------------------------------------------------- */

static bool find_nearest(struct searcher *x, struct error *e)
{
    struct vectors *v = x->vectors;
    int64_t version, count;
    if (!vectors_version(x->corpus, &version, e) ||
        !vectors_number(x->corpus, x->model.number, &count, e))
        return false;
    v->used_graph = x->search.scope->all && count >= v->graph_from &&
                    vector_graph_ready(v, x->search.query->model, &x->model, version);
    if (v->used_graph) {
        vector_graph_search(&v->graph, &x->search);
        return !x->search.field || complete_graph(x, count, e);
    }
    if (!vector_block_update(&v->block, x->corpus, &x->model, e))
        return false;
    vector_block_scan(&v->block, &x->search);
    return true;
}

static bool search(struct searcher *x, size_t limit, struct candidates *out, struct error *e)
{
    const struct vector_query *query = x->search.query;
    if (!vector_model_find(x->corpus, query->model, query->dimension, &x->model, e))
        return false;
    if (x->model.number == 0)
        return true;
    x->search.limit = limit > RESCORED ? limit : RESCORED;
    if (!find_nearest(x, e))
        return false;
    x->search.limit = limit;
    if (!rescore(x, out, e))
        return false;
    add_also(x, out);
    return true;
}

bool vectors_stand(struct vectors *v, const struct corpus *c, const struct vector_query *query,
                   const struct corpus_scope *scope, size_t limit, struct vectors_field *field,
                   struct candidates *out, struct error *e)
{
    struct searcher x = {
        .vectors = v, .corpus = c, .search = {.query = query, .scope = scope, .field = field}};
    bool began;
    *out = (struct candidates){0};
    if (!store_step_begin(c->store, &began, e))
        return false;
    bool ok = store_step_end(c->store, began, search(&x, limit, out, e), e);
    if (!ok)
        vec_release(&out->items);
    vector_search_release(&x.search);
    return ok;
}

bool vectors_search(struct vectors *v, const struct corpus *c, const struct vector_query *query,
                    const struct corpus_scope *scope, size_t limit, struct candidates *out,
                    struct error *e)
{
    return vectors_stand(v, c, query, scope, limit, NULL, out, e);
}
