/* Searching by vectors, and the rows of P_model, P_vector, P_floats and P_version. */
#include "index/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
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

/* By rank, then by key, so that the same search gives the same list. */
static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* A search. */
struct searcher {
    struct vectors *vectors;
    const struct corpus *corpus;
    struct vector_model model;
    struct vector_search search;
};

/* From the floats; *found is false when there are none of this dimension. */
static bool vectors_cosine(const struct corpus *c, int64_t model, int64_t key,
                           const struct vector_query *query, double *cosine, bool *found,
                           struct error *e)
{
    static const char sql[] = "SELECT floats FROM #_floats WHERE model = ? AND key = ?";
    struct query q = corpus_query(c, e, sql, "ii", model, key);
    size_t wanted = (size_t)query->dimension * sizeof(float);
    *found = query_next(&q) && (size_t)sqlite3_column_bytes(q.handle, 0) == wanted;
    if (*found) {
        const char *at = sqlite3_column_blob(q.handle, 0);
        double sum = 0;
        for (int i = 0; i < query->dimension; i++, at += sizeof(float)) {
            float f;
            memcpy(&f, at, sizeof f);
            sum += (double)query->values[i] * (double)f;
        }
        *cosine = fmin(1, fmax(-1, sum));
    }
    return query_end(&q);
}

/* Scores the best again in floats, in order; an entry without floats was forgotten meanwhile.
 * Behind them come those of `also` that are not among them. */
static bool rescore(const struct searcher *x, struct candidates *out, struct error *e)
{
    const struct vector_search *s = &x->search;
    for (size_t i = 0; i < s->near.items.len; i++) {
        struct nearest n = s->near.items.items[i];
        double cosine = (double)n.cosine;
        bool found = true;
        if (i < RESCORED &&
            !vectors_cosine(x->corpus, x->model.number, n.key, s->query, &cosine, &found, e))
            return false;
        n.cosine = (float)cosine;
        const struct candidate one = candidate_of(&x->model, &n);
        if (found && (one.score > 0 || s->field))
            vec_push(&out->items, one);
    }
    vec_sort(&out->items, compare);
    if (out->items.len > s->limit)
        out->items.len = s->limit;
    size_t nearest = out->items.len;
    for (size_t i = 0; i < s->also.items.len; i++) {
        const struct nearest *n = &s->also.items.items[i];
        size_t k = 0;
        while (k < nearest && out->items.items[k].key != n->key)
            k++;
        if (k == nearest)
            vec_push(&out->items, candidate_of(&x->model, n));
    }
    return true;
}

/* --- with a graph, which finds only the nearest ---------------------------------------------- */

/* Sets n->before, the share of the entry before. */
static bool add_before(const struct searcher *x, struct nearest *n, struct error *e)
{
    const struct vector_search *s = &x->search;
    double cosine;
    bool found;
    if (s->field->previous == 0 || rank_key_session(n->key - 1) != rank_key_session(n->key))
        return true;
    if (!vectors_cosine(x->corpus, x->model.number, n->key - 1, s->query, &cosine, &found, e))
        return false;
    n->before = found ? (float)(s->field->previous * cosine) : 0;
    return true;
}

static bool search_graph(struct searcher *x, int64_t count, struct error *e)
{
    struct vector_search *s = &x->search;
    vector_graph_search(&x->vectors->graph, s);
    if (!s->field)
        return true;
    s->field->count = count;
    for (size_t i = 0; i < s->near.items.len; i++)
        if (!add_before(x, &s->near.items.items[i], e))
            return false;
    vector_graph_measure(&x->vectors->graph, s);
    const struct candidates *also = s->field->also;
    for (size_t i = 0; also && i < also->items.len; i++) {
        struct nearest one = {.key = also->items.items[i].key};
        double cosine;
        bool found;
        if (!vectors_cosine(x->corpus, x->model.number, one.key, s->query, &cosine, &found, e))
            return false;
        one.cosine = found ? (float)cosine : 0;
        if (found && !add_before(x, &one, e))
            return false;
        if (found)
            vec_push(&s->also.items, one);
    }
    return true;
}

/* --- searching ------------------------------------------------------------------------------- */

static bool search(struct searcher *x, size_t limit, struct candidates *out, struct error *e)
{
    struct vectors *v = x->vectors;
    struct vector_search *s = &x->search;
    int64_t version, count;
    if (!vector_model_find(x->corpus, s->query->model, s->query->dimension, &x->model, e))
        return false;
    if (x->model.number == 0)
        return true;
    if (!vectors_version(x->corpus, &version, e) ||
        !vectors_number(x->corpus, x->model.number, &count, e))
        return false;
    s->limit = limit > RESCORED ? limit : RESCORED;
    v->used_graph = s->scope->all && count >= v->graph_from &&
                    vector_graph_ready(v, s->query->model, &x->model, version);
    if (v->used_graph) {
        if (!search_graph(x, count, e))
            return false;
    } else {
        if (!vector_block_update(&v->block, x->corpus, &x->model, e))
            return false;
        vector_block_scan(&v->block, s);
    }
    s->limit = limit;
    return rescore(x, out, e);
}

bool vectors_search(struct vectors *v, const struct corpus *c, const struct vector_query *query,
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
    vec_release(&x.search.near.items);
    vec_release(&x.search.also.items);
    return ok;
}

enum { DROP_STEP = 1000 };

/* --- models ---------------------------------------------------------------------------------- */

bool vector_model_find(const struct corpus *c, const char *name, int dimension,
                       struct vector_model *out, struct error *e)
{
    static const char sql[] =
        "SELECT number, dimension, fitted, knots FROM #_model"
        " WHERE name = ?1 AND (?2 = 0 OR dimension = ?2) ORDER BY used DESC LIMIT 1";
    *out = (struct vector_model){0};
    struct query q = corpus_query(c, e, sql, "ti", name, (int64_t)dimension);
    if (query_next(&q)) {
        out->number = sqlite3_column_int64(q.handle, 0);
        out->dimension = sqlite3_column_int(q.handle, 1);
        out->fitted = sqlite3_column_int64(q.handle, 2);
        calibration_parse((const char *)sqlite3_column_text(q.handle, 3), &out->calibration);
    }
    return query_end(&q);
}

bool vectors_know_model(const struct corpus *c, const char *model, int dimension, struct error *e)
{
    return corpus_run(c, e,
                      "INSERT INTO #_model (name, dimension, used, fitted)"
                      " VALUES (?1, ?2, (SELECT 1 + coalesce(max(used), 0) FROM #_model), 0)"
                      " ON CONFLICT (name, dimension) DO UPDATE SET used = excluded.used",
                      "ti", model, (int64_t)dimension);
}

/* --- counting -------------------------------------------------------------------------------- */

bool vectors_version(const struct corpus *c, int64_t *out, struct error *e)
{
    return corpus_number(c, out, e, "SELECT vectors FROM #_version", "");
}

bool vectors_number(const struct corpus *c, int64_t model, int64_t *out, struct error *e)
{
    return corpus_number(c, out, e, "SELECT vectors FROM #_model WHERE number = ?", "i", model);
}

bool vectors_count(const struct corpus *c, const char *model, struct vectors_counts *out,
                   struct error *e)
{
    struct vector_model known = {0};
    int64_t entries = 0, vectors = 0;
    bool began;
    *out = (struct vectors_counts){0};
    if (!store_step_begin(c->store, &began, e))
        return false;
    bool ok = (!model || vector_model_find(c, model, 0, &known, e)) &&
              corpus_number(c, &entries, e, "SELECT count(*) FROM #_entry", "") &&
              corpus_number(c, &vectors, e, "SELECT ifnull(sum(vectors), 0) FROM #_model", "") &&
              vectors_number(c, known.number, &out->embedded, e);
    out->dimension = known.dimension;
    out->missing = model ? entries - out->embedded : 0;
    out->stale = vectors - out->embedded;
    return store_step_end(c->store, began, ok, e);
}

/* --- vectors --------------------------------------------------------------------------------- */

bool vectors_ids(const struct corpus *c, int64_t model, struct vector_ids *out, struct error *e)
{
    static const char sql[] =
        "SELECT key, stamp FROM #_vector INDEXED BY #_vector_key"
        " WHERE +model = ? ORDER BY key";
    struct query q = corpus_query(c, e, sql, "i", model);
    while (query_next(&q))
        vec_push(&out->items, (struct vector_id){sqlite3_column_int64(q.handle, 0),
                                                 sqlite3_column_int64(q.handle, 1)});
    return query_end(&q);
}

bool vectors_bytes(const struct corpus *c, int64_t model, int64_t key, int dimension, int8_t *bytes,
                   float *scale, bool *found, struct error *e)
{
    static const char sql[] = "SELECT scale, bytes FROM #_vector WHERE model = ? AND key = ?";
    size_t stride = int8_stride(dimension);
    struct query q = corpus_query(c, e, sql, "ii", model, key);
    *found = query_next(&q) && (size_t)sqlite3_column_bytes(q.handle, 1) == stride;
    if (*found) {
        *scale = (float)sqlite3_column_double(q.handle, 0);
        memcpy(bytes, sqlite3_column_blob(q.handle, 1), stride);
    }
    return query_end(&q);
}

static bool keep(const struct corpus *c, int64_t model, int64_t stamp, int64_t key,
                 const float *values, int dimension, struct error *e)
{
    size_t stride = int8_stride(dimension);
    auto_free int8_t *bytes = mem_alloc(stride);
    double scale = (double)int8_quantise(values, dimension, bytes);
    return corpus_run(c, e,
                      "INSERT INTO #_vector (model, key, stamp, scale, bytes)"
                      " VALUES (?, ?, ?, ?, ?) ON CONFLICT (model, key) DO UPDATE SET"
                      " stamp = excluded.stamp, scale = excluded.scale, bytes = excluded.bytes",
                      "iiirb", model, key, stamp, scale, (const void *)bytes, stride) &&
           corpus_run(c, e, "INSERT OR REPLACE INTO #_floats (model, key, floats) VALUES (?, ?, ?)",
                      "iib", model, key, (const void *)values, (size_t)dimension * sizeof *values);
}

bool vectors_remove(const struct corpus *c, int64_t key, struct error *e)
{
    return corpus_run(c, e, "DELETE FROM #_vector WHERE key = ?", "i", key) &&
           corpus_run(c, e, "DELETE FROM #_floats WHERE key = ?", "i", key);
}

bool vectors_move(const struct corpus *c, int64_t from, int64_t to, struct error *e)
{
    int64_t stamp;
    return vectors_version(c, &stamp, e) &&
           corpus_run(c, e,
                      "INSERT INTO #_vector (model, key, stamp, scale, bytes)"
                      " SELECT model, ?2, ?3, scale, bytes FROM #_vector WHERE key = ?1",
                      "iii", from, to, stamp) &&
           corpus_run(c, e,
                      "INSERT INTO #_floats (model, key, floats)"
                      " SELECT model, ?2, floats FROM #_floats WHERE key = ?1",
                      "ii", from, to);
}

bool vectors_drop_stale(const struct corpus *c, const char *model, bool *more, struct error *e)
{
    static const char *const steps[] = {
        "DELETE FROM #_vector WHERE (model, key) IN "
        "(SELECT model, key FROM #_vector WHERE model <> ? LIMIT ?)",
        "DELETE FROM #_floats WHERE (model, key) IN "
        "(SELECT model, key FROM #_floats WHERE model <> ? LIMIT ?)",
        "DELETE FROM #_model WHERE number IN "
        "(SELECT number FROM #_model WHERE number <> ? LIMIT ?)",
    };
    struct vector_model known;
    int64_t others;
    *more = false;
    if (!vector_model_find(c, model, 0, &known, e) || known.number == 0)
        return known.number == 0;
    if (!corpus_number(c, &others, e, "SELECT count(*) FROM #_model WHERE number <> ?", "i",
                       known.number))
        return false;
    /* A few rows a transaction: others want to write, too. */
    for (size_t i = 0; others > 0 && i < sizeof steps / sizeof *steps && !*more; i++) {
        if (!corpus_run(c, e, steps[i], "ii", known.number, (int64_t)DROP_STEP))
            return false;
        *more = sqlite3_changes(c->store->db) > 0;
    }
    return true;
}

/* --- embedding ------------------------------------------------------------------------------- */

enum {
    SAMPLE = 400, /* vectors that are compared with each other to fit the scores */
    FEWEST_TO_FIT = 32,
    REFIT_FACTOR = 4 /* fitted anew when there are so many times as many */
};

void vectors_lacking_release(struct vectors_lacking *l)
{
    vec_free_each(&l->contents);
    vec_free_each(&l->texts);
    vec_release(&l->keys);
}

/* The text with this key, up to max_bytes; empty when it is gone, so that it counts as changed. */
static bool read_content(const struct corpus *c, int64_t key, size_t max_bytes,
                         struct document *out, struct error *e)
{
    bool found;
    if (!c->document(c->store, key, out, &found, e))
        return false;
    if (found && out->key != key)
        document_release(out);
    if (!out->content)
        out->content = mem_strdup("");
    out->content[utf8_cut_bytes(out->content, strlen(out->content), max_bytes)] = '\0';
    return true;
}

bool vectors_lacking(const struct corpus *c, const char *model, int most, size_t max_bytes,
                     struct vectors_lacking *out, struct error *e)
{
    static const char *const finders[] = {
        /* behind the last one with a vector, which is quick */
        "SELECT key FROM #_entry WHERE key > (SELECT coalesce(max(key), -1) FROM #_vector"
        " WHERE model = ?1) ORDER BY key LIMIT ?2",
        /* anywhere */
        "SELECT key FROM #_entry AS e WHERE NOT EXISTS (SELECT 1 FROM #_vector AS v"
        " WHERE v.key = e.key AND v.model = ?1) ORDER BY key LIMIT ?2"};
    struct vector_model known;
    struct vectors_counts have;
    *out = (struct vectors_lacking){.max_bytes = max_bytes};
    if (!vector_model_find(c, model, 0, &known, e) || !vectors_count(c, model, &have, e))
        return false;
    out->missing = have.missing;
    for (size_t i = 0; have.missing > 0 && out->keys.len == 0 && i < 2; i++) {
        struct query q = corpus_query(c, e, finders[i], "ii", known.number, (int64_t)most);
        while (query_next(&q))
            vec_push(&out->keys, sqlite3_column_int64(q.handle, 0));
        if (!query_end(&q))
            return false;
    }
    for (size_t i = 0; i < out->keys.len; i++) {
        struct document d;
        if (!read_content(c, out->keys.items[i], max_bytes, &d, e))
            return false;
        /* The speaker helps to find a text; a role does not. */
        vec_push(&out->texts, d.speaker && *d.speaker ? mem_printf("%s: %s", d.speaker, d.content)
                                                      : mem_strdup(d.content));
        vec_push(&out->contents, d.content);
        d.content = NULL;
        document_release(&d);
    }
    return true;
}

bool vectors_keep(const struct corpus *c, const char *model, const struct vectors_lacking *of,
                  const struct embeddings *made, struct error *e)
{
    struct vector_model used;
    int64_t stamp;
    bool began;
    if (!store_step_begin(c->store, &began, e))
        return false;
    /* The first statement writes: one that had read first could not wait for another writer. */
    bool ok = corpus_run(c, e, "UPDATE #_version SET vectors = vectors + 1", "") &&
              vectors_version(c, &stamp, e) && vector_model_find(c, model, 0, &used, e);
    if (ok && used.dimension != made->dimension)
        ok = vectors_know_model(c, model, made->dimension, e) &&
             vector_model_find(c, model, 0, &used, e);
    for (size_t i = 0; ok && i < of->keys.len; i++) {
        struct document d;
        ok = read_content(c, of->keys.items[i], of->max_bytes, &d, e);
        if (!ok)
            break;
        if (strcmp(d.content, of->contents.items[i]) == 0) /* else it was edited or forgotten */
            ok = keep(c, used.number, stamp, of->keys.items[i],
                      made->values.items + i * (size_t)made->dimension, made->dimension, e);
        document_release(&d);
    }
    return store_step_end(c->store, began, ok, e);
}

/* --- scores ---------------------------------------------------------------------------------- */

bool vectors_fit(const struct corpus *c, const char *model, struct error *e)
{
    struct vector_model known;
    int64_t total = 0;
    if (!vector_model_find(c, model, 0, &known, e) || !vectors_number(c, known.number, &total, e))
        return false;
    if (total < FEWEST_TO_FIT || total / REFIT_FACTOR < known.fitted)
        return true;
    /* Compares a sample of vectors from all over the store with each other. */
    struct vector_ids ids = {0};
    size_t stride = int8_stride(known.dimension), count = 0, pairs = 0;
    auto_free int8_t *bytes = mem_alloc(SAMPLE * stride);
    auto_free float *scales = mem_alloc(SAMPLE * sizeof *scales);
    auto_free double *cosines = mem_alloc((size_t)SAMPLE * SAMPLE / 2 * sizeof *cosines);
    bool ok = vectors_ids(c, known.number, &ids, e);
    size_t want = ids.items.len < SAMPLE ? ids.items.len : SAMPLE;
    for (size_t i = 0; ok && i < want; i++) {
        bool found = false;
        ok = vectors_bytes(c, known.number, ids.items.items[i * ids.items.len / want].key,
                           known.dimension, bytes + count * stride, &scales[count], &found, e);
        count += found;
    }
    for (size_t i = 0; ok && i < count; i++)
        for (size_t j = 0; j < i; j++)
            cosines[pairs++] = (double)(scales[i] * scales[j]) *
                               int8_dot(bytes + i * stride, bytes + j * stride, stride);
    if (ok) {
        struct calibration fit = calibration_fit(cosines, pairs);
        auto_free char *knots = fit.count ? calibration_print(&fit) : NULL;
        ok = corpus_run(c, e, "UPDATE #_model SET knots = ?, fitted = ? WHERE number = ?", "tii",
                        knots, (int64_t)ids.items.len, known.number);
    }
    vec_release(&ids.items);
    return ok;
}
