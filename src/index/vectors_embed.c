/* Texts that have no vector, vectors that come for them, and scores that fit the vectors. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "index/vectors_private.h"

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

/* Who said it helps to find it; a role says nothing. */
static char *embedded_text_of(const char *speaker, const char *content)
{
    return speaker && *speaker ? mem_printf("%s: %s", speaker, content) : mem_strdup(content);
}

/* As far as an embedder reads. */
static void cut_content(struct document *d, size_t max_bytes)
{
    d->content[utf8_cut_bytes(d->content, strlen(d->content), max_bytes)] = '\0';
}

static bool find_keys(const struct corpus *c, const char *sql, int64_t model, int most,
                      struct vectors_lacking *out, struct error *e)
{
    struct query q = corpus_query(c, sql, e);
    query_int(&q, model);
    query_int(&q, most);
    while (query_next(&q))
        vec_push(&out->keys, sqlite3_column_int64(q.handle, 0));
    return query_end(&q);
}

/* What is gone meanwhile is found to have changed, too. */
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
    cut_content(out, max_bytes);
    return true;
}

static bool read_texts(const struct corpus *c, size_t max_bytes, struct vectors_lacking *w,
                       struct error *e)
{
    for (size_t i = 0; i < w->keys.len; i++) {
        struct document d;
        if (!read_content(c, w->keys.items[i], max_bytes, &d, e))
            return false;
        vec_push(&w->texts, embedded_text_of(d.speaker, d.content));
        vec_push(&w->contents, d.content);
        d.content = NULL;
        document_release(&d);
    }
    return true;
}

/* Behind the last that has one, which is quick; where that is none, anywhere. */
static bool find_some(const struct corpus *c, int64_t model, int most, struct vectors_lacking *out,
                      struct error *e)
{
    static const char behind[] =
        "SELECT key FROM #_entry WHERE key > (SELECT coalesce(max(key), -1) FROM #_vector"
        " WHERE model = ?1) ORDER BY key LIMIT ?2";
    static const char anywhere[] =
        "SELECT key FROM #_entry AS e WHERE NOT EXISTS (SELECT 1 FROM #_vector AS v"
        " WHERE v.key = e.key AND v.model = ?1) ORDER BY key LIMIT ?2";
    return find_keys(c, behind, model, most, out, e) &&
           (out->keys.len > 0 || find_keys(c, anywhere, model, most, out, e));
}

bool vectors_lacking(const struct corpus *c, const char *model, int most, size_t max_bytes,
                     struct vectors_lacking *out, struct error *e)
{
    struct vector_model known;
    struct vectors_counts have;
    *out = (struct vectors_lacking){.max_bytes = max_bytes};
    if (!vector_model_find(c, model, 0, &known, e) || !vectors_count(c, model, &have, e))
        return false;
    out->missing = have.missing;
    return have.missing == 0 ||
           (find_some(c, known.number, most, out, e) && read_texts(c, max_bytes, out, e));
}

/* Whether the text still says what was embedded: it may have been edited or forgotten since. */
static bool is_same(const struct corpus *c, int64_t key, const char *content, size_t max_bytes,
                    bool *out, struct error *e)
{
    struct document d;
    if (!read_content(c, key, max_bytes, &d, e))
        return false;
    *out = strcmp(d.content, content) == 0;
    document_release(&d);
    return true;
}

static bool keep_each(const struct corpus *c, const struct vector_model *model, int64_t stamp,
                      const struct vectors_lacking *w, const struct embeddings *v, struct error *e)
{
    for (size_t i = 0; i < w->keys.len; i++) {
        bool same;
        if (!is_same(c, w->keys.items[i], w->contents.items[i], w->max_bytes, &same, e))
            return false;
        if (same && !vector_keep(c, model->number, stamp, w->keys.items[i],
                                 v->values.items + i * (size_t)v->dimension, v->dimension, e))
            return false;
    }
    return true;
}

/* The model of this name and dimension becomes the one in use. */
static bool use_model(const struct corpus *c, const char *name, int dimension,
                      struct vector_model *out, struct error *e)
{
    if (!vector_model_find(c, name, 0, out, e) || out->dimension == dimension)
        return out->number != 0;
    return vectors_know_model(c, name, dimension, e) && vector_model_find(c, name, 0, out, e);
}

/* The first statement writes: one that had read first could not wait for another writer. */
bool vectors_keep(const struct corpus *c, const char *model, const struct vectors_lacking *of,
                  const struct embeddings *made, struct error *e)
{
    struct vector_model used;
    int64_t stamp;
    bool began;
    if (!store_step_begin(c->store, &began, e))
        return false;
    bool ok = vectors_version_step(c, &stamp, e) &&
              use_model(c, model, made->dimension, &used, e) &&
              keep_each(c, &used, stamp, of, made, e);
    return store_step_end(c->store, began, ok, e);
}

/* --- scores ---------------------------------------------------------------------------------- */

/* Vectors from all over the store, as bytes. */
struct sample {
    size_t count;
    int8_t *bytes;
    float *scales;
};

static bool take_sample(const struct corpus *c, const struct vector_model *model,
                        const struct vector_ids *ids, struct sample *out, struct error *e)
{
    size_t stride = int8_stride(model->dimension);
    size_t want = ids->items.len < SAMPLE ? ids->items.len : SAMPLE;
    out->bytes = mem_alloc(want * stride + 1);
    out->scales = mem_alloc(want * sizeof *out->scales + 1);
    for (size_t i = 0; i < want; i++) {
        bool found;
        int64_t key = ids->items.items[i * ids->items.len / want].key;
        if (!vectors_bytes(c, model->number, key, model->dimension,
                           out->bytes + out->count * stride, &out->scales[out->count], &found, e))
            return false;
        out->count += found;
    }
    return true;
}

static struct calibration fit_sample(const struct sample *sample, size_t stride)
{
    size_t pairs = 0;
    double *cosines = mem_alloc(sample->count * sample->count * sizeof *cosines + 1);
    for (size_t i = 0; i < sample->count; i++)
        for (size_t j = 0; j < i; j++)
            cosines[pairs++] =
                (double)(sample->scales[i] * sample->scales[j]) *
                int8_dot(sample->bytes + i * stride, sample->bytes + j * stride, stride);
    struct calibration c = calibration_fit(cosines, pairs);
    free(cosines);
    return c;
}

static bool fit_scores(const struct corpus *c, const struct vector_model *model, struct error *e)
{
    struct vector_ids ids = {0};
    struct sample sample = {0};
    bool ok = vectors_ids(c, model->number, &ids, e) && take_sample(c, model, &ids, &sample, e);
    if (ok) {
        struct calibration fit = fit_sample(&sample, int8_stride(model->dimension));
        ok = vector_model_fitted(c, model->number, (int64_t)ids.items.len, &fit, e);
    }
    free(sample.bytes);
    free(sample.scales);
    vec_release(&ids.items);
    return ok;
}

bool vectors_fit(const struct corpus *c, const char *model, struct error *e)
{
    struct vector_model known;
    int64_t count = 0;
    return vector_model_find(c, model, 0, &known, e) &&
           vectors_number(c, known.number, &count, e) &&
           (count < FEWEST_TO_FIT || count / REFIT_FACTOR < known.fitted ||
            fit_scores(c, &known, e));
}
