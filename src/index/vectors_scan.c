/* All vectors of a model in memory, as bytes in one block by key, and the scan over it. */
#include <math.h>
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

/* Drops rows that are not among the current ones. */
static void drop_gone(struct vector_block *b, const struct vector_ids *now)
{
    size_t kept = 0;
    for (size_t i = 0, n = 0; i < b->ids.items.len; i++) {
        const struct vector_id *row = &b->ids.items.items[i];
        while (n < now->items.len && now->items.items[n].key < row->key)
            n++;
        if (n < now->items.len && now->items.items[n].key == row->key &&
            now->items.items[n].stamp == row->stamp)
            move_row(b, kept++, i);
    }
    resize(b, kept);
}

/* All rows are current ones; loads the others into gaps, from the end on. */
static bool take_new(struct vector_block *b, const struct corpus *c, const struct vector_ids *now,
                     struct error *e)
{
    size_t old = b->ids.items.len;
    resize(b, now->items.len);
    for (size_t row = now->items.len; row-- > 0;) {
        const struct vector_id *id = &now->items.items[row];
        if (old > 0 && b->ids.items.items[old - 1].key == id->key) {
            move_row(b, row, --old);
            continue;
        }
        bool found;
        int8_t *bytes = b->bytes.items + row * int8_stride(b->dimension);
        float *scale = &b->scales.items[row];
        if (!vectors_bytes(c, b->model, id->key, b->dimension, bytes, scale, &found, e))
            return false;
        b->ids.items.items[row] = *id;
        if (!found) { /* of a wrong length: the database was damaged */
            memset(bytes, 0, int8_stride(b->dimension));
            *scale = 0;
        }
    }
    return true;
}

/* Loads all for the first time, in the order of the table. */
static bool load_all(struct vector_block *b, const struct corpus *c, size_t count, struct error *e)
{
    size_t stride = int8_stride(b->dimension), row = 0;
    resize(b, count);
    struct query q = corpus_query(
        c, e, "SELECT key, stamp, scale, bytes FROM #_vector WHERE model = ? ORDER BY key", "i",
        b->model);
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

bool vector_block_update(struct vector_block *b, const struct corpus *c,
                         const struct vector_model *model, struct error *e)
{
    int64_t version, count;
    bool began;
    if (!store_step_begin(c->store, &began, e))
        return false;
    bool ok = vectors_version(c, &version, e);
    bool known = b->model == model->number && b->dimension == model->dimension;
    if (ok && !known) {
        vector_block_release(b);
        b->model = model->number;
        b->dimension = model->dimension;
    }
    if (ok && !(known && b->version == version)) {
        struct vector_ids now = {0};
        if (b->ids.items.len == 0) {
            ok = vectors_number(c, b->model, &count, e) && load_all(b, c, (size_t)count, e);
        } else if ((ok = vectors_ids(c, b->model, &now, e))) {
            drop_gone(b, &now);
            ok = take_new(b, c, &now, e);
        }
        vec_release(&now.items);
        b->version = version;
    }
    ok = store_step_end(c->store, began, ok, e);
    if (!ok)
        vector_block_release(b);
    return ok;
}

/* --- the scan -------------------------------------------------------------------------------- */

static float nearness_of(const struct nearest *n)
{
    return n->cosine + n->before;
}

void nearest_add(struct nearest_list *list, size_t limit, const struct nearest *one)
{
    size_t at = list->items.len;
    if (at == limit) {
        if (limit == 0 || nearness_of(one) <= nearness_of(&list->items.items[at - 1]))
            return;
        list->items.len = --at;
    }
    while (at > 0 && nearness_of(&list->items.items[at - 1]) < nearness_of(one))
        at--;
    vec_insert(&list->items, at, *one);
}

void nearness_add(struct nearness *n, const struct nearest *one)
{
    double value = (double)nearness_of(one);
    n->count++;
    n->sum += value;
    n->squares += value * value;
}

void nearness_tell(const struct nearness *n, struct vectors_field *out)
{
    out->mean = n->count > 0 ? n->sum / (double)n->count : 0;
    double variance = n->count > 0 ? n->squares / (double)n->count - out->mean * out->mean : 0;
    out->deviation = variance > 0 ? sqrt(variance) : 0;
}

/* Rows come by key, and so do the wanted keys. */
struct scan {
    struct vector_search *search;
    VEC(int64_t) wanted;
    size_t next; /* of them */
    struct nearness all;
    struct nearest last;
    bool has_last;
};

static void scan_one(struct scan *x, int64_t key, float cosine)
{
    struct nearest one = {.key = key, .cosine = cosine};
    const struct vectors_field *f = x->search->field;
    if (f && x->has_last && x->last.key == key - 1 &&
        rank_key_session(x->last.key) == rank_key_session(key))
        one.before = (float)f->previous * x->last.cosine;
    if (f) {
        nearness_add(&x->all, &one);
        while (x->next < x->wanted.len && x->wanted.items[x->next] < key)
            x->next++;
        if (x->next < x->wanted.len && x->wanted.items[x->next] == key)
            vec_push(&x->search->also.items, one);
    }
    nearest_add(&x->search->near, x->search->limit, &one);
    x->last = one;
    x->has_last = true;
}

void vector_block_scan(const struct vector_block *b, struct vector_search *s)
{
    struct scan x = {.search = s};
    size_t stride = int8_stride(b->dimension);
    auto_free int8_t *bytes = mem_alloc(stride);
    float scale = int8_quantise(s->query->values, b->dimension, bytes);
    int64_t session = -1;
    bool may = true;
    for (size_t i = 0; s->field && s->field->also && i < s->field->also->items.len; i++)
        vec_push(&x.wanted, s->field->also->items.items[i].key);
    if (x.wanted.len > 0)
        vec_sort(&x.wanted, vec_number_order);
    for (size_t i = 0; i < b->ids.items.len; i++) {
        int64_t key = b->ids.items.items[i].key;
        if (!s->scope->all && rank_key_session(key) != session) {
            session = rank_key_session(key);
            may = corpus_scope_has(s->scope, session);
        }
        if (may)
            scan_one(&x, key,
                     scale * b->scales.items[i] *
                         (float)int8_dot(bytes, b->bytes.items + i * stride, stride));
    }
    if (s->field) {
        s->field->count = x.all.count;
        nearness_tell(&x.all, s->field);
    }
    vec_release(&x.wanted);
}
