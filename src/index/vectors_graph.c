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

/* SAMPLE: its mean is within a thirtieth of the deviation. */
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

/* Makes it the graph of this model; another model's is released. */
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
    auto_free char *path = path_of(v);
    struct graph_file now = graph_file_stat(path);
    if (now.inode == 0 || memcmp(&now, &g->file, sizeof now) == 0)
        return;
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

/* *done is false when the graph has to be compared with the store again before it is saved.
 *
 * A vector that was forgotten since the last comparison must not come back with the file. A process
 * that forgets removes the file within its transaction if it cannot mend it; so the file appears
 * while nobody writes, and only if nothing has changed. */
static bool save(struct vectors *v, const struct corpus *c, bool *done, struct error *e)
{
    struct vector_graph *g = &v->graph;
    struct whole_file file;
    const struct graph_content content = {.model = g->model,
                                          .dimension = g->dimension,
                                          .version = g->version,
                                          .of = g->of,
                                          .hnsw = g->hnsw};
    auto_free char *path = path_of(v);
    int64_t version;
    bool began;
    if (!graph_file_write(path, &content, &file, e))
        return false;
    bool ok = store_enter(c->store, &began, e);
    if (ok) {
        ok = !began || vectors_version(c, &version, e);
        *done = ok && (!began || version == g->target);
        ok = ok && (!*done || whole_file_finish(&file, e));
        ok = store_leave(c->store, began, ok, e);
    }
    whole_file_drop(&file);
    if (ok && *done) {
        g->file = graph_file_stat(path);
        g->unsaved = 0;
        g->overdue = false;
    } else if (ok) {
        g->unsaved = 1; /* not again at each step, while others add */
    }
    return ok;
}

static bool lock(struct vectors *v)
{
    struct vector_graph *g = &v->graph;
    auto_free char *path = path_of(v);
    return g->lock >= 0 || graph_file_lock(path, &g->lock);
}

/* --- what it holds --------------------------------------------------------------------------- */

struct placed {
    struct vector_id id;
    uint32_t element;
};

static int compare_ids(const void *a, const void *b) /* also of struct placed */
{
    const struct vector_id *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->stamp > y->stamp) - (x->stamp < y->stamp);
}

/* Blanks elements that the store no longer has; vectors that the graph lacks are pending. */
static void compare_with(struct vector_graph *g, const struct vector_ids *now)
{
    size_t count = 0, n = 0;
    auto_free struct placed *have = mem_alloc(g->of.items.len * sizeof *have + 1);
    for (size_t i = 0; i < g->of.items.len; i++)
        if (g->of.items.items[i].key >= 0)
            have[count++] = (struct placed){g->of.items.items[i], (uint32_t)i};
    qsort(have, count, sizeof *have, compare_ids);
    vec_clear(&g->pending.items);
    for (size_t i = 0; i < count; i++) {
        while (n < now->items.len && compare_ids(&now->items.items[n], &have[i].id) < 0)
            vec_push(&g->pending.items, now->items.items[n++]);
        if (n < now->items.len && compare_ids(&now->items.items[n], &have[i].id) == 0) {
            n++;
            continue;
        }
        hnsw_blank(g->hnsw, have[i].element);
        g->of.items.items[have[i].element].key = -1;
        g->gone++;
        g->unsaved++;
        g->overdue = true;
    }
    for (; n < now->items.len; n++)
        vec_push(&g->pending.items, now->items.items[n]);
    for (size_t i = 0, j = g->pending.items.len; i + 1 < j; i++) { /* the next one last */
        struct vector_id swap = g->pending.items.items[i];
        g->pending.items.items[i] = g->pending.items.items[--j];
        g->pending.items.items[j] = swap;
    }
}

/* Finds the changes up to this version. */
static bool set_target(struct vector_graph *g, const struct corpus *c, int64_t version,
                       struct error *e)
{
    struct vector_ids now = {0};
    if (g->hnsw && g->target == version)
        return true;
    bool ok = vectors_ids(c, g->number, &now, e);
    if (ok && g->hnsw)
        compare_with(g, &now);
    if (ok && (!g->hnsw || g->gone * 4 > g->of.items.len)) {
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

/* --- a step ---------------------------------------------------------------------------------- */

/* In a transaction, so that it reads one version. */
static bool catch_up(struct vector_graph *g, const struct corpus *c, int step, struct error *e)
{
    int64_t version;
    if (!vectors_version(c, &version, e))
        return false;
    if (g->hnsw && g->version == version && g->unsaved == 0)
        return true;
    if (!set_target(g, c, version, e))
        return false;
    auto_free int8_t *bytes = mem_alloc(int8_stride(g->dimension));
    for (; step > 0 && g->pending.items.len > 0; step--)
        if (!add_next(g, c, bytes, e))
            return false;
    bool done = g->pending.items.len == 0;
    bool lasts =
        sqlite3_txn_state(c->store->db, NULL) != SQLITE_TXN_WRITE; /* else it may be undone */
    g->unsaved += done && lasts && g->version != version;          /* that it is of this one */
    g->version = done && lasts ? version : NO_VERSION;
    return true;
}

/* Forgotten vectors must leave the file without delay. */
static bool step_locked(struct vectors *v, const struct corpus *c, int step, int64_t *left,
                        struct error *e)
{
    struct vector_graph *g = &v->graph;
    bool began, done = true;
    read_file(v);
    if (!store_step_begin(c->store, &began, e))
        return false;
    bool ok = store_step_end(c->store, began, catch_up(g, c, step, e), e);
    bool whole = g->pending.items.len == 0 && g->unsaved > 0;
    if (ok && g->hnsw && (whole || g->overdue || g->unsaved >= SAVE_EVERY))
        ok = save(v, c, &done, e);
    if (!began)
        g->target = NO_VERSION;
    *left = !ok ? 0 : done ? (int64_t)g->pending.items.len : (int64_t)g->pending.items.len + 1;
    if (*left == 0)
        graph_file_unlock(&g->lock);
    return ok;
}

/* False, with *ok, when there is nothing to do for a graph. */
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
    auto_free char *path = path_of(v);
    graph_file_remove(path);
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
    auto_free char *path = path_of(v);
    graph_file_remove_aside(path); /* it may have been renamed just now */
    return ok;
}

static bool purge_all(struct vectors *v, const struct corpus *c, struct error *e)
{
    struct text_list names = {0}, files = {0};
    bool ok = graph_names_read(c, &names, e);
    graph_files_list(v->directory, v->tables, &files);
    for (size_t i = 0; ok && i < files.items.len; i++) {
        const char *name = files.items.items[i], *behind = "";
        const char *model = graph_file_model(v->tables, &names, name, &behind);
        auto_free char *path = paths_join(v->directory, name);
        if (model && !*behind)
            ok = purge_model(v, c, model, e);
        else
            unlink(path);
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
    auto_free char *directory = mem_strndup(c->store->path, (size_t)(slash - c->store->path));
    struct vectors *own = vectors_new(c->tables, directory, 0);
    bool ok = purge_all(own, c, e);
    vectors_free(own);
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

void vector_graph_search(struct vector_graph *g, struct vector_search *s)
{
    size_t ask = s->limit + (g->gone < s->limit ? g->gone : s->limit);
    auto_free struct hnsw_hit *hits = mem_alloc(ask * sizeof *hits + 1);
    auto_free int8_t *bytes = mem_alloc(int8_stride(g->dimension)); /* the question */
    float scale = int8_quantise(s->query->values, g->dimension, bytes);
    size_t count = hnsw_search(g->hnsw, bytes, scale, ask, hits);
    for (size_t i = 0; i < count; i++) {
        const struct vector_id *id = &g->of.items.items[hits[i].element];
        if (id->key >= 0)
            nearest_add(&s->near, s->limit,
                        &(struct nearest){.key = id->key, .cosine = hits[i].cosine});
    }
}

void vector_graph_measure(const struct vector_graph *g, struct vector_search *s)
{
    auto_free int8_t *bytes = mem_alloc(int8_stride(g->dimension)); /* the question */
    float scale = int8_quantise(s->query->values, g->dimension, bytes);
    const struct vector_id *ids = g->of.items.items;
    struct nearness all = {0};
    size_t step = g->of.items.len / SAMPLE + 1;
    for (size_t i = 0; i < g->of.items.len; i += step) {
        struct nearest one = {.key = ids[i].key};
        if (one.key < 0)
            continue;
        one.cosine = hnsw_cosine(g->hnsw, (uint32_t)i, bytes, scale);
        /* Elements mostly come by key: the entry before is mostly the element before. */
        if (i > 0 && ids[i - 1].key == ids[i].key - 1 &&
            rank_key_session(ids[i - 1].key) == rank_key_session(ids[i].key))
            one.before =
                (float)s->field->previous * hnsw_cosine(g->hnsw, (uint32_t)(i - 1), bytes, scale);
        nearness_add(&all, &one);
    }
    nearness_tell(&all, s->field);
}
