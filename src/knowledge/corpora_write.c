/* Documents are written and removed in steps. Only corpora_purge() reads a row of the state
 * `loading`: it removes what a killed program left, so each step notes the time. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "knowledge/corpora_private.h"

enum {
    STEP_CHUNKS = 1000, /* a step holds the database for about a tenth of a second */
    STEP_BYTES = 512 * 1024,
    PURGE_CHUNKS = 300,
    ABANDONED_MS = 120000 /* a step takes far less */
};

/* --- writing ---------------------------------------------------------------------------------- */

static bool mark_gone(struct store *s, int64_t corpus, const char *file, int64_t except,
                      struct error *e)
{
    return sql_exec(s, e,
                    "UPDATE corpus_document SET state = 'gone' WHERE corpus = ? AND file = ?"
                    " AND state IN ('ready', 'failed') AND number <> ?",
                    "iti", corpus, file, except);
}

bool write_gone(struct store *s, int64_t corpus, const char *file, struct error *e)
{
    return mark_gone(s, corpus, file, -1, e);
}

/* Gives the row its number. */
static bool insert_row(struct store *s, struct document_row *row, const char *state,
                       const char *why, struct error *e)
{
    row->number = 0;
    return sql_number(s, &row->number, e,
                      "UPDATE corpus_next SET document = document + 1 RETURNING document - 1",
                      "") &&
           (row->number > 0 || store_fault(s, SQLITE_CORRUPT, e)) &&
           sql_exec(s, e,
                    "INSERT INTO corpus_document (number, corpus, file, given, size, modified_ns,"
                    " changed_ns, digest, loader, state, error, chunks, bytes, ingested_ms)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)",
                    "iitiiiiittti", row->number, row->corpus, row->file, (int64_t)row->given,
                    row->size, row->modified_ns, row->changed_ns, row->digest, row->loader, state,
                    why, clock_wall_ms());
}

bool writing_begin(struct corpora *c, const struct document_row *row, const struct chunks *chunks,
                   struct writing *out, struct error *e)
{
    bool began;
    *out = (struct writing){.corpora = c, .row = *row};
    if (!store_step_begin(c->store, &began, e) ||
        !store_step_end(c->store, began, insert_row(c->store, &out->row, "loading", NULL, e), e))
        return false;
    out->chunks = *chunks;
    return true;
}

/* Half of a document must not come back after another process removed it. */
static bool put_some(struct writing *w, struct error *e)
{
    struct store *s = w->corpora->store;
    const struct corpus index = corpora_index(s);
    bool there;
    struct query q =
        sql_query(s, e,
                  "UPDATE corpus_document SET ingested_ms = ? WHERE number = ? AND state ="
                  " 'loading' AND corpus IN (SELECT number FROM corpus_set) RETURNING 1",
                  "ii", clock_wall_ms(), w->row.number);
    if (!query_any(&q, &there))
        return false;
    if (!there)
        return err_set(e, ERR_MEMORY_NOT_FOUND,
                       "the document was removed meanwhile; nothing of it is kept");
    size_t bytes = 0, end = w->next, count = w->chunks.items.len;
    while (end < count && end - w->next < STEP_CHUNKS && bytes < STEP_BYTES)
        bytes += w->chunks.items.items[end++].len;
    bool ok = words_prepare(&index, w->corpora->language, bytes, e);
    for (; ok && w->next < end; w->next++) {
        const struct chunk *chunk = &w->chunks.items.items[w->next];
        int64_t key = rank_key(w->row.number, (int64_t)w->next);
        auto_free char *words = corpora_words(w->row.file, chunk->heading, chunk->text);
        w->bytes += (int64_t)chunk->len;
        ok = sql_exec(s, e,
                      "INSERT INTO corpus_entry (key, start, finish, line, page_number, heading,"
                      " content) VALUES (?, ?, ?, ?, ?, ?, ?)",
                      "iiiiitt", key, chunk->byte_from, chunk->byte_to, chunk->line_from,
                      chunk->page, chunk->heading, chunk->text) &&
             words_add(&index, key, words, e);
    }
    if (!ok || w->next < count)
        return ok;
    return sql_exec(s, e,
                    "UPDATE corpus_document SET state = 'ready', chunks = ?2, bytes = ?3,"
                    " ingested_ms = ?4 WHERE number = ?1",
                    "iiii", w->row.number, (int64_t)count, w->bytes, clock_wall_ms()) &&
           mark_gone(s, w->row.corpus, w->row.file, w->row.number, e);
}

bool writing_step(struct writing *w, bool *more, struct error *e)
{
    bool began;
    *more = false;
    if (!store_step_begin(w->corpora->store, &began, e) ||
        !store_step_end(w->corpora->store, began, put_some(w, e), e))
        return false;
    *more = w->next < w->chunks.items.len;
    return true;
}

bool write_failure(struct corpora *c, const struct document_row *row, const char *why,
                   struct error *e)
{
    struct document_row copy = *row;
    bool began, there;
    if (!store_step_begin(c->store, &began, e))
        return false;
    struct query q =
        sql_query(c->store, e, "SELECT 1 FROM corpus_set WHERE number = ?", "i", row->corpus);
    bool ok = query_any(&q, &there) &&
              (there || err_set(e, ERR_MEMORY_NOT_FOUND, "the corpus was removed meanwhile")) &&
              insert_row(c->store, &copy, "failed", why, e) &&
              mark_gone(c->store, row->corpus, row->file, copy.number, e);
    return store_step_end(c->store, began, ok, e);
}

/* --- removing --------------------------------------------------------------------------------- */

/* `what->file`: a file, a folder with all below it, or a path that the corpus is made of. */
static bool mark_removed(struct store *s, const struct corpus_remove *what,
                         struct corpus_removed *out, struct error *e)
{
    int64_t corpus;
    if (!corpora_need(s, what->name, &corpus, e) ||
        !sql_number(s, &out->documents, e,
                    "SELECT count(*) FROM corpus_document WHERE corpus = ?1"
                    " AND state IN ('ready', 'failed') AND (?2 IS NULL OR file = ?2"
                    " OR substr(file, 1, length(?2) + 1) = ?2 || '/')",
                    "it", corpus, what->file))
        return false;
    if (!what->file)
        return sql_exec(s, e,
                        "UPDATE corpus_document SET state = 'gone' WHERE corpus = ?"
                        " AND state <> 'gone'",
                        "i", corpus) &&
               sql_exec(s, e, "DELETE FROM corpus_path WHERE corpus = ?", "i", corpus) &&
               sql_exec(s, e, "DELETE FROM corpus_set WHERE number = ?", "i", corpus);
    if (!sql_exec(s, e, "DELETE FROM corpus_path WHERE corpus = ? AND path = ?", "it", corpus,
                  what->file))
        return false;
    if (out->documents == 0 && sqlite3_changes(s->db) == 0)
        return err_set(e, ERR_MEMORY_NOT_FOUND,
                       "the corpus %.64s has no document %.120s; 'tiro corpus show' lists them",
                       what->name, what->file);
    return sql_exec(s, e,
                    "UPDATE corpus_document SET state = 'gone' WHERE corpus = ?1 AND state <>"
                    " 'gone' AND (file = ?2 OR substr(file, 1, length(?2) + 1) = ?2 || '/')",
                    "it", corpus, what->file);
}

bool corpora_remove(struct corpora *c, const struct corpus_remove *what, struct corpus_removed *out,
                    struct error *e)
{
    bool began;
    *out = (struct corpus_removed){0};
    if (store_enter(c->store, &began, e) &&
        store_leave(c->store, began, mark_removed(c->store, what, out, e), e))
        return true;
    *out = (struct corpus_removed){0};
    return false;
}

/* Removes some chunks of a document, or the document after the last of them. */
static bool remove_some(struct corpora *c, int64_t document, struct error *e)
{
    struct store *s = c->store;
    const struct corpus index = corpora_index(s);
    VEC(struct {
        int64_t key;
        char *words;
    })
    doomed = {0};
    struct query q = sql_query(
        s, e,
        "SELECT key, (SELECT file FROM corpus_document WHERE number = ?1), heading, content"
        " FROM corpus_entry WHERE key >= ?2 AND key < ?3 ORDER BY key LIMIT ?4",
        "iiii", document, rank_key(document, 0), rank_key(document + 1, 0), (int64_t)PURGE_CHUNKS);
    while (query_next(&q)) {
        const char *file = (const char *)sqlite3_column_text(q.handle, 1);
        vec_reserve(&doomed, doomed.len + 1);
        doomed.items[doomed.len].key = sqlite3_column_int64(q.handle, 0);
        doomed.items[doomed.len++].words =
            corpora_words(file ? file : "", (const char *)sqlite3_column_text(q.handle, 2),
                          (const char *)sqlite3_column_text(q.handle, 3));
    }
    bool ok = query_end(&q), last = doomed.len < PURGE_CHUNKS;
    for (size_t i = 0; i < doomed.len; i++) {
        int64_t key = doomed.items[i].key;
        ok = ok && words_remove(&index, key, doomed.items[i].words, e) &&
             vectors_remove(&index, key, e) &&
             sql_exec(s, e, "DELETE FROM corpus_entry WHERE key = ?", "i", key);
        free(doomed.items[i].words);
    }
    vec_release(&doomed);
    return ok && (!last ||
                  (sql_exec(s, e, "DELETE FROM corpus_document WHERE number = ?", "i", document) &&
                   words_purge(&index, true, e)));
}

/* The first statement of the transaction writes: one that had read first could not wait for another
 * writer. */
bool corpora_purge(struct corpora *c, bool *more, struct error *e)
{
    const struct corpus index = corpora_index(c->store);
    int64_t abandoned_ms = clock_wall_ms() - ABANDONED_MS, document = -1;
    bool began, due;
    *more = false;
    struct query q = sql_query(c->store, e,
                               "SELECT 1 FROM corpus_document WHERE state = 'gone'"
                               " UNION ALL SELECT 1 FROM corpus_document"
                               " WHERE state = 'loading' AND ingested_ms < ? LIMIT 1",
                               "i", abandoned_ms);
    if (!query_any(&q, &due))
        return false;
    if (!due)
        return words_purge_step(&index, c->vectors, more, e);
    if (!store_step_begin(c->store, &began, e))
        return false;
    bool ok = sql_exec(c->store, e,
                       "UPDATE corpus_document SET state = 'gone' WHERE state = 'loading'"
                       " AND ingested_ms < ?",
                       "i", abandoned_ms) &&
              store_number(c->store,
                           "SELECT number FROM corpus_document WHERE state = 'gone'"
                           " ORDER BY number LIMIT 1",
                           &document, e);
    *more = ok && document > 0;
    ok = ok && (!*more || remove_some(c, document, e));
    return store_step_end(c->store, began, ok, e);
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
