#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "knowledge/corpora_private.h"

static const char sets_sql[] =
    "SELECT number, name, ended < asked, updated_ms FROM corpus_set WHERE ?1 IS NULL OR name = ?1"
    " ORDER BY name";
static const char counts_sql[] =
    "SELECT count(*) FILTER (WHERE state = 'ready'), count(*) FILTER (WHERE state = 'failed'),"
    " ifnull(sum(chunks) FILTER (WHERE state = 'ready'), 0),"
    " ifnull(sum(bytes) FILTER (WHERE state = 'ready'), 0) FROM corpus_document";
static const char of_corpus_sql[] =
    "SELECT count(*) FILTER (WHERE state = 'ready'), count(*) FILTER (WHERE state = 'failed'),"
    " ifnull(sum(chunks) FILTER (WHERE state = 'ready'), 0),"
    " ifnull(sum(bytes) FILTER (WHERE state = 'ready'), 0) FROM corpus_document WHERE corpus = ?";
static const char documents_sql[] =
    "SELECT number, file, error, chunks, bytes, ingested_ms, given FROM corpus_document"
    " WHERE corpus = ?1 AND state = ?2 AND (?3 IS NULL OR file > ?3) ORDER BY file LIMIT ?4";
static const char passages_sql[] =
    "SELECT key & 0xffffff, start, finish, line, page_number, heading, content FROM corpus_entry"
    " WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3";
static const char document_sql[] =
    "SELECT corpus_set.name, file, chunks FROM corpus_document"
    " JOIN corpus_set ON corpus_set.number = corpus"
    " WHERE corpus_document.number = ? AND state = 'ready'";
/* Inputs of a session that may name a corpus. instr() keeps long texts from the JSON functions,
 * which hold copies of them. */
static const char spoken_sql[] =
    "SELECT json_extract(payload, '$.prompt') FROM event"
    " WHERE session = (SELECT key FROM session WHERE id = ?)"
    " AND type = 'run_started' AND iif(instr(lower(payload), '@corpus:'), json_valid(payload), 0)"
    " ORDER BY seq";

/* --- corpora ---------------------------------------------------------------------------------- */

struct numbers {
    VEC(int64_t) items;
};

static bool read_sets(struct store *s, const char *name, struct corpus_list *out,
                      struct numbers *numbers, struct error *e)
{
    struct query q = query_begin(s, sets_sql, e);
    query_text(&q, name);
    while (query_next(&q)) {
        vec_push(&numbers->items, sqlite3_column_int64(q.handle, 0));
        vec_push(&out->items,
                 (struct corpus_info){.name = query_column_text(&q, 1),
                                      .pending = sqlite3_column_int(q.handle, 2) != 0,
                                      .updated_ms = sqlite3_column_int64(q.handle, 3)});
    }
    return query_end(&q);
}

static bool read_counts(struct store *s, int64_t corpus, struct corpus_info *out, struct error *e)
{
    struct query q = query_begin(s, of_corpus_sql, e);
    query_int(&q, corpus);
    if (query_next(&q)) {
        out->documents = sqlite3_column_int64(q.handle, 0);
        out->failed = sqlite3_column_int64(q.handle, 1);
        out->passages = sqlite3_column_int64(q.handle, 2);
        out->bytes = sqlite3_column_int64(q.handle, 3);
    }
    return query_end(&q);
}

static bool read_paths(struct store *s, int64_t corpus, struct corpus_info *out, struct error *e)
{
    struct text_list paths = {0};
    struct query q =
        query_begin(s, "SELECT path FROM corpus_path WHERE corpus = ? ORDER BY path", e);
    query_int(&q, corpus);
    bool ok = query_texts(&q, &paths);
    for (size_t i = 0; i < paths.items.len; i++)
        vec_push(&out->paths, paths.items.items[i]);
    vec_release(&paths.items);
    return ok;
}

static bool read_list(struct store *s, const char *name, struct corpus_list *out, struct error *e)
{
    struct numbers numbers = {0};
    bool ok = read_sets(s, name, out, &numbers, e);
    for (size_t i = 0; ok && i < numbers.items.len; i++)
        ok = read_counts(s, numbers.items.items[i], &out->items.items[i], e) &&
             read_paths(s, numbers.items.items[i], &out->items.items[i], e);
    vec_release(&numbers.items);
    return ok;
}

static bool list(struct corpora *c, const char *name, struct corpus_list *out, struct error *e)
{
    bool began;
    *out = (struct corpus_list){0};
    if (store_step_begin(c->store, &began, e) &&
        store_step_end(c->store, began, read_list(c->store, name, out, e), e))
        return true;
    shape_release(&corpus_list_shape, out);
    return false;
}

bool corpora_list(struct corpora *c, struct corpus_list *out, struct error *e)
{
    return list(c, NULL, out, e);
}

bool corpora_info(struct corpora *c, const char *name, struct corpus_info *out, struct error *e)
{
    struct corpus_list found;
    int64_t number;
    *out = (struct corpus_info){0};
    if (!corpora_need(c->store, name, &number, e) || !list(c, name, &found, e))
        return false;
    if (found.items.len > 0) {
        *out = found.items.items[0];
        found.items.len = 0;
    }
    shape_release(&corpus_list_shape, &found);
    return out->name || corpora_need(c->store, name, &number, e);
}

/* --- documents and passages ------------------------------------------------------------------- */

static bool count_documents(struct store *s, int64_t corpus, const char *state, int64_t *out,
                            struct error *e)
{
    struct query q =
        query_begin(s, "SELECT count(*) FROM corpus_document WHERE corpus = ? AND state = ?", e);
    query_int(&q, corpus);
    query_text(&q, state);
    *out = 0;
    return query_number(&q, out);
}

static int page_of(int limit)
{
    return limit > 0 && limit < CORPUS_PAGE ? limit : CORPUS_PAGE;
}

static bool read_documents(struct store *s, const struct corpus_documents_query *query,
                           struct corpus_documents *out, struct error *e)
{
    const char *state = query->failed ? "failed" : "ready";
    int64_t corpus;
    if (!corpora_need(s, query->name, &corpus, e))
        return false;
    struct query q = query_begin(s, documents_sql, e);
    query_int(&q, corpus);
    query_text(&q, state);
    query_text(&q, query->after);
    query_int(&q, page_of(query->limit));
    while (query_next(&q))
        vec_push(&out->items,
                 (struct corpus_document){.id = sqlite3_column_int64(q.handle, 0),
                                          .corpus = mem_strdup(query->name),
                                          .file = query_column_text(&q, 1),
                                          .state = query->failed ? CORPUS_DOCUMENT_FAILED
                                                                 : CORPUS_DOCUMENT_READY,
                                          .error = query_column_text(&q, 2),
                                          .passages = sqlite3_column_int64(q.handle, 3),
                                          .bytes = sqlite3_column_int64(q.handle, 4),
                                          .ingested_ms = sqlite3_column_int64(q.handle, 5),
                                          .given = sqlite3_column_int(q.handle, 6) != 0});
    return query_end(&q) && count_documents(s, corpus, state, &out->total, e);
}

bool corpora_documents(struct corpora *c, const struct corpus_documents_query *query,
                       struct corpus_documents *out, struct error *e)
{
    bool began;
    *out = (struct corpus_documents){0};
    if (store_step_begin(c->store, &began, e) &&
        store_step_end(c->store, began, read_documents(c->store, query, out, e), e))
        return true;
    shape_release(&corpus_documents_shape, out);
    return false;
}

struct document_name {
    char *corpus, *file;
    int64_t chunks;
};

static bool find_document(struct store *s, int64_t number, struct document_name *out,
                          struct error *e)
{
    struct query q = query_begin(s, document_sql, e);
    *out = (struct document_name){0};
    query_int(&q, number);
    if (query_next(&q))
        *out = (struct document_name){query_column_text(&q, 0), query_column_text(&q, 1),
                                      sqlite3_column_int64(q.handle, 2)};
    return query_end(&q) &&
           (out->file || err_set(e, ERR_MEMORY_NOT_FOUND,
                                 "there is no document %lld in a corpus; it was changed or removed",
                                 (long long)number));
}

static void push_passage(const struct query *q, int64_t document, const struct document_name *name,
                         struct corpus_passages *out)
{
    vec_push(&out->items, (struct corpus_passage){.document = document,
                                                  .chunk = sqlite3_column_int64(q->handle, 0),
                                                  .corpus = mem_strdup(name->corpus),
                                                  .file = mem_strdup(name->file),
                                                  .start = sqlite3_column_int64(q->handle, 1),
                                                  .finish = sqlite3_column_int64(q->handle, 2),
                                                  .line = sqlite3_column_int64(q->handle, 3),
                                                  .page = sqlite3_column_int64(q->handle, 4),
                                                  .heading = corpora_column(q, 5),
                                                  .content = query_column_text(q, 6),
                                                  .vector = -1});
}

static bool read_passages(struct store *s, const struct corpus_passages_query *query,
                          struct corpus_passages *out, struct error *e)
{
    struct document_name name;
    bool ok = find_document(s, query->document, &name, e);
    if (ok) {
        struct query q = query_begin(s, passages_sql, e);
        query_int(&q, rank_key(query->document, query->from > 0 ? query->from : 0));
        query_int(&q, rank_key(query->document + 1, 0));
        query_int(&q, page_of(query->limit));
        while (query_next(&q))
            push_passage(&q, query->document, &name, out);
        ok = query_end(&q);
        out->total = name.chunks;
    }
    free(name.corpus);
    free(name.file);
    return ok;
}

bool corpora_passages(struct corpora *c, const struct corpus_passages_query *query,
                      struct corpus_passages *out, struct error *e)
{
    bool began;
    *out = (struct corpus_passages){0};
    if (store_step_begin(c->store, &began, e) &&
        store_step_end(c->store, began, read_passages(c->store, query, out, e), e))
        return true;
    shape_release(&corpus_passages_shape, out);
    return false;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static bool read_stats(struct corpora *c, const char *model, struct corpus_stats *out,
                       struct error *e)
{
    const struct corpus index = corpora_index(c->store);
    struct vectors_counts have;
    struct query q = query_begin(c->store, counts_sql, e);
    if (query_next(&q)) {
        out->documents = sqlite3_column_int64(q.handle, 0);
        out->failed = sqlite3_column_int64(q.handle, 1);
        out->passages = sqlite3_column_int64(q.handle, 2);
        out->bytes = sqlite3_column_int64(q.handle, 3);
    }
    if (!query_end(&q) ||
        !store_number(c->store, "SELECT count(*) FROM corpus_set", &out->corpora, e) ||
        !corpus_bytes(&index, &out->index, e) || !vectors_count(&index, model, &have, e))
        return false;
    out->embedded = have.embedded;
    out->missing = have.missing;
    return true;
}

bool corpora_stats(struct corpora *c, struct corpus_stats *out, struct error *e)
{
    bool began;
    bool vectors = corpora_wants_vectors(c) && encoder_read(&c->encoder, NULL);
    *out = (struct corpus_stats){.model = vectors ? mem_strdup(c->encoder.model) : NULL};
    if (store_step_begin(c->store, &began, e) &&
        store_step_end(c->store, began, read_stats(c, out->model, out, e), e))
        return true;
    shape_release(&corpus_stats_shape, out);
    return false;
}

bool corpora_pending(struct corpora *c, bool *out, struct error *e)
{
    struct query q =
        query_begin(c->store, "SELECT 1 FROM corpus_set WHERE ended < asked LIMIT 1", e);
    return query_any(&q, out);
}

/* --- what a session names --------------------------------------------------------------------- */

static void add_named(const char *text, struct text_list *out)
{
    for (char *name; (name = corpus_next_mention(&text));) {
        bool known = false;
        for (size_t i = 0; i < out->items.len && !known; i++)
            known = strcmp(out->items.items[i], name) == 0;
        if (known)
            free(name);
        else
            vec_push(&out->items, name);
    }
}

static void keep_known(struct corpora *c, struct text_list *names)
{
    size_t kept = 0;
    for (size_t i = 0; i < names->items.len; i++) {
        int64_t number;
        if (corpora_number(c->store, names->items.items[i], &number, NULL) && number >= 0)
            names->items.items[kept++] = names->items.items[i];
        else
            free(names->items.items[i]);
    }
    names->items.len = kept;
}

bool corpora_named(struct corpora *c, const char *session_id, struct text_list *out,
                   struct error *e)
{
    struct text_list spoken = {0};
    *out = (struct text_list){0};
    struct query q = query_for(c->store, spoken_sql, session_id, e);
    bool ok = query_texts(&q, &spoken);
    for (size_t i = 0; i < spoken.items.len; i++)
        add_named(spoken.items.items[i], out);
    vec_free_each(&spoken.items);
    keep_known(c, out);
    return ok;
}
