/* All vectors of a model in memory, as bytes in one block by key, and the scan over it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/rank.h"
#include "index/vectors_private.h"

void vector_block_release(struct vector_block *b)
{
    vec_release(&b->ids.items);
    vec_release(&b->scales);
    vec_release(&b->bytes);
    *b = (struct vector_block){0};
}

/* --- bringing it up to date ------------------------------------------------------------------ */

static void resize(struct vector_block *b, size_t rows)
{
    size_t stride = int8_stride(b->dimension);
    vec_reserve(&b->ids.items, rows);
    vec_reserve(&b->scales, rows);
    vec_reserve(&b->bytes, rows * stride);
    b->ids.items.len = b->scales.len = rows;
    b->bytes.len = rows * stride;
}

static void move_row(struct vector_block *b, size_t to, size_t from)
{
    size_t stride = int8_stride(b->dimension);
    if (to == from)
        return;
    b->ids.items.items[to] = b->ids.items.items[from];
    b->scales.items[to] = b->scales.items[from];
    memcpy(b->bytes.items + to * stride, b->bytes.items + from * stride, stride);
}

static bool same(const struct vector_id *a, const struct vector_id *b)
{
    return a->key == b->key && a->stamp == b->stamp;
}

/* Closes the gaps of rows that are not among the current ones. */
static void drop_gone(struct vector_block *b, const struct vector_ids *now)
{
    size_t kept = 0;
    for (size_t i = 0, n = 0; i < b->ids.items.len; i++) {
        const struct vector_id *row = &b->ids.items.items[i];
        while (n < now->items.len && now->items.items[n].key < row->key)
            n++;
        if (n < now->items.len && same(&now->items.items[n], row))
            move_row(b, kept++, i);
    }
    resize(b, kept);
}

static bool load_row(struct vector_block *b, const struct corpus *c, size_t row,
                     const struct vector_id *id, struct error *e)
{
    bool found;
    int8_t *bytes = b->bytes.items + row * int8_stride(b->dimension);
    if (!vectors_bytes(c, b->model, id->key, b->dimension, bytes, &b->scales.items[row], &found, e))
        return false;
    b->ids.items.items[row] = *id;
    if (!found) { /* of a wrong length: the database was damaged */
        memset(bytes, 0, int8_stride(b->dimension));
        b->scales.items[row] = 0;
    }
    return true;
}

/* All rows there are belong to current ones; opens gaps for the others from the end on. */
static bool take_new(struct vector_block *b, const struct corpus *c, const struct vector_ids *now,
                     struct error *e)
{
    size_t old = b->ids.items.len;
    resize(b, now->items.len);
    for (size_t row = now->items.len; row-- > 0;) {
        const struct vector_id *id = &now->items.items[row];
        if (old > 0 && b->ids.items.items[old - 1].key == id->key)
            move_row(b, row, --old);
        else if (!load_row(b, c, row, id, e))
            return false;
    }
    return true;
}

/* The first time: in the order of the table. */
static bool load_all(struct vector_block *b, const struct corpus *c, size_t count, struct error *e)
{
    size_t stride = int8_stride(b->dimension), row = 0;
    resize(b, count);
    struct query q = corpus_query(c,
                                  "SELECT key, stamp, scale, bytes FROM #_vector WHERE model = ? "
                                  "ORDER BY key",
                                  e);
    query_int(&q, b->model);
    while (row < count && query_next(&q)) {
        if ((size_t)sqlite3_column_bytes(q.handle, 3) != stride)
            continue;
        b->ids.items.items[row] = (struct vector_id){sqlite3_column_int64(q.handle, 0),
                                                     sqlite3_column_int64(q.handle, 1)};
        b->scales.items[row] = (float)sqlite3_column_double(q.handle, 2);
        memcpy(b->bytes.items + row * stride, sqlite3_column_blob(q.handle, 3), stride);
        row++;
    }
    resize(b, row);
    return query_end(&q);
}

static bool load_changes(struct vector_block *b, const struct corpus *c, struct error *e)
{
    struct vector_ids now = {0};
    bool ok = vectors_ids(c, b->model, &now, e);
    if (ok) {
        drop_gone(b, &now);
        ok = take_new(b, c, &now, e);
    }
    vec_release(&now.items);
    return ok;
}

static bool load(struct vector_block *b, const struct corpus *c, const struct vector_model *model,
                 struct error *e)
{
    int64_t version, count;
    bool known = b->model == model->number && b->dimension == model->dimension;
    if (!vectors_version(c, &version, e))
        return false;
    if (known && b->version == version)
        return true;
    if (!known) {
        vector_block_release(b);
        b->model = model->number;
        b->dimension = model->dimension;
    }
    bool ok = b->ids.items.len > 0
                  ? load_changes(b, c, e)
                  : vectors_number(c, b->model, &count, e) && load_all(b, c, (size_t)count, e);
    b->version = version;
    return ok;
}

bool vector_block_update(struct vector_block *b, const struct corpus *c,
                         const struct vector_model *model, struct error *e)
{
    bool began;
    if (!store_step_begin(c->store, &began, e))
        return false;
    bool ok = store_step_end(c->store, began, load(b, c, model, e), e);
    if (!ok)
        vector_block_release(b);
    return ok;
}

/* --- the scan -------------------------------------------------------------------------------- */

void nearest_add(struct nearest_list *list, size_t limit, int64_t key, float cosine)
{
    size_t at = list->items.len;
    if (at == limit) {
        if (limit == 0 || cosine <= list->items.items[at - 1].cosine)
            return;
        list->items.len = --at;
    }
    while (at > 0 && list->items.items[at - 1].cosine < cosine)
        at--;
    vec_insert(&list->items, at, (struct nearest){key, cosine});
}

void vector_block_scan(const struct vector_block *b, const struct vector_query *query,
                       const struct corpus_scope *scope, size_t limit, struct nearest_list *out)
{
    size_t stride = int8_stride(b->dimension);
    int8_t *bytes = mem_alloc(stride);
    float scale = int8_quantise(query->values, b->dimension, bytes);
    int64_t session = -1;
    bool may = true;
    for (size_t i = 0; i < b->ids.items.len; i++) {
        int64_t key = b->ids.items.items[i].key;
        if (!scope->all && rank_key_session(key) != session) {
            session = rank_key_session(key);
            may = corpus_scope_has(scope, session);
        }
        if (may)
            nearest_add(out, limit, key,
                        scale * b->scales.items[i] *
                            (float)int8_dot(bytes, b->bytes.items + i * stride, stride));
    }
    free(bytes);
}
