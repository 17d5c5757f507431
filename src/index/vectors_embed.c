/* Making vectors for entries that have none, and fitting the scores to them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/vectors_private.h"

enum {
    SAMPLE = 400, /* vectors that are compared with each other to fit the scores */
    FEWEST_TO_FIT = 32,
    REFIT_FACTOR = 4 /* fitted anew when there are so many times as many */
};

/* Entries without a vector. */
struct waiting {
    VEC(int64_t) keys;
    VEC(char *) contents; /* as far as an embedder reads */
    VEC(char *) texts;    /* what is embedded */
};

static void waiting_release(struct waiting *w)
{
    for (size_t i = 0; i < w->keys.len; i++) {
        free(w->contents.items[i]);
        free(w->texts.items[i]);
    }
    vec_release(&w->keys);
    vec_release(&w->contents);
    vec_release(&w->texts);
}

/* Who said it helps to find it; a role says nothing. */
static char *embedded_text_of(const char *speaker, const char *content)
{
    return speaker && *speaker ? mem_printf("%s: %s", speaker, content) : mem_strdup(content);
}

static bool find_waiting(struct store *s, const char *sql, int64_t model, int step,
                         size_t max_chars, struct waiting *out, struct error *e)
{
    struct query q;
    enum query_result result;
    if (!query_begin(&q, s, sql, e))
        return false;
    query_int(&q, model);
    query_int(&q, step);
    query_int(&q, (int64_t)max_chars);
    while ((result = query_step(&q, e)) == QUERY_ROW) {
        char *content = query_column_text(&q, 2);
        vec_push(&out->keys, sqlite3_column_int64(q.handle, 0));
        vec_push(&out->texts,
                 embedded_text_of((const char *)sqlite3_column_text(q.handle, 1), content));
        vec_push(&out->contents, content);
    }
    query_end(&q);
    return result == QUERY_DONE;
}

/* Behind the last that has one, which is quick; where that is none, anywhere. */
static bool find_some(struct store *s, int64_t model, int step, size_t max_chars,
                      struct waiting *out, struct error *e)
{
    static const char behind[] =
        "SELECT key, speaker, substr(content, 1, ?3) FROM memory_entry WHERE key > "
        "(SELECT coalesce(max(key), -1) FROM memory_vector WHERE model = ?1) "
        "ORDER BY key LIMIT ?2";
    static const char anywhere[] =
        "SELECT key, speaker, substr(content, 1, ?3) FROM memory_entry AS e WHERE NOT EXISTS "
        "(SELECT 1 FROM memory_vector AS v WHERE v.key = e.key AND v.model = ?1) "
        "ORDER BY key LIMIT ?2";
    return find_waiting(s, behind, model, step, max_chars, out, e) &&
           (out->keys.len > 0 || find_waiting(s, anywhere, model, step, max_chars, out, e));
}

/* Whether the entry still says what was embedded: it may have been edited or forgotten since. */
static bool is_same(struct store *s, int64_t key, const char *content, size_t max_chars, bool *out,
                    struct error *e)
{
    struct query q;
    if (!query_begin(&q, s,
                     "SELECT 1 FROM memory_entry WHERE key = ? AND substr(content, 1, ?) = ?", e))
        return false;
    query_int(&q, key);
    query_int(&q, (int64_t)max_chars);
    query_text(&q, content);
    enum query_result result = query_step(&q, e);
    *out = result == QUERY_ROW;
    query_end(&q);
    return result != QUERY_FAILED;
}

static bool keep_each(struct store *s, const struct vector_model *model, int64_t stamp,
                      size_t max_chars, const struct waiting *w, const struct embeddings *v,
                      struct error *e)
{
    for (size_t i = 0; i < w->keys.len; i++) {
        bool same;
        if (!is_same(s, w->keys.items[i], w->contents.items[i], max_chars, &same, e))
            return false;
        if (same && !vectors_keep(s, model->number, stamp, w->keys.items[i],
                                  v->values.items + i * (size_t)v->dimension, v->dimension, e))
            return false;
    }
    return true;
}

/* The model of this name and dimension becomes the one in use. */
static bool use_model(struct store *s, const char *name, int dimension, struct vector_model *out,
                      struct error *e)
{
    if (!vector_model_find(s, name, 0, out, e) || out->dimension == dimension)
        return out->number != 0;
    return vectors_know_model(s, name, dimension, e) && vector_model_find(s, name, 0, out, e);
}

/* The first statement writes: one that had read first could not wait for another writer. */
static bool keep_all(struct store *s, const char *name, size_t max_chars, const struct waiting *w,
                     const struct embeddings *v, struct error *e)
{
    struct vector_model model;
    int64_t stamp;
    bool began;
    if (!store_step_begin(s, &began, e))
        return false;
    bool ok = vectors_version_step(s, &stamp, e) && use_model(s, name, v->dimension, &model, e) &&
              keep_each(s, &model, stamp, max_chars, w, v, e);
    return store_step_end(s, began, ok, e);
}

/* --- scores ---------------------------------------------------------------------------------- */

/* Vectors from all over the store, as bytes. */
struct sample {
    size_t count;
    int8_t *bytes;
    float *scales;
};

static bool take_sample(struct store *s, const struct vector_model *model,
                        const struct vector_ids *ids, struct sample *out, struct error *e)
{
    size_t stride = int8_stride(model->dimension);
    size_t want = ids->items.len < SAMPLE ? ids->items.len : SAMPLE;
    out->bytes = mem_alloc(want * stride + 1);
    out->scales = mem_alloc(want * sizeof *out->scales + 1);
    for (size_t i = 0; i < want; i++) {
        bool found;
        int64_t key = ids->items.items[i * ids->items.len / want].key;
        if (!vectors_bytes(s, model->number, key, model->dimension,
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

static bool fit_scores(struct store *s, const struct vector_model *model, struct error *e)
{
    struct vector_ids ids = {0};
    struct sample sample = {0};
    bool ok = vectors_ids(s, model->number, &ids, e) && take_sample(s, model, &ids, &sample, e);
    if (ok) {
        struct calibration c = fit_sample(&sample, int8_stride(model->dimension));
        ok = vector_model_fitted(s, model->number, (int64_t)ids.items.len, &c, e);
    }
    free(sample.bytes);
    free(sample.scales);
    vec_release(&ids.items);
    return ok;
}

static bool should_fit(int64_t count, int64_t fitted)
{
    return count >= FEWEST_TO_FIT && count / REFIT_FACTOR >= fitted;
}

/* --- a step ---------------------------------------------------------------------------------- */

static enum embed_result embed_some(struct store *s, const struct embedding_settings *settings,
                                    struct http *http, const struct wakeup *wakeup,
                                    const char *name, const struct waiting *w, struct failure *f,
                                    struct error *e)
{
    struct embeddings made;
    if (!embed_all(settings, http, wakeup, (const char *const *)w->texts.items, w->texts.len, &made,
                   f))
        return EMBED_FAILED;
    bool kept = keep_all(s, name, settings->embedder->max_bytes, w, &made, e);
    embeddings_release(&made);
    return kept ? EMBED_MORE : EMBED_STORE_FAILED;
}

static enum embed_result embed_step(struct store *s, const struct embedding_settings *settings,
                                    struct http *http, const struct wakeup *wakeup, int step,
                                    const char *name, const struct vector_model *model,
                                    struct failure *f, struct error *e)
{
    struct waiting w = {0};
    enum embed_result result = EMBED_STORE_FAILED;
    if (find_some(s, model->number, step, settings->embedder->max_bytes, &w, e))
        result = embed_some(s, settings, http, wakeup, name, &w, f, e);
    waiting_release(&w);
    return result;
}

static enum embed_result embed_or_fit(struct store *s, const struct embedding_settings *settings,
                                      struct http *http, const struct wakeup *wakeup, int step,
                                      const char *name, int64_t *left, struct failure *f,
                                      struct error *e)
{
    struct vector_model model;
    struct memory_stats have = {0};
    enum embed_result result = EMBED_DONE;
    bool ok = vector_model_find(s, name, 0, &model, e) && vectors_count(s, name, &have, e);
    if (ok && have.missing > 0) {
        result = embed_step(s, settings, http, wakeup, step, name, &model, f, e);
        ok = result != EMBED_MORE || vectors_count(s, name, &have, e);
    } else if (ok && should_fit(have.embedded, model.fitted)) {
        ok = fit_scores(s, &model, e);
    }
    *left = have.missing;
    memory_stats_release(&have);
    return ok ? result : EMBED_STORE_FAILED;
}

enum embed_result vectors_embed_step(struct store *s, const struct embedding_settings *settings,
                                     struct http *http, const struct wakeup *wakeup, int step,
                                     int64_t *left, struct failure *f, struct error *e)
{
    char *name = embedding_model_name(settings);
    failure_clear(f);
    enum embed_result result = embed_or_fit(s, settings, http, wakeup, step, name, left, f, e);
    free(name);
    return result;
}
