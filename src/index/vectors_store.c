/* Rows of memory_model, memory_vector, memory_floats and memory_version. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/vectors_private.h"

enum { DROP_STEP = 1000 };

/* --- models ---------------------------------------------------------------------------------- */

bool vector_model_find(struct store *s, const char *name, int dimension, struct vector_model *out,
                       struct error *e)
{
    struct query q;
    *out = (struct vector_model){0};
    if (!query_begin(&q, s,
                     "SELECT number, dimension, fitted, knots FROM memory_model "
                     "WHERE name = ?1 AND (?2 = 0 OR dimension = ?2) ORDER BY used DESC LIMIT 1",
                     e))
        return false;
    query_text(&q, name);
    query_int(&q, dimension);
    enum query_result result = query_step(&q, e);
    if (result == QUERY_ROW) {
        out->number = sqlite3_column_int64(q.handle, 0);
        out->dimension = sqlite3_column_int(q.handle, 1);
        out->fitted = sqlite3_column_int64(q.handle, 2);
        calibration_parse((const char *)sqlite3_column_text(q.handle, 3), &out->calibration);
    }
    query_end(&q);
    return result != QUERY_FAILED;
}

bool vectors_know_model(struct store *s, const char *model, int dimension, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s,
                     "INSERT INTO memory_model (name, dimension, used, fitted) "
                     "VALUES (?1, ?2, (SELECT 1 + coalesce(max(used), 0) FROM memory_model), 0) "
                     "ON CONFLICT (name, dimension) DO UPDATE SET used = excluded.used",
                     e))
        return false;
    query_text(&q, model);
    query_int(&q, dimension);
    return query_run(&q, e);
}

bool vector_model_fitted(struct store *s, int64_t model, int64_t fitted,
                         const struct calibration *c, struct error *e)
{
    struct query q;
    char *knots = c->count ? calibration_print(c) : NULL;
    bool ok =
        query_begin(&q, s, "UPDATE memory_model SET knots = ?, fitted = ? WHERE number = ?", e);
    if (ok) {
        query_text(&q, knots);
        query_int(&q, fitted);
        query_int(&q, model);
        ok = query_run(&q, e);
    }
    free(knots);
    return ok;
}

/* --- counting -------------------------------------------------------------------------------- */

static bool read_number(struct store *s, const char *sql, int64_t parameter, int64_t *out,
                        struct error *e)
{
    struct query q;
    *out = 0;
    if (!query_begin(&q, s, sql, e))
        return false;
    if (parameter >= 0)
        query_int(&q, parameter);
    enum query_result result = query_step(&q, e);
    if (result == QUERY_ROW)
        *out = sqlite3_column_int64(q.handle, 0);
    query_end(&q);
    return result != QUERY_FAILED;
}

bool vectors_version(struct store *s, int64_t *out, struct error *e)
{
    return read_number(s, "SELECT vectors FROM memory_version", -1, out, e);
}

bool vectors_version_step(struct store *s, int64_t *stamp, struct error *e)
{
    struct query q;
    return query_begin(&q, s, "UPDATE memory_version SET vectors = vectors + 1", e) &&
           query_run(&q, e) && vectors_version(s, stamp, e);
}

bool vectors_number(struct store *s, int64_t model, int64_t *out, struct error *e)
{
    return read_number(s, "SELECT vectors FROM memory_model WHERE number = ?", model, out, e);
}

static bool count_all(struct store *s, int64_t model, struct memory_stats *out, struct error *e)
{
    int64_t entries, vectors;
    if (!read_number(s, "SELECT count(*) FROM memory_entry", -1, &entries, e) ||
        !read_number(s, "SELECT ifnull(sum(vectors), 0) FROM memory_model", -1, &vectors, e) ||
        !vectors_number(s, model, &out->embedded, e))
        return false;
    out->missing = entries - out->embedded;
    out->stale = vectors - out->embedded;
    return true;
}

bool vectors_count(struct store *s, const char *model, struct memory_stats *out, struct error *e)
{
    struct vector_model known = {0};
    bool began;
    if (!store_step_begin(s, &began, e))
        return false;
    bool ok =
        (!model || vector_model_find(s, model, 0, &known, e)) && count_all(s, known.number, out, e);
    ok = store_step_end(s, began, ok, e);
    if (!ok)
        return false;
    out->dimension = known.dimension;
    free(out->model);
    out->model = mem_strdup(model);
    if (!model)
        out->missing = 0;
    return true;
}

/* --- vectors --------------------------------------------------------------------------------- */

bool vectors_ids(struct store *s, int64_t model, struct vector_ids *out, struct error *e)
{
    struct query q;
    enum query_result result;
    if (!query_begin(&q, s,
                     "SELECT key, stamp FROM memory_vector INDEXED BY memory_vector_key "
                     "WHERE +model = ? ORDER BY key",
                     e))
        return false;
    query_int(&q, model);
    while ((result = query_step(&q, e)) == QUERY_ROW)
        vec_push(&out->items, (struct vector_id){sqlite3_column_int64(q.handle, 0),
                                                 sqlite3_column_int64(q.handle, 1)});
    query_end(&q);
    return result == QUERY_DONE;
}

bool vectors_bytes(struct store *s, int64_t model, int64_t key, int dimension, int8_t *bytes,
                   float *scale, bool *found, struct error *e)
{
    struct query q;
    size_t stride = int8_stride(dimension);
    if (!query_begin(&q, s, "SELECT scale, bytes FROM memory_vector WHERE model = ? AND key = ?",
                     e))
        return false;
    query_int(&q, model);
    query_int(&q, key);
    enum query_result result = query_step(&q, e);
    *found = result == QUERY_ROW && (size_t)sqlite3_column_bytes(q.handle, 1) == stride;
    if (*found) {
        *scale = (float)sqlite3_column_double(q.handle, 0);
        memcpy(bytes, sqlite3_column_blob(q.handle, 1), stride);
    }
    query_end(&q);
    return result != QUERY_FAILED;
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

bool vectors_cosine(struct store *s, int64_t model, int64_t key, const struct vector_query *query,
                    double *cosine, bool *found, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, "SELECT floats FROM memory_floats WHERE model = ? AND key = ?", e))
        return false;
    query_int(&q, model);
    query_int(&q, key);
    enum query_result result = query_step(&q, e);
    size_t wanted = (size_t)query->dimension * sizeof(float);
    *found = result == QUERY_ROW && (size_t)sqlite3_column_bytes(q.handle, 0) == wanted;
    if (*found) {
        *cosine = dot_floats(query->values, sqlite3_column_blob(q.handle, 0), query->dimension);
        *cosine = fmin(1, fmax(-1, *cosine));
    }
    query_end(&q);
    return result != QUERY_FAILED;
}

static bool keep_bytes(struct store *s, int64_t model, int64_t stamp, int64_t key,
                       const float *values, int dimension, struct error *e)
{
    struct query q;
    size_t stride = int8_stride(dimension);
    if (!query_begin(&q, s,
                     "INSERT INTO memory_vector (model, key, stamp, scale, bytes) "
                     "VALUES (?, ?, ?, ?, ?) ON CONFLICT (model, key) DO UPDATE SET "
                     "stamp = excluded.stamp, scale = excluded.scale, bytes = excluded.bytes",
                     e))
        return false;
    int8_t *bytes = mem_alloc(stride);
    query_int(&q, model);
    query_int(&q, key);
    query_int(&q, stamp);
    query_known_real(&q, int8_quantise(values, dimension, bytes));
    query_bytes(&q, bytes, stride);
    bool ok = query_run(&q, e);
    free(bytes);
    return ok;
}

bool vectors_keep(struct store *s, int64_t model, int64_t stamp, int64_t key, const float *values,
                  int dimension, struct error *e)
{
    struct query q;
    if (!keep_bytes(s, model, stamp, key, values, dimension, e) ||
        !query_begin(
            &q, s, "INSERT OR REPLACE INTO memory_floats (model, key, floats) VALUES (?, ?, ?)", e))
        return false;
    query_int(&q, model);
    query_int(&q, key);
    query_bytes(&q, values, (size_t)dimension * sizeof *values);
    return query_run(&q, e);
}

/* --- what is stale --------------------------------------------------------------------------- */

/* A few rows a transaction: others want to write, too. */
static bool drop_some(struct store *s, const char *sql, int64_t model, bool *more, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, sql, e))
        return false;
    query_int(&q, model);
    query_int(&q, DROP_STEP);
    bool ok = query_run(&q, e);
    *more = ok && sqlite3_changes(s->db) > 0;
    return ok;
}

static bool drop_others(struct store *s, int64_t model, bool *more, struct error *e)
{
    static const char *const steps[] = {
        "DELETE FROM memory_vector WHERE (model, key) IN "
        "(SELECT model, key FROM memory_vector WHERE model <> ? LIMIT ?)",
        "DELETE FROM memory_floats WHERE (model, key) IN "
        "(SELECT model, key FROM memory_floats WHERE model <> ? LIMIT ?)",
        "DELETE FROM memory_model WHERE number IN "
        "(SELECT number FROM memory_model WHERE number <> ? LIMIT ?)",
    };
    *more = false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !*more; i++)
        if (!drop_some(s, steps[i], model, more, e))
            return false;
    return true;
}

bool vectors_drop_stale(struct store *s, const char *model, bool *more, struct error *e)
{
    struct vector_model known;
    int64_t others;
    *more = false;
    if (!vector_model_find(s, model, 0, &known, e) || known.number == 0)
        return known.number == 0;
    if (!read_number(s, "SELECT count(*) FROM memory_model WHERE number <> ?", known.number,
                     &others, e))
        return false;
    return others == 0 || drop_others(s, known.number, more, e);
}
