/* Taking out: marked at once, and gone in steps. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "knowledge/corpora_private.h"

/* ABANDONED_MS: each step of a document that is put in notes the time, and takes far less. */
enum { STEP_CHUNKS = 300, ABANDONED_MS = 120000 };

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
    query_int(&q, STEP_CHUNKS);
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
    bool last = doomed.items.len < STEP_CHUNKS;
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
static bool step(struct corpora *c, bool *more, struct error *e)
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
           store_step_end(c->store, began, step(c, more, e), e);
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
