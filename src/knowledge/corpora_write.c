/* Documents in steps. A row of the state `loading` is looked at by nobody but corpora_purge(),
 * which takes away what a killed program left: each step notes the time. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "knowledge/corpora_private.h"

/* A step holds the database for about a tenth of a second. */
enum { STEP_CHUNKS = 1000, STEP_BYTES = 512 * 1024 };

static const char number_sql[] =
    "UPDATE corpus_next SET document = document + 1"
    " RETURNING document - 1";
static const char row_sql[] =
    "INSERT INTO corpus_document (number, corpus, file, given, size, modified_ns, changed_ns,"
    " digest, loader, state, error, chunks, bytes, ingested_ms)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)";
static const char chunk_sql[] =
    "INSERT INTO corpus_entry (key, start, finish, line, page_number, heading, content)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)";
static const char gone_sql[] =
    "UPDATE corpus_document SET state = 'gone' WHERE corpus = ?"
    " AND file = ? AND state IN ('ready', 'failed') AND number <> ?";
static const char ready_sql[] =
    "UPDATE corpus_document SET state = 'ready', chunks = ?2,"
    " bytes = ?3, ingested_ms = ?4 WHERE number = ?1";

static bool mark_gone(struct store *s, int64_t corpus, const char *file, int64_t but,
                      struct error *e)
{
    struct query q = query_begin(s, gone_sql, e);
    query_int(&q, corpus);
    query_text(&q, file);
    query_int(&q, but);
    return query_run(&q);
}

bool write_gone(struct store *s, int64_t corpus, const char *file, struct error *e)
{
    return mark_gone(s, corpus, file, -1, e);
}

static bool insert_row(struct store *s, const struct document_row *row, const char *state,
                       const char *why, struct error *e)
{
    struct query q = query_begin(s, row_sql, e);
    query_int(&q, row->number);
    query_int(&q, row->corpus);
    query_text(&q, row->file);
    query_int(&q, row->given);
    query_int(&q, row->size);
    query_int(&q, row->modified_ns);
    query_int(&q, row->changed_ns);
    query_int(&q, row->digest);
    query_text(&q, row->loader);
    query_text(&q, state);
    query_text(&q, why);
    query_int(&q, clock_wall_ms());
    return query_run(&q);
}

static bool new_number(struct store *s, int64_t *out, struct error *e)
{
    struct query q = query_begin(s, number_sql, e);
    *out = 0;
    return query_number(&q, out) && (*out > 0 || store_fault(s, SQLITE_CORRUPT, e));
}

/* --- a document ------------------------------------------------------------------------------- */

static bool begin(struct writing *w, struct error *e)
{
    return new_number(w->corpora->store, &w->row.number, e) &&
           insert_row(w->corpora->store, &w->row, "loading", NULL, e);
}

bool writing_begin(struct corpora *c, const struct document_row *row, struct writing *out,
                   struct error *e)
{
    bool began;
    *out = (struct writing){.corpora = c, .row = *row};
    return store_step_begin(c->store, &began, e) &&
           store_step_end(c->store, began, begin(out, e), e);
}

static bool put_chunk(struct writing *w, const struct corpus *index, size_t i, struct error *e)
{
    const struct chunk *chunk = &w->chunks.items.items[i];
    int64_t key = rank_key(w->row.number, (int64_t)i);
    struct query q = query_begin(w->corpora->store, chunk_sql, e);
    query_int(&q, key);
    query_int(&q, chunk->byte_from);
    query_int(&q, chunk->byte_to);
    query_int(&q, chunk->line_from);
    query_int(&q, chunk->page);
    query_text(&q, chunk->heading);
    query_text(&q, chunk->text);
    if (!query_run(&q))
        return false;
    char *words = corpora_words(w->row.file, chunk->heading, chunk->text);
    bool ok = words_add(index, key, words, e);
    free(words);
    w->bytes += (int64_t)chunk->len;
    return ok;
}

/* Where this step ends. */
static size_t step_end(const struct writing *w, size_t *bytes)
{
    size_t end = w->next;
    *bytes = 0;
    while (end < w->chunks.items.len && end - w->next < STEP_CHUNKS && *bytes < STEP_BYTES)
        *bytes += w->chunks.items.items[end++].len;
    return end;
}

static bool make_ready(struct writing *w, struct error *e)
{
    struct query q = query_begin(w->corpora->store, ready_sql, e);
    query_int(&q, w->row.number);
    query_int(&q, (int64_t)w->chunks.items.len);
    query_int(&q, w->bytes);
    query_int(&q, clock_wall_ms());
    return query_run(&q) &&
           mark_gone(w->corpora->store, w->row.corpus, w->row.file, w->row.number, e);
}

static bool put_some(struct writing *w, struct error *e)
{
    const struct corpus index = corpora_index(w->corpora->store);
    size_t bytes, end = step_end(w, &bytes);
    bool ok = words_prepare(&index, w->corpora->language, bytes, e);
    for (; ok && w->next < end; w->next++)
        ok = put_chunk(w, &index, w->next, e);
    return ok && (w->next < w->chunks.items.len || make_ready(w, e));
}

/* What another process took away meanwhile must not come back as half of it. */
static bool is_there(struct writing *w, struct error *e)
{
    struct query q = query_begin(w->corpora->store,
                                 "UPDATE corpus_document SET ingested_ms = ? WHERE number = ?"
                                 " AND state = 'loading' AND corpus IN"
                                 " (SELECT number FROM corpus_set) RETURNING 1",
                                 e);
    bool there;
    query_int(&q, clock_wall_ms());
    query_int(&q, w->row.number);
    return query_any(&q, &there) && (there || err_set(e, ERR_MEMORY_NOT_FOUND,
                                                      "the document was removed meanwhile; nothing "
                                                      "of it is kept"));
}

bool writing_step(struct writing *w, bool *more, struct error *e)
{
    bool began;
    *more = false;
    if (!store_step_begin(w->corpora->store, &began, e) ||
        !store_step_end(w->corpora->store, began, is_there(w, e) && put_some(w, e), e))
        return false;
    *more = w->next < w->chunks.items.len;
    return true;
}

void writing_release(struct writing *w)
{
    chunks_release(&w->chunks);
    *w = (struct writing){0};
}

/* --- a failure -------------------------------------------------------------------------------- */

static bool has_corpus(struct store *s, int64_t corpus, struct error *e)
{
    bool there;
    struct query q = query_begin(s, "SELECT 1 FROM corpus_set WHERE number = ?", e);
    query_int(&q, corpus);
    return query_any(&q, &there) &&
           (there || err_set(e, ERR_MEMORY_NOT_FOUND, "the corpus was removed meanwhile"));
}

static bool put_failure(struct store *s, struct document_row *row, const char *why, struct error *e)
{
    return new_number(s, &row->number, e) && has_corpus(s, row->corpus, e) &&
           insert_row(s, row, "failed", why, e) &&
           mark_gone(s, row->corpus, row->file, row->number, e);
}

bool write_failure(struct corpora *c, const struct document_row *row, const char *why,
                   struct error *e)
{
    struct document_row copy = *row;
    bool began;
    return store_step_begin(c->store, &began, e) &&
           store_step_end(c->store, began, put_failure(c->store, &copy, why, e), e);
}

/* Taking out: marked at once, and gone in steps. */

/* ABANDONED_MS: each purge_step of a document that is put in notes the time, and takes far less. */
enum { PURGE_CHUNKS = 300, ABANDONED_MS = 120000 };

static const char mark_corpus_sql[] =
    "UPDATE corpus_document SET state = 'gone' WHERE corpus = ? AND state <> 'gone'";
static const char mark_file_sql[] =
    "UPDATE corpus_document SET state = 'gone' WHERE corpus = ?1 AND state <> 'gone'"
    " AND (file = ?2 OR substr(file, 1, length(?2) + 1) = ?2 || '/')";
static const char count_sql[] =
    "SELECT count(*) FROM corpus_document WHERE corpus = ?1"
    " AND state IN ('ready', 'failed')"
    " AND (?2 IS NULL OR file = ?2"
    " OR substr(file, 1, length(?2) + 1) = ?2 || '/')";
static const char abandoned_sql[] =
    "UPDATE corpus_document SET state = 'gone' WHERE state = 'loading' AND ingested_ms < ?";
static const char next_gone_sql[] =
    "SELECT number FROM corpus_document WHERE state = 'gone' ORDER BY number LIMIT 1";
static const char chunks_sql[] =
    "SELECT key, heading, content FROM corpus_entry"
    " WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3";

static bool run_for(struct store *s, const char *sql, int64_t corpus, const char *file,
                    struct error *e)
{
    struct query q = query_begin(s, sql, e);
    query_int(&q, corpus);
    if (file)
        query_text(&q, file);
    return query_run(&q);
}

static bool count(struct store *s, int64_t corpus, const char *file, int64_t *out, struct error *e)
{
    struct query q = query_begin(s, count_sql, e);
    query_int(&q, corpus);
    query_text(&q, file);
    *out = 0;
    return query_number(&q, out);
}

static bool remove_corpus(struct store *s, int64_t corpus, struct error *e)
{
    return run_for(s, mark_corpus_sql, corpus, NULL, e) &&
           run_for(s, "DELETE FROM corpus_path WHERE corpus = ?", corpus, NULL, e) &&
           run_for(s, "DELETE FROM corpus_set WHERE number = ?", corpus, NULL, e);
}

/* A file, a folder with all below it, or a path that the corpus is made of. */
static bool remove_file(struct store *s, const char *name, int64_t corpus, const char *file,
                        int64_t documents, struct error *e)
{
    if (!run_for(s, "DELETE FROM corpus_path WHERE corpus = ? AND path = ?", corpus, file, e))
        return false;
    if (documents == 0 && sqlite3_changes(s->db) == 0)
        return err_set(e, ERR_MEMORY_NOT_FOUND,
                       "the corpus %.64s has no document %.120s; tiro corpus show lists them", name,
                       file);
    return run_for(s, mark_file_sql, corpus, file, e);
}

static bool take_out(struct store *s, const struct corpus_remove *what, struct corpus_removed *out,
                     struct error *e)
{
    int64_t corpus;
    return corpora_need(s, what->name, &corpus, e) &&
           count(s, corpus, what->file, &out->documents, e) &&
           (what->file ? remove_file(s, what->name, corpus, what->file, out->documents, e)
                       : remove_corpus(s, corpus, e));
}

bool corpora_remove(struct corpora *c, const struct corpus_remove *what, struct corpus_removed *out,
                    struct error *e)
{
    bool began;
    *out = (struct corpus_removed){0};
    if (store_enter(c->store, &began, e) &&
        store_leave(c->store, began, take_out(c->store, what, out, e), e))
        return true;
    *out = (struct corpus_removed){0};
    return false;
}

/* --- steps ------------------------------------------------------------------------------------ */

struct doomed {
    VEC(struct doomed_chunk {
        int64_t key;
        char *words;
    })
    items;
};

static bool read_doomed(struct store *s, int64_t document, struct doomed *out, struct error *e)
{
    char *file = NULL;
    struct query f = query_begin(s, "SELECT file FROM corpus_document WHERE number = ?", e);
    query_int(&f, document);
    if (query_next(&f))
        file = query_column_text(&f, 0);
    if (!query_end(&f))
        return false;
    struct query q = query_begin(s, chunks_sql, e);
    query_int(&q, rank_key(document, 0));
    query_int(&q, rank_key(document + 1, 0));
    query_int(&q, PURGE_CHUNKS);
    while (query_next(&q)) {
        char *words =
            corpora_words(file ? file : "", (const char *)sqlite3_column_text(q.handle, 1),
                          (const char *)sqlite3_column_text(q.handle, 2));
        vec_push(&out->items, (struct doomed_chunk){sqlite3_column_int64(q.handle, 0), words});
    }
    free(file);
    return query_end(&q);
}

static bool remove_chunk(const struct corpus *index, const struct doomed_chunk *d, struct error *e)
{
    return words_remove(index, d->key, d->words, e) && vectors_remove(index, d->key, e) &&
           run_for(index->store, "DELETE FROM corpus_entry WHERE key = ?", d->key, NULL, e);
}

/* Some of the chunks of a document, or, if it has none any more, itself. */
static bool remove_some(struct corpora *c, int64_t document, struct error *e)
{
    const struct corpus index = corpora_index(c->store);
    struct doomed doomed = {0};
    bool ok = read_doomed(c->store, document, &doomed, e);
    bool last = doomed.items.len < PURGE_CHUNKS;
    for (size_t i = 0; i < doomed.items.len; i++) {
        ok = ok && remove_chunk(&index, &doomed.items.items[i], e);
        free(doomed.items.items[i].words);
    }
    vec_release(&doomed.items);
    return ok && (!last || (run_for(c->store, "DELETE FROM corpus_document WHERE number = ?",
                                    document, NULL, e) &&
                            words_purge(&index, true, e)));
}

/* The first statement writes: one that had read first could not wait for another writer. */
static bool purge_step(struct corpora *c, bool *more, struct error *e)
{
    int64_t document = -1;
    if (!run_for(c->store, abandoned_sql, clock_wall_ms() - ABANDONED_MS, NULL, e) ||
        (!store_number(c->store, next_gone_sql, &document, e)))
        return false;
    *more = document > 0;
    return !*more || remove_some(c, document, e);
}

static bool has_work(struct corpora *c, bool *out, struct error *e)
{
    struct query q = query_begin(c->store,
                                 "SELECT 1 FROM corpus_document WHERE state = 'gone'"
                                 " UNION ALL SELECT 1 FROM corpus_document"
                                 " WHERE state = 'loading' AND ingested_ms < ? LIMIT 1",
                                 e);
    query_int(&q, clock_wall_ms() - ABANDONED_MS);
    return query_any(&q, out);
}

bool corpora_purge(struct corpora *c, bool *more, struct error *e)
{
    const struct corpus index = corpora_index(c->store);
    bool began, due;
    *more = false;
    if (!has_work(c, &due, e))
        return false;
    if (!due)
        return words_purge_step(&index, c->vectors, more, e);
    return store_step_begin(c->store, &began, e) &&
           store_step_end(c->store, began, purge_step(c, more, e), e);
}

bool corpora_tidy(struct corpora *c, bool *more, struct error *e)
{
    const struct corpus index = corpora_index(c->store);
    return words_tidy(&index, more, e);
}

bool corpora_reindex(struct corpora *c, struct error *e)
{
    const struct corpus index = corpora_index(c->store);
    return words_reindex(&index, c->language, NULL, NULL, e);
}
