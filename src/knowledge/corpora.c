#include "knowledge/corpora.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "knowledge/corpora_private.h"
#include "knowledge/document_loaders.h"
#include "store/event_log.h"
#include "store/health.h"
#include "store/salvage.h"

struct corpora *corpora_open(const struct config *config, struct store *s, const char *directory)
{
    struct corpora *c = mem_alloc(sizeof *c);
    *c = (struct corpora){.store = s,
                          .config = config,
                          .language = config_string(config, CONFIG_MEMORY_LANGUAGE),
                          .alone = true};
    c->vectors =
        vectors_new(CORPORA_TABLES, directory, config_integer(config, CONFIG_MEMORY_HNSW_FROM));
    encoder_init(&c->encoder, config);
    return c;
}

void corpora_close(struct corpora *c)
{
    if (!c)
        return;
    vectors_free(c->vectors);
    encoder_release(&c->encoder);
    free(c);
}

bool corpora_wants_vectors(const struct corpora *c)
{
    const char *ranking = config_string(c->config, CONFIG_CORPUS_RANKING);
    const struct embedder *embedder =
        embedder_find(config_string(c->config, CONFIG_EMBEDDING_PROVIDER));
    return embedder && strcmp(ranking, "words") != 0 &&
           (embedder->has_network || strcmp(ranking, "both") == 0);
}

/* --- the index of words ----------------------------------------------------------------------- */

enum { NAMES_COUNT = 4 }; /* times that a name counts which code defines, with its own place */

/* Only the last part of the path: files in a folder share the others. */
char *corpora_words(const char *file, const char *heading, const char *content)
{
    const char *slash = strrchr(file, '/');
    const struct code_language *language = code_language_of(file);
    AUTO(buf_release) struct buf names = BUF_INIT;
    struct buf out = BUF_INIT;
    if (language) {
        code_names_add(language, heading, &names);
        code_names_add(language, content, &names);
    }
    buf_addf(&out, "%s\n%s\n", slash ? slash + 1 : file, heading);
    for (int i = 1; i < NAMES_COUNT; i++)
        buf_add(&out, names.data, names.len);
    buf_addstr(&out, content);
    return buf_take(&out);
}

static bool read_document(struct store *s, int64_t from, struct document *out, bool *found,
                          struct error *e)
{
    *out = (struct document){0};
    struct query q = sql_query(s, e,
                               "SELECT key, (SELECT file FROM corpus_document WHERE number = key"
                               " >> 24), heading, content FROM corpus_entry WHERE key >= ?"
                               " ORDER BY key LIMIT 1",
                               "i", from);
    *found = query_next(&q);
    if (*found) {
        const char *file = (const char *)sqlite3_column_text(q.handle, 1);
        const char *heading = (const char *)sqlite3_column_text(q.handle, 2);
        const char *content = (const char *)sqlite3_column_text(q.handle, 3);
        out->key = sqlite3_column_int64(q.handle, 0);
        out->words = corpora_words(file ? file : "", heading, content);
        out->content = mem_printf("%s%s%s", heading, *heading ? "\n" : "", content);
    }
    return query_end(&q);
}

struct corpus corpora_index(struct store *s)
{
    return (struct corpus){.store = s, .tables = CORPORA_TABLES, .document = read_document};
}

bool corpora_files_read(struct store *s, struct text_list *models, struct error *e)
{
    const struct corpus index = corpora_index(s);
    return graph_names_read(&index, models, e);
}

enum graph_file_kind corpora_file_kind(const struct text_list *models, const char *name)
{
    return graph_file_kind(CORPORA_TABLES, models, name);
}

/* --- corpora ---------------------------------------------------------------------------------- */

bool corpora_number(struct store *s, const char *name, int64_t *number, struct error *e)
{
    *number = -1;
    return sql_number(s, number, e, "SELECT number FROM corpus_set WHERE name = ?", "t", name);
}

bool corpora_need(struct store *s, const char *name, int64_t *number, struct error *e)
{
    return corpora_number(s, name, number, e) &&
           (*number >= 0 ||
            err_set(e, ERR_MEMORY_NOT_FOUND,
                    "there is no corpus \"%.80s\"; 'tiro corpus list' shows their names", name));
}

bool corpora_refuse_name(const char *name, struct error *e)
{
    return err_set(e, ERR_USAGE,
                   "\"%.80s\" cannot be a corpus's name; use letters, digits, \".\", \"_\" "
                   "and \"-\", at most %d",
                   name, CORPUS_NAME_BYTES);
}

bool corpora_make(struct store *s, const char *name, int64_t *number, struct error *e)
{
    if (!corpus_name_valid(name))
        return corpora_refuse_name(name, e);
    if (!corpora_number(s, name, number, e))
        return false;
    if (*number >= 0)
        return true;
    bool ok = sql_exec(s, e,
                       "INSERT INTO corpus_set (name, asked, ended, created_ms, updated_ms)"
                       " VALUES (?, 0, 0, ?, 0)",
                       "ti", name, clock_wall_ms());
    *number = sqlite3_last_insert_rowid(s->db);
    return ok;
}

/* --- reading ---------------------------------------------------------------------------------- */

#define COUNTS                                                                                     \
    "SELECT count(*) FILTER (WHERE state = 'ready'), count(*) FILTER (WHERE state = 'failed'),"    \
    " ifnull(sum(chunks) FILTER (WHERE state = 'ready'), 0),"                                      \
    " ifnull(sum(bytes) FILTER (WHERE state = 'ready'), 0) FROM corpus_document"

char *corpora_column(const struct query *q, int i)
{
    const char *text = (const char *)sqlite3_column_text(q->handle, i);
    return text && *text ? mem_strdup(text) : NULL;
}

/* Ends a transaction that only read. `out` is released if it failed. */
static bool leave(struct corpora *c, bool began, bool ok, const struct shape *shape, void *out,
                  struct error *e)
{
    ok = store_step_end(c->store, began, ok, e);
    if (!ok)
        shape_release(shape, out);
    return ok;
}

bool corpora_list(struct corpora *c, struct corpus_list *out, struct error *e)
{
    bool began, ok = store_step_begin(c->store, &began, e);
    *out = (struct corpus_list){0};
    if (!ok)
        return false;
    struct query q = sql_query(c->store, e,
                               "SELECT number, name, ended < asked, updated_ms FROM corpus_set"
                               " ORDER BY name",
                               "");
    while (ok && query_next(&q)) {
        int64_t number = sqlite3_column_int64(q.handle, 0);
        struct corpus_info info = {.name = query_column_text(&q, 1),
                                   .pending = sqlite3_column_int(q.handle, 2) != 0,
                                   .updated_ms = sqlite3_column_int64(q.handle, 3)};
        struct query counts = sql_query(c->store, e, COUNTS " WHERE corpus = ?", "i", number);
        if (query_next(&counts)) {
            info.documents = sqlite3_column_int64(counts.handle, 0);
            info.failed = sqlite3_column_int64(counts.handle, 1);
            info.passages = sqlite3_column_int64(counts.handle, 2);
            info.bytes = sqlite3_column_int64(counts.handle, 3);
        }
        ok = query_end(&counts);
        struct query paths =
            sql_query(c->store, e, "SELECT path FROM corpus_path WHERE corpus = ? ORDER BY path",
                      "i", number);
        while (query_next(&paths))
            vec_push(&info.paths, query_column_text(&paths, 0));
        ok = query_end(&paths) && ok;
        vec_push(&out->items, info);
    }
    return leave(c, began, query_end(&q) && ok, &corpus_list_shape, out, e);
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
    struct query q = sql_query(s, e,
                               "SELECT number, file, error, chunks, bytes, ingested_ms, given"
                               " FROM corpus_document WHERE corpus = ?1 AND state = ?2"
                               " AND (?3 IS NULL OR file > ?3) ORDER BY file LIMIT ?4",
                               "itti", corpus, state, query->after, (int64_t)page_of(query->limit));
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
    return query_end(&q) &&
           sql_number(s, &out->total, e,
                      "SELECT count(*) FROM corpus_document WHERE corpus = ? AND state = ?", "it",
                      corpus, state);
}

bool corpora_documents(struct corpora *c, const struct corpus_documents_query *query,
                       struct corpus_documents *out, struct error *e)
{
    bool began;
    *out = (struct corpus_documents){0};
    return store_step_begin(c->store, &began, e) &&
           leave(c, began, read_documents(c->store, query, out, e), &corpus_documents_shape, out,
                 e);
}

static bool read_passages(struct store *s, const struct corpus_passages_query *query,
                          struct corpus_passages *out, struct error *e)
{
    auto_free char *corpus = NULL, *file = NULL;
    struct query d = sql_query(s, e,
                               "SELECT corpus_set.name, file, chunks FROM corpus_document"
                               " JOIN corpus_set ON corpus_set.number = corpus"
                               " WHERE corpus_document.number = ? AND state = 'ready'",
                               "i", query->document);
    if (query_next(&d)) {
        corpus = query_column_text(&d, 0);
        file = query_column_text(&d, 1);
        out->total = sqlite3_column_int64(d.handle, 2);
    }
    if (!query_end(&d))
        return false;
    if (!file)
        return err_set(e, ERR_MEMORY_NOT_FOUND,
                       "there is no document %lld in a corpus; it was changed or removed",
                       (long long)query->document);
    struct query q =
        sql_query(s, e,
                  "SELECT key & 0xffffff, start, finish, line, page_number, heading, content"
                  " FROM corpus_entry WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3",
                  "iii", rank_key(query->document, query->from > 0 ? query->from : 0),
                  rank_key(query->document + 1, 0), (int64_t)page_of(query->limit));
    while (query_next(&q))
        vec_push(&out->items, (struct corpus_passage){.document = query->document,
                                                      .chunk = sqlite3_column_int64(q.handle, 0),
                                                      .corpus = mem_strdup(corpus),
                                                      .file = mem_strdup(file),
                                                      .start = sqlite3_column_int64(q.handle, 1),
                                                      .finish = sqlite3_column_int64(q.handle, 2),
                                                      .line = sqlite3_column_int64(q.handle, 3),
                                                      .page = sqlite3_column_int64(q.handle, 4),
                                                      .heading = corpora_column(&q, 5),
                                                      .content = query_column_text(&q, 6),
                                                      .vector = -1});
    return query_end(&q);
}

bool corpora_passages(struct corpora *c, const struct corpus_passages_query *query,
                      struct corpus_passages *out, struct error *e)
{
    bool began;
    *out = (struct corpus_passages){0};
    return store_step_begin(c->store, &began, e) &&
           leave(c, began, read_passages(c->store, query, out, e), &corpus_passages_shape, out, e);
}

bool corpora_stats(struct corpora *c, struct corpus_stats *out, struct error *e)
{
    const struct corpus index = corpora_index(c->store);
    struct vectors_counts have;
    bool began, vectors = corpora_wants_vectors(c) && encoder_read(&c->encoder, NULL);
    *out = (struct corpus_stats){.model = vectors ? mem_strdup(c->encoder.model) : NULL};
    bool ok = store_step_begin(c->store, &began, e);
    if (!ok) {
        shape_release(&corpus_stats_shape, out);
        return false;
    }
    struct query q = sql_query(c->store, e, COUNTS, "");
    if (query_next(&q)) {
        out->documents = sqlite3_column_int64(q.handle, 0);
        out->failed = sqlite3_column_int64(q.handle, 1);
        out->passages = sqlite3_column_int64(q.handle, 2);
        out->bytes = sqlite3_column_int64(q.handle, 3);
    }
    ok = query_end(&q) &&
         store_number(c->store, "SELECT count(*) FROM corpus_set", &out->corpora, e) &&
         corpus_bytes(&index, &out->index, e) && vectors_count(&index, out->model, &have, e);
    if (ok) {
        out->embedded = have.embedded;
        out->missing = have.missing;
    }
    return leave(c, began, ok, &corpus_stats_shape, out, e);
}

bool corpora_pending(struct corpora *c, bool *out, struct error *e)
{
    struct query q =
        sql_query(c->store, e, "SELECT 1 FROM corpus_set WHERE ended < asked LIMIT 1", "");
    return query_any(&q, out);
}

/* --- what a session names and cites ----------------------------------------------------------- */

bool corpora_named(struct corpora *c, const char *session_id, struct text_list *out,
                   struct error *e)
{
    /* instr() keeps long texts from the JSON functions, which hold copies of them. Without a corpus
     * the log, which may be long, is not read. */
    struct query q = sql_query(c->store, e,
                               "SELECT json_extract(payload, '$.prompt') FROM event"
                               " WHERE session = (SELECT key FROM session WHERE id = ?"
                               " AND EXISTS (SELECT 1 FROM corpus_set))"
                               " AND type = 'run_started' AND iif(instr(lower(payload),"
                               " '@corpus:'), json_valid(payload), 0) ORDER BY seq",
                               "t", session_id);
    *out = (struct text_list){0};
    while (query_next(&q)) {
        const char *text = (const char *)sqlite3_column_text(q.handle, 0);
        for (char *name; text && (name = corpus_next_mention(&text));) {
            int64_t number;
            bool wanted = true;
            for (size_t i = 0; i < out->items.len && wanted; i++)
                wanted = strcmp(out->items.items[i], name) != 0;
            if (wanted && corpora_number(c->store, name, &number, NULL) && number >= 0)
                vec_push(&out->items, name);
            else
                free(name);
        }
    }
    if (query_end(&q))
        return true;
    vec_free_each(&out->items);
    return false;
}

static void add_cited(const struct json *v, struct corpus_passages *out)
{
    int64_t number = json_get_int(v, "n", 0);
    const char *heading = json_get_string(v, "heading");
    if (json_type(v) != JSON_OBJECT || number <= 0 || number > INT32_MAX ||
        !json_get_string(v, "content") || !json_get_string(v, "file"))
        return;
    vec_push(&out->items,
             (struct corpus_passage){.number = (int)number,
                                     .document = json_get_int(v, "document", 0),
                                     .chunk = json_get_int(v, "chunk", 0),
                                     .corpus = mem_strdup("-"), /* the log does not say */
                                     .file = mem_strdup(json_get_string(v, "file")),
                                     .heading = heading && *heading ? mem_strdup(heading) : NULL,
                                     .content = mem_strdup(json_get_string(v, "content")),
                                     .line = json_get_int(v, "line", 0),
                                     .page = json_get_int(v, "page", 0),
                                     .score = json_get_number(v, "score", 0),
                                     .start = -1,
                                     .finish = -1,
                                     .vector = -1});
}

/* Passages stand in the log as results of rag_search. Their numbers begin anew with each message:
 * those of the newest message that has some are given. */
bool corpora_cited(struct corpora *c, const struct corpus_cited *query, struct corpus_passages *out,
                   struct error *e)
{
    enum { EVENTS = 3000 }; /* that are looked at, from the end on */
    struct event_list events = {0};
    bool more;
    *out = (struct corpus_passages){0};
    if (!event_log_tail(c->store, query->session_id, query->before, EVENTS, 0, &events, &more, e))
        return false;
    size_t from = events.items.len, end = events.items.len;
    while (from > 0 && out->items.len == 0) {
        if (events.items.items[--from]->type != EVENT_TURN_STARTED && from > 0)
            continue;
        for (size_t i = from; i < end; i++) {
            const struct event *ev = events.items.items[i];
            if (ev->type != EVENT_TOOL_EXECUTION_COMPLETED || ev->flag || !ev->name || !ev->text ||
                strcmp(ev->name, "rag_search") != 0)
                continue;
            struct json *list = json_parse_foreign(ev->text, strlen(ev->text), NULL);
            const struct json *v = json_type(list) == JSON_ARRAY ? json_first(list) : NULL;
            for (; v; v = json_next(v))
                add_cited(v, out);
            json_free(list);
        }
        end = from;
    }
    out->total = (int64_t)out->items.len;
    event_list_release(&events);
    return true;
}

/* --- health and recovery ---------------------------------------------------------------------- */

static const struct health_rule rules[] = {
    {"SELECT count(*) FROM corpus_document WHERE file = '' OR chunks < 0 OR number <= 0"
     " OR number >= (SELECT document FROM corpus_next)",
     "documents make no sense"},
    {"SELECT count(*) FROM corpus_document WHERE state IN ('ready', 'failed')"
     " AND corpus NOT IN (SELECT number FROM corpus_set)",
     "documents belong to no corpus"},
    {"SELECT count(*) FROM corpus_document WHERE state = 'ready' AND chunks <>"
     " (SELECT count(*) FROM corpus_entry WHERE key >= number << 24 AND key < (number + 1) << 24)",
     "documents have not all of their passages; 'tiro corpus update' reads them again"},
    {"SELECT count(*) FROM corpus_entry"
     " WHERE key >> 24 NOT IN (SELECT number FROM corpus_document)",
     "passages belong to no document"},
    {"SELECT count(*) FROM corpus_entry WHERE key NOT IN (SELECT id FROM corpus_words_docsize)",
     "passages are not in their index of words; 'tiro memory reindex' makes it anew"},
    {"SELECT count(*) FROM corpus_words_docsize WHERE id NOT IN (SELECT key FROM corpus_entry)",
     "rows of their index of words belong to no passage; 'tiro memory reindex' makes it anew"},
    {NULL, NULL},
};

static bool check(struct store *s, bool thorough, struct health *out)
{
    bool ok = health_count(s, "SELECT count(*) FROM corpus_set", &out->corpora, out) &&
              health_count(s, "SELECT count(*) FROM corpus_document WHERE state = 'ready'",
                           &out->documents, out) &&
              health_count(s,
                           "SELECT coalesce(sum(chunks), 0) FROM corpus_document"
                           " WHERE state = 'ready'",
                           &out->passages, out) &&
              health_count(s, "SELECT count(*) FROM corpus_document WHERE state = 'failed'",
                           &out->unreadable, out);
    return ok && (!thorough || health_rules(s, rules, "corpora", out));
}

static const struct salvage_shape shapes[] = {
    {"corpus_set", "number, name, asked, ended, created_ms, updated_ms", "ntiiii", false},
    {"corpus_document",
     "number, corpus, file, given, size, modified_ns, changed_ns, digest, loader, state, error,"
     " chunks, bytes, ingested_ms",
     "nitiiiiittTiii", false},
    {"corpus_entry", "key, start, finish, line, page_number, heading, content", "niiiitt", false},
    {"corpus_path", "corpus, path", "it", true},
    {0},
};

#define PATHS "corpus_path"
static const char *const indexes[] = {PATHS, NULL};

/* Rows on a free page were deleted. */
static const char choose_sql[] =
    "DELETE FROM found.corpus_set WHERE free OR NOT whole;"
    "DELETE FROM found.corpus_document WHERE free OR NOT whole OR state <> 'ready';"
    "DELETE FROM found.corpus_entry WHERE free OR NOT whole;"
    "DELETE FROM found.corpus_path WHERE NOT whole OR plain(path) IS NULL OR page NOT "
    "IN " SALVAGE_PAGES_OF(PATHS) ";";

/* A document comes back only with all of its passages. The next update reads files again; a given
 * text that lacks a passage is lost. */
static const char recover_sql[] =
    "INSERT OR IGNORE INTO corpus_set (number, name, asked, ended, created_ms, updated_ms)"
    " SELECT row, plain(name), 1, 0, created_ms, updated_ms FROM found.corpus_set"
    " WHERE plain(name) <> '';"
    "CREATE TABLE found.corpus_whole AS SELECT d.row AS number FROM found.corpus_document d"
    " WHERE d.corpus IN (SELECT number FROM corpus_set) AND plain(d.file) <> '' AND d.chunks ="
    " (SELECT count(DISTINCT e.row) FROM found.corpus_entry e WHERE e.row >= d.row << 24"
    "  AND e.row < (d.row + 1) << 24 AND plain(e.content) IS NOT NULL);"
    "INSERT OR IGNORE INTO corpus_document SELECT row, corpus, plain(file), given, size,"
    " modified_ns, changed_ns, digest, loader, 'ready', NULL, chunks, bytes, ingested_ms"
    " FROM found.corpus_document WHERE row IN (SELECT number FROM found.corpus_whole);"
    "INSERT OR IGNORE INTO corpus_entry (key, start, finish, line, page_number, heading, content)"
    " SELECT row, start, finish, line, page, coalesce(plain(heading), ''), plain(content)"
    " FROM found.corpus_entry WHERE plain(content) IS NOT NULL"
    " AND row >> 24 IN (SELECT number FROM corpus_document);"
    "INSERT OR IGNORE INTO corpus_path (corpus, path) SELECT corpus, path FROM found.corpus_path"
    " WHERE corpus IN (SELECT number FROM corpus_set);"
    "UPDATE corpus_next SET document ="
    " 1 + (SELECT coalesce(max(row), 0) FROM found.corpus_document);";

static bool recover(struct store *to, struct recovery *out, struct error *e)
{
    int64_t lost = 0;
    bool ok = store_exec(to, recover_sql, e) &&
              store_number(to,
                           "SELECT count(*) FROM found.corpus_document"
                           " WHERE given AND row NOT IN (SELECT number FROM corpus_document)",
                           &lost, e);
    out->lost += lost;
    return ok;
}

const struct store_extension corpora_extension = {
    .check = check, .shapes = shapes, .indexes = indexes, .choose = choose_sql, .recover = recover};
