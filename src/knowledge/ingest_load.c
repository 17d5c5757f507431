/* Each file of an ingest is looked at, read and written. What is unchanged by size and times is
 * passed over, what is by its bytes, too. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "knowledge/ingest_private.h"

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
