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
