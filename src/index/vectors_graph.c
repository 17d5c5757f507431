/* The graph of a model's vectors: which elements it holds, and how it catches up with the store.
 * Its file is graph_file.c. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "index/graph_file.h"
#include "index/rank.h"
#include "index/vectors_private.h"

/* SAMPLE: of it the mean is known to a thirtieth of the deviation. */
enum { NO_VERSION = -1, SAVE_EVERY = 10000, SAMPLE = 1000 };

static void forget_graph(struct vector_graph *g)
{
    hnsw_free(g->hnsw);
    g->hnsw = NULL;
    vec_release(&g->of.items);
    vec_release(&g->pending.items);
    g->version = g->target = NO_VERSION;
    g->gone = g->unsaved = 0;
}

void vector_graph_release(struct vector_graph *g)
{
    forget_graph(g);
    graph_file_unlock(&g->lock);
    free(g->model);
    *g = (struct vector_graph){.version = NO_VERSION, .target = NO_VERSION, .lock = -1};
}

/* Another model has another graph. */
static void be_for(struct vector_graph *g, const char *name, const struct vector_model *model)
{
    if (g->model && strcmp(g->model, name) == 0 && g->number == model->number)
        return;
    vector_graph_release(g);
    g->model = mem_strdup(name);
    g->number = model->number;
    g->dimension = model->dimension;
}

/* --- the file -------------------------------------------------------------------------------- */

static char *path_of(const struct vectors *v)
{
    return graph_file_path(v->directory, v->tables, v->graph.model);
}

/* Reads the file unless it is the one that was read or written last. */
static void read_file(struct vectors *v)
{
    struct vector_graph *g = &v->graph;
    struct graph_content content = {.model = g->model, .dimension = g->dimension};
    char *path = path_of(v);
    struct graph_file now = graph_file_stat(path);
    if (now.inode != 0 && !graph_file_same(&now, &g->file)) {
        forget_graph(g);
        if (graph_file_read(path, &content)) {
            g->hnsw = content.hnsw;
            g->of = content.of;
            g->version = content.version;
            for (size_t i = 0; i < g->of.items.len; i++)
                g->gone += g->of.items.items[i].key < 0;
        }
        g->file = graph_file_stat(path);
    }
    free(path);
}

/* A vector that was forgotten since the graph was compared with the store must not come back with
 * it. Who forgets takes the file away within its transaction where it cannot mend it; so the file
 * appears while nobody writes, and only if nothing changed. */
static bool appear(struct vector_graph *g, const struct corpus *c, struct whole_file *file,
                   bool *done, struct error *e)
{
    int64_t version;
    bool began;
    if (!store_enter(c->store, &began, e))
        return false;
    bool ok = !began || vectors_version(c, &version, e);
    *done = ok && (!began || version == g->target);
    ok = ok && (!*done || whole_file_finish(file, e));
    return store_leave(c->store, began, ok, e);
}

static void saved(struct vector_graph *g, const char *path)
{
    g->file = graph_file_stat(path);
    g->unsaved = 0;
    g->overdue = false;
}

/* *done is false where it has to be compared with the store again before it is written. */
static bool save(struct vectors *v, const struct corpus *c, bool *done, struct error *e)
{
    struct vector_graph *g = &v->graph;
    struct whole_file file;
    const struct graph_content content = {.model = g->model,
                                          .dimension = g->dimension,
                                          .version = g->version,
                                          .of = g->of,
                                          .hnsw = g->hnsw};
    char *path = path_of(v);
    bool ok = graph_file_write(path, &content, &file, e);
    if (ok) {
        ok = appear(g, c, &file, done, e);
        whole_file_drop(&file);
    }
    if (ok && *done)
        saved(g, path);
    else if (ok)
        g->unsaved = 1; /* not again at each step, while others add */
    free(path);
    return ok;
}

static bool lock(struct vectors *v)
{
    struct vector_graph *g = &v->graph;
    char *path = path_of(v);
    bool ok = g->lock >= 0 || graph_file_lock(path, &g->lock);
    free(path);
    return ok;
}

/* --- what it holds --------------------------------------------------------------------------- */

struct placed {
    struct vector_id id;
    uint32_t element;
};

static int compare_ids(const struct vector_id *a, const struct vector_id *b)
{
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->stamp > b->stamp) - (a->stamp < b->stamp);
}

static int compare_placed(const void *a, const void *b)
{
    return compare_ids(&((const struct placed *)a)->id, &((const struct placed *)b)->id);
}

static struct placed *sorted(const struct vector_ids *of, size_t *count)
{
    struct placed *all = mem_alloc(of->items.len * sizeof *all + 1);
    *count = 0;
    for (size_t i = 0; i < of->items.len; i++)
        if (of->items.items[i].key >= 0)
            all[(*count)++] = (struct placed){of->items.items[i], (uint32_t)i};
    qsort(all, *count, sizeof *all, compare_placed);
    return all;
}

static void blank(struct vector_graph *g, uint32_t element)
{
    hnsw_blank(g->hnsw, element);
    g->of.items.items[element].key = -1;
    g->gone++;
    g->unsaved++;
    g->overdue = true;
}

/* Blanks what the store has no longer; what it has and the graph lacks is pending. */
static void compare_with(struct vector_graph *g, const struct vector_ids *now)
{
    size_t count, n = 0;
    struct placed *have = sorted(&g->of, &count);
    vec_clear(&g->pending.items);
    for (size_t i = 0; i < count; i++) {
        while (n < now->items.len && compare_ids(&now->items.items[n], &have[i].id) < 0)
            vec_push(&g->pending.items, now->items.items[n++]);
        if (n < now->items.len && compare_ids(&now->items.items[n], &have[i].id) == 0)
            n++;
        else
            blank(g, have[i].element);
    }
    for (; n < now->items.len; n++)
        vec_push(&g->pending.items, now->items.items[n]);
    free(have);
    for (size_t i = 0, j = g->pending.items.len; i + 1 < j; i++) {
        struct vector_id swap = g->pending.items.items[i];
        g->pending.items.items[i] = g->pending.items.items[--j];
        g->pending.items.items[j] = swap;
    }
}

static bool has_too_many_gaps(const struct vector_graph *g)
{
    return g->gone * 4 > g->of.items.len;
}

/* Finds out what there is to do for this version. */
static bool set_target(struct vector_graph *g, const struct corpus *c, int64_t version,
                       struct error *e)
{
    struct vector_ids now = {0};
    if (g->hnsw && g->target == version)
        return true;
    bool ok = vectors_ids(c, g->number, &now, e);
    if (ok && g->hnsw)
        compare_with(g, &now);
    if (ok && (!g->hnsw || has_too_many_gaps(g))) {
        size_t unsaved = g->unsaved;
        forget_graph(g);
        g->unsaved = unsaved;
        g->hnsw = hnsw_new(g->dimension, now.items.len);
        ok = g->hnsw || err_set(e, ERR_SESSION_STORE_ERROR,
                                "not enough memory for a graph of vectors; raise hnsw_from");
        if (ok)
            compare_with(g, &now);
    }
    g->target = ok ? version : NO_VERSION;
    vec_release(&now.items);
    return ok;
}

static bool add_next(struct vector_graph *g, const struct corpus *c, int8_t *bytes, struct error *e)
{
    struct vector_id id = vec_last(&g->pending.items);
    float scale = 0;
    bool found;
    if (!vectors_bytes(c, g->number, id.key, g->dimension, bytes, &scale, &found, e))
        return false;
    if (!found) { /* of a wrong length: the database was damaged. It has a place, so as to count */
        memset(bytes, 0, int8_stride(g->dimension));
        scale = 0;
    }
    if (!hnsw_add(g->hnsw, bytes, scale)) {
        forget_graph(g);
        return err_set(e, ERR_SESSION_STORE_ERROR,
                       "not enough memory for a graph of vectors; raise hnsw_from");
    }
    vec_push(&g->of.items, id);
    g->pending.items.len--;
    g->unsaved++;
    return true;
}

static bool add_some(struct vector_graph *g, const struct corpus *c, int step, struct error *e)
{
    int8_t *bytes = mem_alloc(int8_stride(g->dimension));
    bool ok = true;
    for (; ok && step > 0 && g->pending.items.len > 0; step--)
        ok = add_next(g, c, bytes, e);
    free(bytes);
    return ok;
}

/* --- a step ---------------------------------------------------------------------------------- */

static bool is_due(const struct vector_graph *g)
{
    bool whole = g->pending.items.len == 0 && g->unsaved > 0;
    return g->hnsw && (whole || g->overdue || g->unsaved >= SAVE_EVERY);
}

/* In a transaction, so that what it reads is of one version. */
static bool catch_up(struct vector_graph *g, const struct corpus *c, int step, struct error *e)
{
    int64_t version;
    if (!vectors_version(c, &version, e))
        return false;
    if (g->hnsw && g->version == version && g->unsaved == 0)
        return true;
    if (!set_target(g, c, version, e) || !add_some(g, c, step, e))
        return false;
    bool done = g->pending.items.len == 0;
    bool lasts =
        sqlite3_txn_state(c->store->db, NULL) != SQLITE_TXN_WRITE;   /* else it may be undone */
    g->unsaved += done && lasts && g->version != version;            /* that it is of this one */
    g->version = done && lasts ? version : NO_VERSION;
    return true;
}

/* What was forgotten must leave the file without delay. */
static bool step_locked(struct vectors *v, const struct corpus *c, int step, int64_t *left,
                        struct error *e)
{
    struct vector_graph *g = &v->graph;
    bool began, done = true;
    read_file(v);
    if (!store_step_begin(c->store, &began, e))
        return false;
    bool ok = store_step_end(c->store, began, catch_up(g, c, step, e), e);
    ok = ok && (!is_due(g) || save(v, c, &done, e));
    if (!began)
        g->target = NO_VERSION;
    *left = !ok ? 0 : done ? (int64_t)g->pending.items.len : (int64_t)g->pending.items.len + 1;
    if (*left == 0)
        graph_file_unlock(&g->lock);
    return ok;
}

/* False, with *ok, where there is nothing to do for a graph. */
static bool find_graph(struct vectors *v, const struct corpus *c, const char *name, bool *ok,
                       int64_t *count, struct error *e)
{
    struct vector_model model;
    *ok = true;
    if (!v->directory || !hnsw_available())
        return false;
    *ok = vector_model_find(c, name, 0, &model, e) &&
          (model.number == 0 || vectors_number(c, model.number, count, e));
    if (!*ok || model.number == 0)
        return false;
    be_for(&v->graph, name, &model);
    return true;
}

static bool remove_file(struct vectors *v)
{
    char *path = path_of(v);
    graph_file_remove(path);
    free(path);
    forget_graph(&v->graph);
    graph_file_unlock(&v->graph.lock);
    return true;
}

bool vectors_graph_step(struct vectors *v, const struct corpus *c, const char *model, int step,
                        int64_t *left, struct error *e)
{
    int64_t count;
    bool ok;
    *left = 0;
    if (!find_graph(v, c, model, &ok, &count, e))
        return ok;
    if (count < v->graph_from)
        return remove_file(v);
    /* Another process or thread makes it. */
    return !lock(v) || step_locked(v, c, step, left, e);
}

/* It may have been found to be so just now, and nobody takes anything out of it. */
static void remove_damaged(const struct vectors *v)
{
    char *path = path_of(v);
    graph_file_remove_aside(path);
    free(path);
}

/* A file of no model that is there is of no use. */
static bool purge_model(struct vectors *v, const struct corpus *c, const char *name,
                        struct error *e)
{
    int64_t count, left;
    bool ok;
    if (!find_graph(v, c, name, &ok, &count, e))
        return ok;
    if (count < v->graph_from || !lock(v))
        return remove_file(v);
    ok = step_locked(v, c, 0, &left, e);
    graph_file_unlock(&v->graph.lock);
    remove_damaged(v);
    return ok;
}

static void remove_in(const char *directory, const char *name)
{
    char *path = paths_join(directory, name);
    unlink(path);
    free(path);
}

static bool purge_all(struct vectors *v, const struct corpus *c, struct error *e)
{
    struct text_list names = {0}, files = {0};
    bool ok = graph_names_read(c, &names, e);
    graph_files_list(v->directory, v->tables, &files);
    for (size_t i = 0; ok && i < files.items.len; i++) {
        const char *name = files.items.items[i], *behind = "";
        const char *model = graph_file_model(v->tables, &names, name, &behind);
        if (model && !*behind)
            ok = purge_model(v, c, model, e);
        else
            remove_in(v->directory, name);
    }
    vec_free_each(&files.items);
    vec_free_each(&names.items);
    return ok;
}

bool vectors_graph_purge(struct vectors *v, const struct corpus *c, struct error *e)
{
    const char *slash = strrchr(c->store->path, '/');
    if (v && v->directory)
        return purge_all(v, c, e);
    if (store_in_memory(c->store->path) || !slash)
        return true;
    char *directory = mem_strndup(c->store->path, (size_t)(slash - c->store->path));
    struct vectors *own = vectors_new(c->tables, directory, 0);
    bool ok = purge_all(own, c, e);
    vectors_free(own);
    free(directory);
    return ok;
}

/* --- searching ------------------------------------------------------------------------------- */

bool vector_graph_ready(struct vectors *v, const char *name, const struct vector_model *model,
                        int64_t version)
{
    struct vector_graph *g = &v->graph;
    if (!v->directory || !hnsw_available())
        return false;
    be_for(g, name, model);
    if (!(g->hnsw && g->version == version) && g->lock < 0)
        read_file(v);
    return g->hnsw && g->version == version && hnsw_count(g->hnsw) == g->of.items.len;
}

/* The question as bytes. */
struct question {
    int8_t *bytes;
    float scale;
};

static struct question question_of(const struct vector_graph *g, const struct vector_query *query)
{
    struct question q = {.bytes = mem_alloc(int8_stride(g->dimension))};
    q.scale = int8_quantise(query->values, g->dimension, q.bytes);
    return q;
}

void vector_graph_search(struct vector_graph *g, struct vector_search *s)
{
    size_t ask = s->limit + (g->gone < s->limit ? g->gone : s->limit);
    struct hnsw_hit *hits = mem_alloc(ask * sizeof *hits + 1);
    struct question q = question_of(g, s->query);
    size_t count = hnsw_search(g->hnsw, q.bytes, q.scale, ask, hits);
    for (size_t i = 0; i < count; i++) {
        const struct vector_id *id = &g->of.items.items[hits[i].element];
        if (id->key >= 0)
            nearest_add(&s->near, s->limit,
                        &(struct nearest){.key = id->key, .cosine = hits[i].cosine});
    }
    free(q.bytes);
    free(hits);
}

static float cosine_at(const struct vector_graph *g, size_t i, const struct question *q)
{
    return hnsw_cosine(g->hnsw, (uint32_t)i, q->bytes, q->scale);
}

/* Elements mostly come by key, so that of most entries the one before is the element before. */
static bool follows(const struct vector_graph *g, size_t i)
{
    const struct vector_id *ids = g->of.items.items;
    return i > 0 && ids[i - 1].key == ids[i].key - 1 &&
           rank_key_session(ids[i - 1].key) == rank_key_session(ids[i].key);
}

void vector_graph_measure(const struct vector_graph *g, struct vector_search *s)
{
    struct question q = question_of(g, s->query);
    struct nearness all = {0};
    size_t step = g->of.items.len / SAMPLE + 1;
    for (size_t i = 0; i < g->of.items.len; i += step) {
        struct nearest one = {.key = g->of.items.items[i].key};
        if (one.key < 0)
            continue;
        one.cosine = cosine_at(g, i, &q);
        if (follows(g, i))
            one.before = (float)s->field->previous * cosine_at(g, i - 1, &q);
        nearness_add(&all, &one);
    }
    nearness_tell(&all, s->field);
    free(q.bytes);
}
