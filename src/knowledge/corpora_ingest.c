/* Files into a corpus: all are looked for, each is looked at, and what is gone is taken out. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "knowledge/ingest_private.h"

/* --- beginning -------------------------------------------------------------------------------- */

static bool put_path(struct store *s, int64_t corpus, const char *path, struct error *e)
{
    struct query q = query_begin(s, "INSERT OR IGNORE INTO corpus_path VALUES (?, ?)", e);
    query_int(&q, corpus);
    query_text(&q, path);
    return query_run(&q);
}

/* As they are resolved, each of which can be read. */
static bool resolve(const char *const *paths, size_t count, struct text_list *out, struct error *e)
{
    for (size_t i = 0; i < count; i++) {
        struct walk *w = walk_new(paths[i], e);
        if (!w)
            return false;
        vec_push(&out->items, mem_strdup(walk_root(w)));
        walk_free(w);
    }
    return true;
}

static bool read_roots(struct ingest *in, struct error *e)
{
    struct text_list paths = {0};
    struct query q = query_begin(in->corpora->store,
                                 "SELECT path FROM corpus_path WHERE corpus = ? ORDER BY path", e);
    query_int(&q, in->corpus);
    bool ok = query_texts(&q, &paths);
    for (size_t i = 0; ok && i < paths.items.len; i++)
        vec_push(&in->roots, paths.items.items[i]);
    vec_release(&paths.items);
    return ok;
}

/* Before the paths are read: who adds some meanwhile asks for another one. */
static bool read_asked(struct ingest *in, struct error *e)
{
    struct query q =
        query_begin(in->corpora->store, "SELECT asked FROM corpus_set WHERE number = ?", e);
    query_int(&q, in->corpus);
    return query_number(&q, &in->asked);
}

static bool ask(struct ingest *in, struct error *e)
{
    struct query q = query_begin(in->corpora->store,
                                 "UPDATE corpus_set SET asked = asked + 1 WHERE number = ?", e);
    query_int(&q, in->corpus);
    in->asked++;
    return query_run(&q);
}

static bool find_roots(struct ingest *in, const char *const *paths, size_t count, struct error *e)
{
    if (!corpus_name_valid(in->name))
        return corpora_refuse_name(in->name, e);
    if (!resolve(paths, count, &in->added, e) ||
        !corpora_number(in->corpora->store, in->name, &in->corpus, e) || !read_asked(in, e) ||
        !read_roots(in, e))
        return false;
    ingest_add_paths(in);
    for (size_t i = 0; i < in->added.items.len; i++)
        vec_push(&in->roots, mem_strdup(in->added.items.items[i]));
    if (in->roots.len == 0)
        return err_set(e, ERR_USAGE,
                       "the corpus %.64s has no files or folders of its own; name some to add",
                       in->name);
    return in->roots.len <= CORPUS_PATHS ||
           err_set(e, ERR_USAGE, "a corpus is made of at most %d files and folders", CORPUS_PATHS);
}

bool ingest_begin(struct corpora *c, const char *name, const char *const *paths, size_t count,
                  struct ingest **out, struct error *e)
{
    struct ingest *in = mem_alloc(sizeof *in);
    *in = (struct ingest){.corpora = c, .name = mem_strdup(name), .corpus = -1};
    ingest_read_loaders(in);
    bool ok = find_roots(in, paths, count, e);
    *out = ok ? in : NULL;
    if (!ok)
        ingest_free(in);
    return ok;
}

static bool note_start(struct ingest *in, struct error *e)
{
    bool ok = corpora_make(in->corpora->store, in->name, &in->corpus, e);
    for (size_t i = 0; ok && i < in->added.items.len; i++)
        ok = put_path(in->corpora->store, in->corpus, in->added.items.items[i], e);
    return ok && ask(in, e);
}

bool ingest_start(struct ingest *in, struct error *e)
{
    bool began;
    in->started = store_enter(in->corpora->store, &began, e) &&
                  store_leave(in->corpora->store, began, note_start(in, e), e);
    return in->started;
}

bool ingest_resume(struct corpora *c, struct ingest **out, struct error *e)
{
    char *name = NULL;
    struct query q = query_begin(
        c->store, "SELECT name FROM corpus_set WHERE ended < asked ORDER BY number LIMIT 1", e);
    *out = NULL;
    if (query_next(&q))
        name = query_column_text(&q, 0);
    bool ok = query_end(&q) && (!name || ingest_begin(c, name, NULL, 0, out, e));
    if (*out)
        (*out)->started = true;
    if (name && !ok && e->code != ERR_SESSION_STORE_ERROR) {
        struct query u =
            query_for(c->store, "UPDATE corpus_set SET ended = asked WHERE name = ?", name, NULL);
        (void)!query_run(&u);
    }
    free(name);
    return ok;
}

void ingest_free(struct ingest *in)
{
    if (!in)
        return;
    for (size_t i = 0; i < in->files.len; i++)
        free(in->files.items[i].path);
    for (size_t i = 0; i < in->batch.len; i++)
        prepared_release(&in->batch.items[i]);
    vec_release(&in->files);
    vec_release(&in->batch);
    prepared_release(&in->large); /* its chunks are the writing's, too */
    vec_free_each(&in->added.items);
    vec_free_each(&in->roots);
    vec_release(&in->commands);
    walk_free(in->walk);
    free(in->name);
    free(in);
}

void ingest_progress(const struct ingest *in, struct corpus_progress *out)
{
    *out = in->progress;
    out->corpus = mem_strdup(in->name);
    out->finished = in->phase == PHASE_DONE;
}

/* --- what is gone ----------------------------------------------------------------------------- */

static bool is_found(const struct ingest *in, const char *path)
{
    const struct found key = {.path = (char *)path, .named = true};
    size_t from = 0, end = in->files.len;
    while (from < end) {
        size_t middle = from + (end - from) / 2;
        int order = strcmp(in->files.items[middle].path, key.path);
        if (order == 0)
            return true;
        if (order < 0)
            from = middle + 1;
        else
            end = middle;
    }
    return false;
}

static bool sweep(struct ingest *in, struct error *e)
{
    struct text_list files = {0};
    struct query q = query_begin(in->corpora->store,
                                 "SELECT file FROM corpus_document WHERE corpus = ?"
                                 " AND state IN ('ready', 'failed') AND NOT given",
                                 e);
    query_int(&q, in->corpus);
    bool ok = query_texts(&q, &files);
    for (size_t i = 0; ok && i < files.items.len; i++) {
        if (is_found(in, files.items.items[i]))
            continue;
        ok = write_gone(in->corpora->store, in->corpus, files.items.items[i], e);
        in->progress.removed += ok;
    }
    vec_free_each(&files.items);
    return ok;
}

static bool note_end(struct ingest *in, struct error *e)
{
    struct query q = query_begin(in->corpora->store,
                                 "UPDATE corpus_set SET ended = max(ended, ?2), updated_ms = ?3"
                                 " WHERE number = ?1",
                                 e);
    query_int(&q, in->corpus);
    query_int(&q, in->asked);
    query_int(&q, clock_wall_ms());
    return query_run(&q);
}

/* Whether its paths are still those of the corpus: else what it did not look for may be there. */
static bool is_newest(struct ingest *in, bool *out, struct error *e)
{
    struct query q = query_begin(in->corpora->store,
                                 "SELECT 1 FROM corpus_set WHERE number = ? AND asked = ?", e);
    query_int(&q, in->corpus);
    query_int(&q, in->asked);
    return query_any(&q, out);
}

static bool sweep_and_note(struct ingest *in, struct error *e)
{
    bool newest;
    return is_newest(in, &newest, e) && (!newest || sweep(in, e)) && note_end(in, e);
}

static bool end_ingest(struct ingest *in, struct error *e)
{
    bool began;
    if (!store_enter(in->corpora->store, &began, e) ||
        !store_leave(in->corpora->store, began, sweep_and_note(in, e), e))
        return false;
    in->phase = PHASE_DONE;
    return true;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* What only a person can help against is not tried again by itself. */
static void give_up(struct ingest *in)
{
    (void)!note_end(in, &(struct error){0});
}

bool ingest_is_amid(const struct ingest *in)
{
    return in->is_writing;
}

bool ingest_step(struct ingest *in, const struct wakeup *wakeup, bool *more, struct error *e)
{
    bool ok = in->started || ingest_start(in, e);
    if (ok && in->phase == PHASE_SCAN)
        ok = ingest_scan_some(in, wakeup, e);
    else if (ok && in->phase == PHASE_LOAD)
        ok = in->is_writing ? ingest_write_large(in, e) : ingest_load_some(in, wakeup, e);
    else if (ok && in->phase == PHASE_SWEEP)
        ok = end_ingest(in, e);
    if (!ok && e->code != ERR_SESSION_STORE_ERROR)
        give_up(in);
    *more = ok && in->phase != PHASE_DONE;
    return ok;
}

/* --- what is asked before --------------------------------------------------------------------- */

bool ingest_asks(struct ingest *in, const struct wakeup *wakeup, bool *out, struct error *e)
{
    const struct config *config = in->corpora->config;
    const struct embedder *embedder =
        embedder_find(config_string(config, CONFIG_EMBEDDING_PROVIDER));
    int64_t files = 0, bytes = 0;
    *out = false;
    if (!corpora_wants_vectors(in->corpora) || !embedder->has_network)
        return true;
    while (in->phase == PHASE_SCAN) {
        if (ingest_is_stopped(wakeup))
            return err_set(e, ERR_INTERRUPTED, "the files are not all found yet; try again");
        if (!ingest_scan_some(in, wakeup, e))
            return false;
    }
    if (!ingest_count_new(in, &files, &bytes, e))
        return false;
    *out = files > INGEST_ASK_FILES || bytes > INGEST_ASK_BYTES;
    return true;
}
