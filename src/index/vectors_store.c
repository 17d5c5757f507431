/* Rows of P_model, P_vector, P_floats and P_version. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/vectors_private.h"

enum { DROP_STEP = 1000 };

/* --- models ---------------------------------------------------------------------------------- */

bool vector_model_find(const struct corpus *c, const char *name, int dimension,
                       struct vector_model *out, struct error *e)
{
    *out = (struct vector_model){0};
    struct query q =
        corpus_query(c,
                     "SELECT number, dimension, fitted, knots FROM #_model "
                     "WHERE name = ?1 AND (?2 = 0 OR dimension = ?2) ORDER BY used DESC LIMIT 1",
                     e);
    query_text(&q, name);
    query_int(&q, dimension);
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
    struct query q =
        corpus_query(c,
                     "INSERT INTO #_model (name, dimension, used, fitted) "
                     "VALUES (?1, ?2, (SELECT 1 + coalesce(max(used), 0) FROM #_model), 0) "
                     "ON CONFLICT (name, dimension) DO UPDATE SET used = excluded.used",
                     e);
    query_text(&q, model);
    query_int(&q, dimension);
    return query_run(&q);
}

bool vector_model_fitted(const struct corpus *c, int64_t model, int64_t fitted,
                         const struct calibration *fit, struct error *e)
{
    char *knots = fit->count ? calibration_print(fit) : NULL;
    struct query q =
        corpus_query(c, "UPDATE #_model SET knots = ?, fitted = ? WHERE number = ?", e);
    query_text(&q, knots);
    query_int(&q, fitted);
    query_int(&q, model);
    bool ok = query_run(&q);
    free(knots);
    return ok;
}

/* --- counting -------------------------------------------------------------------------------- */

bool vectors_version(const struct corpus *c, int64_t *out, struct error *e)
{
    return corpus_number(c, "SELECT vectors FROM #_version", -1, out, e);
}

bool vectors_version_step(const struct corpus *c, int64_t *stamp, struct error *e)
{
    return corpus_run(c, "UPDATE #_version SET vectors = vectors + 1", -1, e) &&
           vectors_version(c, stamp, e);
}

bool vectors_number(const struct corpus *c, int64_t model, int64_t *out, struct error *e)
{
    return corpus_number(c, "SELECT vectors FROM #_model WHERE number = ?", model, out, e);
}

static bool count_all(const struct corpus *c, int64_t model, struct vectors_counts *out,
                      struct error *e)
{
    int64_t entries, vectors;
    if (!corpus_number(c, "SELECT count(*) FROM #_entry", -1, &entries, e) ||
        !corpus_number(c, "SELECT ifnull(sum(vectors), 0) FROM #_model", -1, &vectors, e) ||
        !vectors_number(c, model, &out->embedded, e))
        return false;
    out->missing = entries - out->embedded;
    out->stale = vectors - out->embedded;
    return true;
}

bool vectors_count(const struct corpus *c, const char *model, struct vectors_counts *out,
                   struct error *e)
{
    struct vector_model known = {0};
    bool began;
    *out = (struct vectors_counts){0};
    if (!store_step_begin(c->store, &began, e))
        return false;
    bool ok =
        (!model || vector_model_find(c, model, 0, &known, e)) && count_all(c, known.number, out, e);
    out->dimension = known.dimension;
    if (!model)
        out->missing = 0;
    return store_step_end(c->store, began, ok, e);
}

/* --- vectors --------------------------------------------------------------------------------- */

bool vectors_ids(const struct corpus *c, int64_t model, struct vector_ids *out, struct error *e)
{
    struct query q = corpus_query(c,
                                  "SELECT key, stamp FROM #_vector INDEXED BY #_vector_key "
                                  "WHERE +model = ? ORDER BY key",
                                  e);
    query_int(&q, model);
    while (query_next(&q))
        vec_push(&out->items, (struct vector_id){sqlite3_column_int64(q.handle, 0),
                                                 sqlite3_column_int64(q.handle, 1)});
    return query_end(&q);
}

bool vectors_bytes(const struct corpus *c, int64_t model, int64_t key, int dimension, int8_t *bytes,
                   float *scale, bool *found, struct error *e)
{
    size_t stride = int8_stride(dimension);
    struct query q =
        corpus_query(c, "SELECT scale, bytes FROM #_vector WHERE model = ? AND key = ?", e);
    query_int(&q, model);
    query_int(&q, key);
    *found = query_next(&q) && (size_t)sqlite3_column_bytes(q.handle, 1) == stride;
    if (*found) {
        *scale = (float)sqlite3_column_double(q.handle, 0);
        memcpy(bytes, sqlite3_column_blob(q.handle, 1), stride);
    }
    return query_end(&q);
}

static double dot_floats(const float *values, const void *blob, int dimension)
{
    const char *at = blob;
    double sum = 0;
    for (int i = 0; i < dimension; i++, at += sizeof(float)) {
        float f;
        memcpy(&f, at, sizeof f);
        sum += (double)values[i] * (double)f;
    }
    return sum;
}

bool vectors_cosine(const struct corpus *c, int64_t model, int64_t key,
                    const struct vector_query *query, double *cosine, bool *found, struct error *e)
{
    struct query q = corpus_query(c, "SELECT floats FROM #_floats WHERE model = ? AND key = ?", e);
    query_int(&q, model);
    query_int(&q, key);
    size_t wanted = (size_t)query->dimension * sizeof(float);
    *found = query_next(&q) && (size_t)sqlite3_column_bytes(q.handle, 0) == wanted;
    if (*found) {
        *cosine = dot_floats(query->values, sqlite3_column_blob(q.handle, 0), query->dimension);
        *cosine = fmin(1, fmax(-1, *cosine));
    }
    return query_end(&q);
}

static bool keep_bytes(const struct corpus *c, int64_t model, int64_t stamp, int64_t key,
                       const float *values, int dimension, struct error *e)
{
    size_t stride = int8_stride(dimension);
    struct query q =
        corpus_query(c,
                     "INSERT INTO #_vector (model, key, stamp, scale, bytes) "
                     "VALUES (?, ?, ?, ?, ?) ON CONFLICT (model, key) DO UPDATE SET "
                     "stamp = excluded.stamp, scale = excluded.scale, bytes = excluded.bytes",
                     e);
    int8_t *bytes = mem_alloc(stride);
    query_int(&q, model);
    query_int(&q, key);
    query_int(&q, stamp);
    query_known_real(&q, int8_quantise(values, dimension, bytes));
    query_bytes(&q, bytes, stride);
    bool ok = query_run(&q);
    free(bytes);
    return ok;
}

bool vector_keep(const struct corpus *c, int64_t model, int64_t stamp, int64_t key,
                 const float *values, int dimension, struct error *e)
{
    if (!keep_bytes(c, model, stamp, key, values, dimension, e))
        return false;
    struct query q =
        corpus_query(c, "INSERT OR REPLACE INTO #_floats (model, key, floats) VALUES (?, ?, ?)", e);
    query_int(&q, model);
    query_int(&q, key);
    query_bytes(&q, values, (size_t)dimension * sizeof *values);
    return query_run(&q);
}

bool vectors_remove(const struct corpus *c, int64_t key, struct error *e)
{
    return corpus_run(c, "DELETE FROM #_vector WHERE key = ?", key, e) &&
           corpus_run(c, "DELETE FROM #_floats WHERE key = ?", key, e);
}

/* --- what is stale --------------------------------------------------------------------------- */

/* A few rows a transaction: others want to write, too. */
static bool drop_some(const struct corpus *c, const char *sql, int64_t model, bool *more,
                      struct error *e)
{
    struct query q = corpus_query(c, sql, e);
    query_int(&q, model);
    query_int(&q, DROP_STEP);
    bool ok = query_run(&q);
    *more = ok && sqlite3_changes(c->store->db) > 0;
    return ok;
}

static bool drop_others(const struct corpus *c, int64_t model, bool *more, struct error *e)
{
    static const char *const steps[] = {
        "DELETE FROM #_vector WHERE (model, key) IN "
        "(SELECT model, key FROM #_vector WHERE model <> ? LIMIT ?)",
        "DELETE FROM #_floats WHERE (model, key) IN "
        "(SELECT model, key FROM #_floats WHERE model <> ? LIMIT ?)",
        "DELETE FROM #_model WHERE number IN "
        "(SELECT number FROM #_model WHERE number <> ? LIMIT ?)",
    };
    *more = false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !*more; i++)
        if (!drop_some(c, steps[i], model, more, e))
            return false;
    return true;
}

bool vectors_drop_stale(const struct corpus *c, const char *model, bool *more, struct error *e)
{
    struct vector_model known;
    int64_t others;
    *more = false;
    if (!vector_model_find(c, model, 0, &known, e) || known.number == 0)
        return known.number == 0;
    if (!corpus_number(c, "SELECT count(*) FROM #_model WHERE number <> ?", known.number, &others,
                       e))
        return false;
    return others == 0 || drop_others(c, known.number, more, e);
}
