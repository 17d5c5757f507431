/* Which way a search by vectors goes, and the scores of what it finds. */
#include "index/vectors.h"

#include <stdlib.h>

#include "base/mem.h"
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

static struct candidate candidate_of(const struct vector_model *model, int64_t key, double cosine)
{
    return (struct candidate){.key = key,
                              .rank = cosine,
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

/* In floats; what has none any more was forgotten meanwhile. */
static bool rescore(const struct corpus *c, const struct vector_model *model,
                    const struct vector_query *query, const struct nearest_list *near, size_t limit,
                    struct candidates *out, struct error *e)
{
    for (size_t i = 0; i < near->items.len; i++) {
        const struct nearest *n = &near->items.items[i];
        double cosine = (double)n->cosine;
        bool found = true;
        if (i < RESCORED && !vectors_cosine(c, model->number, n->key, query, &cosine, &found, e))
            return false;
        const struct candidate one = candidate_of(model, n->key, cosine);
        if (found && one.score > 0)
            vec_push(&out->items, one);
    }
    vec_sort(&out->items, compare);
    if (out->items.len > limit)
        out->items.len = limit;
    return true;
}

/* --- searching ------------------------------------------------------------------------------- */

static bool find_nearest(struct vectors *v, const struct corpus *c,
                         const struct vector_query *query, const struct vector_model *model,
                         const struct corpus_scope *scope, size_t limit, struct nearest_list *out,
                         struct error *e)
{
    int64_t version, count;
    if (!vectors_version(c, &version, e) || !vectors_number(c, model->number, &count, e))
        return false;
    v->used_graph =
        scope->all && count >= v->graph_from && vector_graph_ready(v, query->model, model, version);
    if (v->used_graph) {
        vector_graph_search(&v->graph, query, limit, out);
        return true;
    }
    if (!vector_block_update(&v->block, c, model, e))
        return false;
    vector_block_scan(&v->block, query, scope, limit, out);
    return true;
}

static bool search(struct vectors *v, const struct corpus *c, const struct vector_query *query,
                   const struct corpus_scope *scope, size_t limit, struct candidates *out,
                   struct error *e)
{
    struct vector_model model;
    struct nearest_list near = {0};
    if (!vector_model_find(c, query->model, query->dimension, &model, e))
        return false;
    bool ok = model.number == 0 || (find_nearest(v, c, query, &model, scope,
                                                 limit > RESCORED ? limit : RESCORED, &near, e) &&
                                    rescore(c, &model, query, &near, limit, out, e));
    vec_release(&near.items);
    return ok;
}

bool vectors_search(struct vectors *v, const struct corpus *c, const struct vector_query *query,
                    const struct corpus_scope *scope, size_t limit, struct candidates *out,
                    struct error *e)
{
    bool began;
    *out = (struct candidates){0};
    if (!store_step_begin(c->store, &began, e))
        return false;
    bool ok = store_step_end(c->store, began, search(v, c, query, scope, limit, out, e), e);
    if (!ok)
        vec_release(&out->items);
    return ok;
}
