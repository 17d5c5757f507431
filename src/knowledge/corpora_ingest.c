/* What an ingest is made of: the loaders and paths that are configured, and the files there are. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "knowledge/corpora_private.h"
#include "knowledge/document.h"
#include "knowledge/ingest_private.h"

/* --- what is configured ----------------------------------------------------------------------- */

/* Of one that is set again the last counts, as of all keys. */
static void take_loader(void *context, const char *section, const char *name, const char *value,
                        const char *source, int line)
{
    static const char prefix[] = "loader.";
    struct ingest *in = context;
    (void)source, (void)line;
    if (strcmp(section, "corpus") != 0 || strncmp(name, prefix, sizeof prefix - 1) != 0)
        return;
    const char *extension = name + sizeof prefix - 1;
    size_t i = 0;
    while (i < in->commands.len && strcasecmp(in->commands.items[i].extension, extension) != 0)
        i++;
    if (i == in->commands.len)
        vec_push(&in->commands, (struct document_command){0});
    in->commands.items[i] = (struct document_command){.extension = extension, .command = value};
}

void ingest_read_loaders(struct ingest *in)
{
    config_visit(in->corpora->config, "corpus", take_loader, in);
    size_t kept = 0;
    for (size_t i = 0; i < in->commands.len; i++)
        if (*in->commands.items[i].command)
            in->commands.items[kept++] = in->commands.items[i];
    in->commands.len = kept;
}

static char *expanded(const char *path, size_t len)
{
    const char *home =
        len > 0 && path[0] == '~' && (len == 1 || path[1] == '/') ? environment_get("HOME") : NULL;
    return home ? mem_printf("%s%.*s", home, (int)len - 1, path + 1) : mem_strndup(path, len);
}

/* "NAME.paths" of the corpus. */
static void take_paths(void *context, const char *section, const char *name, const char *value,
                       const char *source, int line)
{
    struct ingest *in = context;
    size_t len = strlen(in->name);
    (void)source, (void)line;
    if (strcmp(section, "corpus") == 0 && strncmp(name, in->name, len) == 0 &&
        strcmp(name + len, ".paths") == 0)
        in->configured = value;
}

/* "PATH:PATH". */
void ingest_add_paths(struct ingest *in)
{
    config_visit(in->corpora->config, "corpus", take_paths, in);
    for (const char *at = in->configured; at && *at;) {
        size_t path = strcspn(at, ":");
        if (path > 0)
            vec_push(&in->roots, expanded(at, path));
        at += path + (at[path] == ':');
    }
}

static void take_name(void *context, const char *section, const char *name, const char *value,
                      const char *source, int line)
{
    static const char suffix[] = ".paths";
    struct text_list *out = context;
    size_t len = strlen(name), end = sizeof suffix - 1;
    (void)source, (void)line;
    if (strcmp(section, "corpus") != 0 || len <= end || strcmp(name + len - end, suffix) != 0 ||
        !*value)
        return;
    char *corpus = mem_strndup(name, len - end);
    for (size_t i = 0; i < out->items.len; i++)
        if (strcmp(out->items.items[i], corpus) == 0) {
            free(corpus);
            return;
        }
    vec_push(&out->items, corpus);
}

void corpora_configured(const struct config *config, struct text_list *out)
{
    *out = (struct text_list){0};
    config_visit(config, "corpus", take_name, out);
}

struct document_options ingest_options(const struct ingest *in, const struct wakeup *wakeup)
{
    return (struct document_options){.limits = document_limits,
                                     .commands = in->commands.items,
                                     .command_count = in->commands.len,
                                     .wakeup = wakeup};
}

/* --- the files there are ---------------------------------------------------------------------- */

static int64_t nanoseconds(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static void add_found(struct ingest *in, const struct walk_file *file)
{
    vec_push(&in->files, (struct found){.path = mem_strdup(file->path),
                                        .size = file->stat.st_size,
                                        .modified_ns = nanoseconds(&file->stat.st_mtim),
                                        .changed_ns = nanoseconds(&file->stat.st_ctim),
                                        .named = strcmp(file->path, walk_root(in->walk)) == 0});
    in->progress.files++;
}

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order != 0 ? order : y->named - x->named;
}

static void end_scan(struct ingest *in)
{
    size_t kept = 0;
    vec_sort(&in->files, compare_found);
    for (size_t i = 0; i < in->files.len; i++) {
        if (kept > 0 && strcmp(in->files.items[kept - 1].path, in->files.items[i].path) == 0)
            free(in->files.items[i].path);
        else
            in->files.items[kept++] = in->files.items[i];
    }
    in->files.len = kept;
    in->progress.files = (int64_t)kept;
    in->phase = PHASE_LOAD;
}

static bool open_root(struct ingest *in, struct error *e)
{
    struct error cause;
    in->walk = walk_new(in->roots.items[in->root], &cause);
    return in->walk ||
           err_set(e, cause.code, "%.170s; nothing of it is taken out (tiro corpus remove does)",
                   cause.text);
}

bool ingest_is_stopped(const struct wakeup *wakeup)
{
    return wakeup && !wakeup->go_on(wakeup->context);
}

bool ingest_scan_some(struct ingest *in, const struct wakeup *wakeup, struct error *e)
{
    for (int i = 0; i < INGEST_FILES && !ingest_is_stopped(wakeup); i++) {
        struct walk_file file;
        bool found = false;
        if (in->root == in->roots.len) {
            end_scan(in);
            return true;
        }
        if ((!in->walk && !open_root(in, e)) || !walk_next(in->walk, &file, &found, e))
            return false;
        if (found) {
            add_found(in, &file);
            continue;
        }
        walk_free(in->walk);
        in->walk = NULL;
        in->root++;
    }
    return true;
}

/* Each file of an ingest is looked at, read and written. What is unchanged by size and times is
 * passed over, what is by its bytes, too. */

enum { BATCH_BYTES = 512 * 1024 /* of text in a transaction; a larger document has several */ };

/* --- what is known of a file ------------------------------------------------------------------ */

struct known {
    bool there, failed;
    int64_t number, size, modified_ns, changed_ns, digest;
    char *loader;
};

static bool look_up(struct ingest *in, const char *file, struct known *out, struct error *e)
{
    struct query q =
        query_begin(in->corpora->store,
                    "SELECT number, size, modified_ns, changed_ns, digest, loader,"
                    " state = 'failed' FROM corpus_document WHERE corpus = ? AND file = ?"
                    " AND state IN ('ready', 'failed') ORDER BY number DESC LIMIT 1",
                    e);
    *out = (struct known){0};
    query_int(&q, in->corpus);
    query_text(&q, file);
    if (query_next(&q))
        *out = (struct known){.there = true,
                              .number = sqlite3_column_int64(q.handle, 0),
                              .size = sqlite3_column_int64(q.handle, 1),
                              .modified_ns = sqlite3_column_int64(q.handle, 2),
                              .changed_ns = sqlite3_column_int64(q.handle, 3),
                              .digest = sqlite3_column_int64(q.handle, 4),
                              .loader = query_column_text(&q, 5),
                              .failed = sqlite3_column_int(q.handle, 6) != 0};
    return query_end(&q);
}

/* A command that was changed reads its files again. The caller frees. */
static char *loader_of(const struct ingest *in, const char *format)
{
    for (size_t i = 0; i < in->commands.len; i++)
        if (strcmp(in->commands.items[i].extension, format) == 0)
            return mem_printf(DOCUMENT_RULES " %s", in->commands.items[i].command);
    return mem_printf(DOCUMENT_RULES " %s", format);
}

/* By its times; what failed is tried again. */
static bool is_untouched(const struct known *k, const struct found *f, const char *loader)
{
    return k->there && !k->failed && k->size == f->size && k->modified_ns == f->modified_ns &&
           k->changed_ns == f->changed_ns && strcmp(k->loader, loader) == 0;
}

/* FNV-1a: it tells versions of one file apart, no more. 0: it cannot be
 * read, or is larger than a loader reads. */
static int64_t digest_of(const struct found *f)
{
    uint64_t hash = 0xcbf29ce484222325u;
    unsigned char bytes[65536];
    ssize_t n = 1;
    int fd = f->size <= document_limits.bytes
                 ? open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                 : -1;
    if (fd < 0)
        return 0;
    for (int64_t left = f->size; n > 0; left -= n) { /* it may grow, and never end */
        do
            n = read(fd, bytes, left < (int64_t)sizeof bytes ? (size_t)left : sizeof bytes);
        while (n < 0 && errno == EINTR);
        for (ssize_t i = 0; i < n; i++)
            hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    close(fd);
    return n < 0 ? 0 : (int64_t)(hash | 1);
}

static bool note_times(struct ingest *in, const struct known *k, const struct found *f,
                       struct error *e)
{
    struct query q = query_begin(in->corpora->store,
                                 "UPDATE corpus_document SET modified_ns = ?2, changed_ns = ?3"
                                 " WHERE number = ?1",
                                 e);
    query_int(&q, k->number);
    query_int(&q, f->modified_ns);
    query_int(&q, f->changed_ns);
    return query_run(&q);
}

/* --- reading one ------------------------------------------------------------------------------ */

void prepared_release(struct prepared *p)
{
    chunks_release(&p->chunks);
    free(p->failure);
    free(p->loader);
    *p = (struct prepared){0};
}

static void make_chunks(struct prepared *p, const struct loaded_document *d)
{
    chunks_make(&p->chunks, d, CHUNK_CHARACTERS);
    for (size_t i = 0; i < p->chunks.items.len; i++)
        p->bytes += p->chunks.items.items[i].len;
    if (p->chunks.items.len == 0)
        p->failure = mem_strdup("it has no text");
    else if (p->chunks.is_cut_off || p->chunks.items.len >= (size_t)1 << RANK_PLACE_BITS)
        p->failure = mem_strdup("it is too large");
}

/* False: the wakeup said stop. *wanted false: it is nothing to be searched. */
static bool load_file(struct ingest *in, const struct found *f, const struct wakeup *wakeup,
                      struct prepared *p, bool *wanted)
{
    struct document_options options = ingest_options(in, wakeup);
    struct loaded_document d;
    struct error why = {0};
    enum document_outcome outcome = document_load_file(&d, f->path, &options, &why);
    *wanted = outcome == DOCUMENT_LOADED || outcome == DOCUMENT_FAILED ||
              (outcome == DOCUMENT_SKIPPED && f->named);
    if (outcome == DOCUMENT_LOADED) {
        p->chunks.wakeup = wakeup;
        make_chunks(p, &d);
        loaded_document_release(&d);
    } else if (*wanted) {
        p->failure = mem_strdup(why.text);
    }
    return outcome != DOCUMENT_STOPPED && !p->chunks.is_stopped;
}

static void add_batch(struct ingest *in, struct prepared *p)
{
    in->batch_bytes += p->bytes;
    vec_push(&in->batch, *p);
}

static bool skip(struct ingest *in, const struct known *k, const struct found *f, struct error *e)
{
    in->progress.removed += k->there;
    return !k->there || write_gone(in->corpora->store, in->corpus, f->path, e);
}

/* A file that is another one than before. *stopped: it is to be looked at again. */
static bool take_file(struct ingest *in, const struct found *f, const struct known *k, char *loader,
                      int64_t digest, const struct wakeup *wakeup, bool *stopped, struct error *e)
{
    struct prepared p = {.loader = mem_strdup(loader), .is_new = !k->there};
    bool wanted;
    p.row = (struct document_row){.corpus = in->corpus,
                                  .file = f->path,
                                  .size = f->size,
                                  .modified_ns = f->modified_ns,
                                  .changed_ns = f->changed_ns,
                                  .digest = digest,
                                  .loader = p.loader};
    *stopped = !load_file(in, f, wakeup, &p, &wanted);
    if (!*stopped && wanted) {
        in->progress.bytes += f->size;
        add_batch(in, &p);
        return true;
    }
    prepared_release(&p);
    return *stopped || skip(in, k, f, e);
}

static bool compare_and_take(struct ingest *in, const struct found *f, const struct known *k,
                             char *loader, const struct wakeup *wakeup, bool *stopped,
                             struct error *e)
{
    int64_t digest = digest_of(f);
    if (!k->there || k->failed || digest == 0 || digest != k->digest ||
        strcmp(k->loader, loader) != 0)
        return take_file(in, f, k, loader, digest, wakeup, stopped, e);
    in->progress.unchanged++;
    return note_times(in, k, f, e);
}

static bool look_at(struct ingest *in, const struct found *f, const struct wakeup *wakeup,
                    bool *stopped, struct error *e)
{
    const struct document_options options = ingest_options(in, wakeup);
    const char *format = document_format_of(f->path, &options);
    struct known k;
    bool ok = look_up(in, f->path, &k, e);
    *stopped = false;
    if (ok && !format && !f->named) {
        ok = skip(in, &k, f, e);
    } else if (ok) {
        char *loader = loader_of(in, format ? format : "");
        if (is_untouched(&k, f, loader))
            in->progress.unchanged++;
        else
            ok = compare_and_take(in, f, &k, loader, wakeup, stopped, e);
        free(loader);
    }
    free(k.loader);
    return ok;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void count_written(struct ingest *in, const struct prepared *p)
{
    if (p->failure)
        in->progress.failed++;
    else if (p->is_new)
        in->progress.added++;
    else
        in->progress.changed++;
    in->progress.passages += (int64_t)p->chunks.items.len;
}

/* The chunks become the writing's. */
static bool begin_writing(struct ingest *in, struct prepared *p, struct writing *out,
                          struct error *e)
{
    if (!writing_begin(in->corpora, &p->row, out, e))
        return false;
    out->chunks = p->chunks;
    return true;
}

static bool write_small(struct ingest *in, struct prepared *p, struct error *e)
{
    struct writing w;
    bool more = true;
    if (p->failure)
        return write_failure(in->corpora, &p->row, p->failure, e);
    if (!begin_writing(in, p, &w, e))
        return false;
    while (more && writing_step(&w, &more, e)) {
    }
    return !more && w.next == w.chunks.items.len;
}

static bool write_all(struct ingest *in, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < in->batch.len; i++)
        ok = write_small(in, &in->batch.items[i], e);
    return ok;
}

static void drop_batch(struct ingest *in, bool written)
{
    for (size_t i = 0; i < in->batch.len; i++) {
        if (written)
            count_written(in, &in->batch.items[i]);
        prepared_release(&in->batch.items[i]);
    }
    vec_clear(&in->batch);
    in->batch_bytes = 0;
}

/* A large one is the last of a batch, as it ends that. */
static void set_large_apart(struct ingest *in)
{
    struct prepared *last = in->batch.len > 0 ? &vec_last(&in->batch) : NULL;
    if (last && !last->failure && last->bytes > BATCH_BYTES) {
        in->large = *last;
        in->large.row.loader = in->large.loader;
        in->batch.len--;
    }
}

static bool flush(struct ingest *in, struct error *e)
{
    bool began;
    set_large_apart(in);
    if (in->batch.len > 0) {
        bool ok = store_step_begin(in->corpora->store, &began, e);
        if (ok)
            ok = store_step_end(in->corpora->store, began, write_all(in, e), e);
        drop_batch(in, ok);
        if (!ok)
            return false;
    }
    in->batch_bytes = 0;
    if (!in->large.loader)
        return true;
    in->is_writing = begin_writing(in, &in->large, &in->writing, e);
    return in->is_writing;
}

bool ingest_write_large(struct ingest *in, struct error *e)
{
    bool more;
    if (!writing_step(&in->writing, &more, e))
        return false;
    if (!more) {
        count_written(in, &in->large);
        in->is_writing = false;
        in->writing = (struct writing){0};
        prepared_release(&in->large);
    }
    return true;
}

bool ingest_load_some(struct ingest *in, const struct wakeup *wakeup, struct error *e)
{
    bool stopped = false;
    int files = 0;
    while (in->next < in->files.len && in->batch_bytes < BATCH_BYTES && files++ < INGEST_FILES) {
        if (!look_at(in, &in->files.items[in->next], wakeup, &stopped, e))
            return false;
        if (stopped)
            break;
        in->next++;
        in->progress.done++;
        if (ingest_is_stopped(wakeup))
            break;
    }
    if (!flush(in, e))
        return false;
    if (in->next == in->files.len && !in->is_writing)
        in->phase = PHASE_SWEEP;
    return true;
}

/* --- what is asked before --------------------------------------------------------------------- */

bool ingest_count_new(struct ingest *in, int64_t *files, int64_t *bytes, struct error *e)
{
    const struct document_options options = ingest_options(in, NULL);
    for (size_t i = 0; i < in->files.len; i++) {
        const struct found *f = &in->files.items[i];
        const char *format = document_format_of(f->path, &options);
        struct known k;
        if (!format)
            continue;
        if (!look_up(in, f->path, &k, e))
            return false;
        char *loader = loader_of(in, format);
        bool is_new = !is_untouched(&k, f, loader);
        *files += is_new;
        *bytes += is_new ? f->size : 0;
        free(loader);
        free(k.loader);
    }
    return true;
}

/* Files into a corpus: all are looked for, each is looked at, and what is gone is taken out. */

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

/* A text that is given, not read from a file. */

static bool check_given(const struct corpus_ingest *t, struct error *e)
{
    size_t len = strlen(t->text), name = strlen(t->filename);
    if (name == 0 || name > CORPUS_FILE_BYTES)
        return err_set(e, ERR_USAGE, "\"filename\" is empty or longer than %d bytes",
                       CORPUS_FILE_BYTES);
    return len <= CORPUS_TEXT_BYTES ||
           err_set(e, ERR_USAGE, "\"text\" is larger than %d bytes; give it in parts",
                   CORPUS_TEXT_BYTES);
}

static bool load_given(const struct corpus_ingest *t, const struct wakeup *wakeup,
                       struct chunks *out, struct error *e)
{
    const struct document_options options = {.limits = document_limits, .wakeup = wakeup};
    struct loaded_document d;
    struct error why = {0};
    switch (document_load_text(&d, t->filename, t->text, strlen(t->text), &options, &why)) {
    case DOCUMENT_LOADED:
        chunks_make(out, &d, CHUNK_CHARACTERS);
        loaded_document_release(&d);
        return out->items.len > 0 ||
               err_set(e, ERR_USAGE, "\"text\" has nothing that could be found");
    case DOCUMENT_STOPPED:
        return err_set(e, ERR_INTERRUPTED, "stopped; nothing was kept");
    default:
        return err_set(e, ERR_USAGE, "\"text\": %.200s", why.text);
    }
}

static bool write_given(struct corpora *c, const struct corpus_ingest *t, struct writing *w,
                        struct error *e)
{
    struct document_row row = {.file = t->filename,
                               .given = true,
                               .size = (int64_t)strlen(t->text),
                               .loader = DOCUMENT_RULES};
    struct chunks chunks = w->chunks;
    bool more = true;
    bool ok = corpora_make(c->store, t->corpus, &row.corpus, e) && writing_begin(c, &row, w, e);
    w->chunks = chunks;
    if (!ok)
        return false;
    while (more)
        if (!writing_step(w, &more, e))
            return false;
    return true;
}

bool corpora_ingest_text(struct corpora *c, const struct corpus_ingest *text,
                         const struct wakeup *wakeup, struct corpus_ingested *out, struct error *e)
{
    struct writing w = {0};
    *out = (struct corpus_ingested){0};
    bool ok = check_given(text, e) && load_given(text, wakeup, &w.chunks, e) &&
              write_given(c, text, &w, e);
    if (ok)
        *out = (struct corpus_ingested){w.row.number, (int64_t)w.chunks.items.len};
    writing_release(&w);
    return ok;
}
