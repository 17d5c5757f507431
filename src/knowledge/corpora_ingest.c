/* Texts and files into a corpus. Files are found, read and written in steps; at the end documents
 * whose files are gone are marked as gone. A file whose size and times are unchanged is not read,
 * one whose bytes are unchanged is not written. */
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
#include "knowledge/walk.h"

enum {
    STEP_FILES = 2000,       /* that a step looks at */
    BATCH_BYTES = 512 * 1024 /* of text in a transaction; a larger document has several */
};

/* Documents that were made by other rules are read again. */
#define DOCUMENT_RULES "1"

struct found {
    char *path;
    int64_t size, modified_ns, changed_ns;
    bool named; /* by a person, not found in a folder */
};

/* A file that was read and is to be written. */
struct prepared {
    struct document_row row; /* its texts are the found file's and `loader` */
    char *loader;
    struct chunks chunks;
    size_t bytes;
    char *failure; /* NULL: it has chunks */
    bool is_new;
};

struct ingest {
    struct corpora *corpora;
    char *name;
    int64_t corpus;
    int64_t asked; /* corpus_set.asked when the paths were read */
    enum { PHASE_SCAN, PHASE_LOAD, PHASE_SWEEP, PHASE_DONE } phase;
    bool started;

    struct text_list added; /* new paths, resolved */
    const char *configured; /* paths of tiro.ini, owned by the configuration; NULL: none */
    VEC(char *) roots;
    size_t root;
    struct walk *walk;
    VEC(struct found) files; /* by path, each once, from the end of the scan on */
    size_t next;

    VEC(struct document_command) commands; /* of tiro.ini, borrowed */
    VEC(struct prepared) batch;
    size_t batch_bytes;
    struct writing writing; /* of a large document */
    struct prepared large;
    bool is_writing;

    struct corpus_progress progress; /* without the name */
};

static bool is_stopped(const struct wakeup *wakeup)
{
    return wakeup && !wakeup->go_on(wakeup->context);
}

/* --- a text that is no file ------------------------------------------------------------------- */

static bool load_text(const struct corpus_ingest *t, const struct wakeup *wakeup,
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

bool corpora_ingest_text(struct corpora *c, const struct corpus_ingest *text,
                         const struct wakeup *wakeup, struct corpus_ingested *out, struct error *e)
{
    size_t len = strlen(text->text), name = strlen(text->filename);
    struct document_row row = {
        .file = text->filename, .given = true, .size = (int64_t)len, .loader = DOCUMENT_RULES};
    AUTO(chunks_release) struct chunks chunks = {.items = {0}};
    struct writing w;
    bool more = true;
    *out = (struct corpus_ingested){0};
    if (name == 0 || name > CORPUS_FILE_BYTES)
        return err_set(e, ERR_USAGE, "\"filename\" is empty or longer than %d bytes",
                       CORPUS_FILE_BYTES);
    if (len > CORPUS_TEXT_BYTES)
        return err_set(e, ERR_USAGE, "\"text\" is larger than %d bytes; give it in parts",
                       CORPUS_TEXT_BYTES);
    if (!load_text(text, wakeup, &chunks, e) ||
        !corpora_make(c->store, text->corpus, &row.corpus, e) ||
        !writing_begin(c, &row, &chunks, &w, e))
        return false;
    while (more)
        if (!writing_step(&w, &more, e))
            return false;
    *out = (struct corpus_ingested){w.row.number, (int64_t)chunks.items.len};
    return true;
}

/* --- the configuration ------------------------------------------------------------------------ */

/* "loader.EXTENSION" and "NAME.paths". A key that is set again replaces the earlier value. */
static void take_key(void *context, const char *section, const char *name, const char *value,
                     const char *source, int line)
{
    static const char loader[] = "loader.";
    struct ingest *in = context;
    size_t len = strlen(in->name), i = 0;
    (void)source, (void)line;
    if (strcmp(section, "corpus") != 0)
        return;
    if (strncmp(name, in->name, len) == 0 && strcmp(name + len, ".paths") == 0)
        in->configured = value;
    if (strncmp(name, loader, sizeof loader - 1) != 0)
        return;
    const char *extension = name + sizeof loader - 1;
    while (i < in->commands.len && strcasecmp(in->commands.items[i].extension, extension) != 0)
        i++;
    if (i == in->commands.len)
        vec_push(&in->commands, (struct document_command){0});
    in->commands.items[i] = (struct document_command){.extension = extension, .command = value};
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
    for (size_t i = 0; i < out->items.len; i++)
        if (strncmp(out->items.items[i], name, len - end) == 0 &&
            out->items.items[i][len - end] == '\0')
            return;
    vec_push(&out->items, mem_strndup(name, len - end));
}

void corpora_configured(const struct config *config, struct text_list *out)
{
    *out = (struct text_list){0};
    config_visit(config, "corpus", take_name, out);
}

static struct document_options options_of(const struct ingest *in, const struct wakeup *wakeup)
{
    return (struct document_options){.limits = document_limits,
                                     .commands = in->commands.items,
                                     .command_count = in->commands.len,
                                     .wakeup = wakeup};
}

/* --- beginning -------------------------------------------------------------------------------- */

static void prepared_release(struct prepared *p)
{
    chunks_release(&p->chunks);
    free(p->failure);
    free(p->loader);
    *p = (struct prepared){0};
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
    prepared_release(&in->large); /* owns the chunks of `writing` */
    vec_free_each(&in->added.items);
    vec_free_each(&in->roots);
    vec_release(&in->commands);
    walk_free(in->walk);
    free(in->name);
    free(in);
}

/* `asked` is read before the paths: whoever adds paths meanwhile asks for another ingest. */
static bool find_roots(struct ingest *in, const char *const *paths, size_t count, struct error *e)
{
    struct store *s = in->corpora->store;
    if (!corpus_name_valid(in->name))
        return corpora_refuse_name(in->name, e);
    for (size_t i = 0; i < count; i++) {
        struct walk *w = walk_new(paths[i], e);
        if (!w)
            return false;
        vec_push(&in->added.items, mem_strdup(walk_root(w)));
        walk_free(w);
    }
    if (!corpora_number(s, in->name, &in->corpus, e) ||
        !sql_number(s, &in->asked, e, "SELECT asked FROM corpus_set WHERE number = ?", "i",
                    in->corpus))
        return false;
    struct query q = sql_query(s, e, "SELECT path FROM corpus_path WHERE corpus = ? ORDER BY path",
                               "i", in->corpus);
    while (query_next(&q))
        vec_push(&in->roots, query_column_text(&q, 0));
    if (!query_end(&q))
        return false;
    for (const char *at = in->configured; at && *at;) { /* "PATH:PATH" */
        size_t len = strcspn(at, ":");
        bool in_home = *at == '~' && (len == 1 || at[1] == '/');
        const char *home = in_home ? environment_get("HOME") : NULL;
        if (len > 0)
            vec_push(&in->roots, home ? mem_printf("%s%.*s", home, (int)len - 1, at + 1)
                                      : mem_strndup(at, len));
        at += len + (at[len] == ':');
    }
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
    config_visit(c->config, "corpus", take_key, in);
    for (size_t i = in->commands.len; i-- > 0;)
        if (!*in->commands.items[i].command)
            vec_remove(&in->commands, i, 1);
    bool ok = find_roots(in, paths, count, e);
    *out = ok ? in : NULL;
    if (!ok)
        ingest_free(in);
    return ok;
}

bool ingest_start(struct ingest *in, struct error *e)
{
    struct store *s = in->corpora->store;
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    bool ok = corpora_make(s, in->name, &in->corpus, e);
    for (size_t i = 0; ok && i < in->added.items.len; i++)
        ok = sql_exec(s, e, "INSERT OR IGNORE INTO corpus_path VALUES (?, ?)", "it", in->corpus,
                      in->added.items.items[i]);
    ok = ok && sql_exec(s, e, "UPDATE corpus_set SET asked = asked + 1 WHERE number = ?", "i",
                        in->corpus);
    in->started = store_leave(s, began, ok, e);
    in->asked += in->started;
    return in->started;
}

bool ingest_resume(struct corpora *c, struct ingest **out, struct error *e)
{
    auto_free char *name = NULL;
    struct query q = sql_query(
        c->store, e, "SELECT name FROM corpus_set WHERE ended < asked ORDER BY number LIMIT 1", "");
    *out = NULL;
    if (query_next(&q))
        name = query_column_text(&q, 0);
    bool ok = query_end(&q) && (!name || ingest_begin(c, name, NULL, 0, out, e));
    if (*out)
        (*out)->started = true;
    if (name && !ok && e->code != ERR_SESSION_STORE_ERROR)
        (void)!sql_exec(c->store, NULL, "UPDATE corpus_set SET ended = asked WHERE name = ?", "t",
                        name);
    return ok;
}

void ingest_progress(const struct ingest *in, struct corpus_progress *out)
{
    *out = in->progress;
    out->corpus = mem_strdup(in->name);
    out->finished = in->phase == PHASE_DONE;
}

bool ingest_is_writing(const struct ingest *in)
{
    return in->is_writing;
}

/* --- finding files ---------------------------------------------------------------------------- */

static int64_t nanoseconds(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order != 0 ? order : y->named - x->named;
}

static bool scan_some(struct ingest *in, const struct wakeup *wakeup, struct error *e)
{
    for (int i = 0; i < STEP_FILES && !is_stopped(wakeup); i++) {
        struct walk_file file;
        struct error cause;
        bool found = false;
        if (in->root == in->roots.len) { /* each file is kept once */
            size_t kept = 0;
            vec_sort(&in->files, compare_found);
            for (size_t k = 0; k < in->files.len; k++) {
                struct found *f = &in->files.items[k];
                if (kept > 0 && strcmp(in->files.items[kept - 1].path, f->path) == 0)
                    free(f->path);
                else
                    in->files.items[kept++] = *f;
            }
            in->files.len = kept;
            in->progress.files = (int64_t)kept;
            in->phase = PHASE_LOAD;
            return true;
        }
        if (!in->walk)
            in->walk = walk_new(in->roots.items[in->root], &cause);
        if (!in->walk)
            return err_set(e, cause.code,
                           "%.170s; nothing of it is taken out ('tiro corpus remove' does)",
                           cause.text);
        if (!walk_next(in->walk, &file, &found, e))
            return false;
        if (found) {
            bool named = strcmp(file.path, walk_root(in->walk)) == 0;
            vec_push(&in->files, (struct found){.path = mem_strdup(file.path),
                                                .size = file.stat.st_size,
                                                .modified_ns = nanoseconds(&file.stat.st_mtim),
                                                .changed_ns = nanoseconds(&file.stat.st_ctim),
                                                .named = named});
            in->progress.files++;
            continue;
        }
        walk_free(in->walk);
        in->walk = NULL;
        in->root++;
    }
    return true;
}

/* --- reading a file --------------------------------------------------------------------------- */

/* The document that there is of a file. */
struct known {
    bool there, failed;
    int64_t number, size, modified_ns, changed_ns, digest;
    char *loader;
};

static void known_release(struct known *k)
{
    free(k->loader);
}

static bool look_up(struct ingest *in, const char *file, struct known *out, struct error *e)
{
    struct query q = sql_query(in->corpora->store, e,
                               "SELECT number, size, modified_ns, changed_ns, digest, loader,"
                               " state = 'failed' FROM corpus_document WHERE corpus = ? AND file ="
                               " ? AND state IN ('ready', 'failed') ORDER BY number DESC LIMIT 1",
                               "it", in->corpus, file);
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

/* Files of a command that was changed are read again. The caller frees. */
static char *loader_of(const struct ingest *in, const char *format)
{
    for (size_t i = 0; i < in->commands.len; i++)
        if (strcmp(in->commands.items[i].extension, format) == 0)
            return mem_printf(DOCUMENT_RULES " %s", in->commands.items[i].command);
    return mem_printf(DOCUMENT_RULES " %s", format);
}

/* A file that failed is tried again. */
static bool may_be_same(const struct known *k, const char *loader)
{
    return k->there && !k->failed && strcmp(k->loader, loader) == 0;
}

static bool is_untouched(const struct known *k, const struct found *f, const char *loader)
{
    return may_be_same(k, loader) && k->size == f->size && k->modified_ns == f->modified_ns &&
           k->changed_ns == f->changed_ns;
}

/* A hash, enough to tell versions of one file apart. 0: the file cannot be read, or is larger than
 * a loader reads. */
static int64_t digest_of(const struct found *f)
{
    uint64_t hash = MEM_HASH;
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
        hash = n > 0 ? mem_hash(hash, bytes, (size_t)n) : hash;
    }
    close(fd);
    return n < 0 ? 0 : (int64_t)(hash | 1);
}

/* False: the wakeup said stop. *wanted false: the file has nothing to search. */
static bool load_file(struct ingest *in, const struct found *f, const struct wakeup *wakeup,
                      struct prepared *p, bool *wanted)
{
    struct document_options options = options_of(in, wakeup);
    struct loaded_document d;
    struct error why = {0};
    enum document_outcome outcome = document_load_file(&d, f->path, &options, &why);
    *wanted = outcome == DOCUMENT_LOADED || outcome == DOCUMENT_FAILED ||
              (outcome == DOCUMENT_SKIPPED && f->named);
    if (outcome != DOCUMENT_LOADED) {
        p->failure = *wanted ? mem_strdup(why.text) : NULL;
        return outcome != DOCUMENT_STOPPED;
    }
    p->chunks.wakeup = wakeup;
    chunks_make(&p->chunks, &d, CHUNK_CHARACTERS);
    loaded_document_release(&d);
    for (size_t i = 0; i < p->chunks.items.len; i++)
        p->bytes += p->chunks.items.items[i].len;
    if (p->chunks.items.len == 0)
        p->failure = mem_strdup("it has no text");
    else if (p->chunks.is_cut_off || p->chunks.items.len >= (size_t)1 << RANK_PLACE_BITS)
        p->failure = mem_strdup("it is too large");
    return !p->chunks.is_stopped;
}

static bool skip(struct ingest *in, const struct known *k, const struct found *f, struct error *e)
{
    in->progress.removed += k->there;
    return !k->there || write_gone(in->corpora->store, in->corpus, f->path, e);
}

/* Adds a changed file to the batch. *stopped: it is to be looked at again. */
static bool take_file(struct ingest *in, const struct found *f, const struct known *k,
                      const char *loader, int64_t digest, const struct wakeup *wakeup,
                      bool *stopped, struct error *e)
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
    if (*stopped || !wanted) {
        prepared_release(&p);
        return *stopped || skip(in, k, f, e);
    }
    in->progress.bytes += f->size;
    in->batch_bytes += p.bytes;
    vec_push(&in->batch, p);
    return true;
}

static bool look_at(struct ingest *in, const struct found *f, const struct wakeup *wakeup,
                    bool *stopped, struct error *e)
{
    const struct document_options options = options_of(in, wakeup);
    const char *format = document_format_of(f->path, &options);
    AUTO(known_release) struct known k = {0};
    *stopped = false;
    if (!look_up(in, f->path, &k, e))
        return false;
    if (!format && !f->named)
        return skip(in, &k, f, e);
    auto_free char *loader = loader_of(in, format ? format : "");
    if (is_untouched(&k, f, loader)) {
        in->progress.unchanged++;
        return true;
    }
    int64_t digest = digest_of(f);
    if (!may_be_same(&k, loader) || digest == 0 || digest != k.digest)
        return take_file(in, f, &k, loader, digest, wakeup, stopped, e);
    in->progress.unchanged++;
    return sql_exec(in->corpora->store, e,
                    "UPDATE corpus_document SET modified_ns = ?2, changed_ns = ?3"
                    " WHERE number = ?1",
                    "iii", k.number, f->modified_ns, f->changed_ns);
}

/* --- writing files ---------------------------------------------------------------------------- */

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

/* A large document ends its batch and is written by itself. */
static bool flush(struct ingest *in, struct error *e)
{
    struct store *s = in->corpora->store;
    struct prepared *last = in->batch.len > 0 ? &vec_last(&in->batch) : NULL;
    bool began, ok = true;
    if (last && !last->failure && last->bytes > BATCH_BYTES) {
        in->large = *last;
        in->batch.len--;
    }
    if (in->batch.len > 0 && (ok = store_step_begin(s, &began, e))) {
        for (size_t i = 0; ok && i < in->batch.len; i++) {
            const struct prepared *p = &in->batch.items[i];
            struct writing w;
            bool more = !p->failure;
            ok = p->failure ? write_failure(in->corpora, &p->row, p->failure, e)
                            : writing_begin(in->corpora, &p->row, &p->chunks, &w, e);
            while (ok && more)
                ok = writing_step(&w, &more, e);
        }
        ok = store_step_end(s, began, ok, e);
    }
    for (size_t i = 0; i < in->batch.len; i++) {
        if (ok)
            count_written(in, &in->batch.items[i]);
        prepared_release(&in->batch.items[i]);
    }
    vec_clear(&in->batch);
    in->batch_bytes = 0;
    if (ok && in->large.loader)
        ok = in->is_writing =
            writing_begin(in->corpora, &in->large.row, &in->large.chunks, &in->writing, e);
    return ok;
}

static bool load_some(struct ingest *in, const struct wakeup *wakeup, struct error *e)
{
    bool stopped = false, more;
    int files = 0;
    if (in->is_writing) {
        if (!writing_step(&in->writing, &more, e))
            return false;
        if (more)
            return true;
        count_written(in, &in->large);
        in->is_writing = false;
        prepared_release(&in->large);
        return true;
    }
    while (in->next < in->files.len && in->batch_bytes < BATCH_BYTES && files++ < STEP_FILES) {
        if (!look_at(in, &in->files.items[in->next], wakeup, &stopped, e))
            return false;
        if (stopped)
            break;
        in->next++;
        in->progress.done++;
        if (is_stopped(wakeup))
            break;
    }
    if (!flush(in, e))
        return false;
    if (in->next == in->files.len && !in->is_writing)
        in->phase = PHASE_SWEEP;
    return true;
}

/* --- the end ---------------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct found *)a)->path, ((const struct found *)b)->path);
}

static bool note_end(struct ingest *in, struct error *e)
{
    return sql_exec(in->corpora->store, e,
                    "UPDATE corpus_set SET ended = max(ended, ?2), updated_ms = ?3"
                    " WHERE number = ?1",
                    "iii", in->corpus, in->asked, clock_wall_ms());
}

/* Marks documents whose files are gone, unless paths were added meanwhile: their files were not
 * looked for. */
static bool sweep(struct ingest *in, struct error *e)
{
    struct store *s = in->corpora->store;
    struct text_list files = {0};
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    struct query q = sql_query(s, e,
                               "SELECT file FROM corpus_document WHERE corpus = ?1"
                               " AND state IN ('ready', 'failed') AND NOT given AND EXISTS"
                               " (SELECT 1 FROM corpus_set WHERE number = ?1 AND asked = ?2)",
                               "ii", in->corpus, in->asked);
    bool ok = query_texts(&q, &files);
    for (size_t i = 0; ok && i < files.items.len; i++) {
        const struct found key = {.path = files.items.items[i]};
        if (in->files.len > 0 &&
            bsearch(&key, in->files.items, in->files.len, sizeof key, compare_paths))
            continue;
        ok = write_gone(s, in->corpus, files.items.items[i], e);
        in->progress.removed += ok;
    }
    vec_free_each(&files.items);
    if (!store_leave(s, began, ok && note_end(in, e), e))
        return false;
    in->phase = PHASE_DONE;
    return true;
}

/* A fault that only a person can mend is not tried again by itself. */
bool ingest_step(struct ingest *in, const struct wakeup *wakeup, bool *more, struct error *e)
{
    bool ok = in->started || ingest_start(in, e);
    if (ok && in->phase == PHASE_SCAN)
        ok = scan_some(in, wakeup, e);
    else if (ok && in->phase == PHASE_LOAD)
        ok = load_some(in, wakeup, e);
    else if (ok && in->phase == PHASE_SWEEP)
        ok = sweep(in, e);
    if (!ok && e->code != ERR_SESSION_STORE_ERROR)
        (void)!note_end(in, &(struct error){0});
    *more = ok && in->phase != PHASE_DONE;
    return ok;
}

/* --- consent ---------------------------------------------------------------------------------- */

bool ingest_asks(struct ingest *in, const struct wakeup *wakeup, bool *out, struct error *e)
{
    const struct document_options options = options_of(in, NULL);
    const struct embedder *embedder =
        embedder_find(config_string(in->corpora->config, CONFIG_EMBEDDING_PROVIDER));
    int64_t files = 0, bytes = 0;
    *out = false;
    if (!corpora_wants_vectors(in->corpora) || !embedder->has_network)
        return true;
    while (in->phase == PHASE_SCAN) {
        if (is_stopped(wakeup))
            return err_set(e, ERR_INTERRUPTED, "the files are not all found yet; try again");
        if (!scan_some(in, wakeup, e))
            return false;
    }
    for (size_t i = 0; i < in->files.len; i++) {
        const struct found *f = &in->files.items[i];
        const char *format = document_format_of(f->path, &options);
        AUTO(known_release) struct known k = {0};
        if (!format)
            continue;
        if (!look_up(in, f->path, &k, e))
            return false;
        auto_free char *loader = loader_of(in, format);
        bool is_new = !is_untouched(&k, f, loader);
        files += is_new;
        bytes += is_new ? f->size : 0;
    }
    *out = files > INGEST_ASK_FILES || bytes > INGEST_ASK_BYTES;
    return true;
}
