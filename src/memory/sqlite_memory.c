#include "memory/sqlite_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "memory/quoting.h"

/* At a time: texts that are embedded, vectors that go into the graph. */
enum { EMBED_STEP = 64, GRAPH_STEP = 64 };

static const char each_sql[] = MEMORY_ROWS "ORDER BY entry.key";
/* No character is greater than the last of Unicode. */
static const char ids_sql[] =
    "SELECT id FROM memory_entry WHERE id >= ?1 AND id < ?1 ||"
    " char(0x10ffff) ORDER BY id LIMIT ?2";
static const char counts_sql[] =
    "SELECT count(*), ifnull(sum(pinned), 0), ifnull(sum(length(CAST(content AS BLOB)) + 100), 0),"
    " (SELECT count(*) FROM memory_session WHERE EXISTS (SELECT 1 FROM memory_entry"
    "  WHERE key BETWEEN number << 24 AND number << 24 | 0xffffff)),"
    " ifnull(sum(compaction > 0), 0), ifnull(sum(compaction = -1), 0) FROM memory_entry";

static void sqlite_close(struct memory *memory)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    vectors_free(m->vectors);
    free(m->language);
    free(m);
}

static bool sqlite_get(struct memory *m, const char *id, struct memory_entry *out, struct error *e)
{
    struct memory_row row;
    bool ok = sqlite_row_need(sqlite_memory_of(m)->store, id, &row, e);
    *out = row.entry;
    return ok;
}

static bool sqlite_ids(struct memory *m, const char *beginning, int limit, struct text_list *out,
                       struct error *e)
{
    *out = (struct text_list){0};
    struct query q = query_for(sqlite_memory_of(m)->store, ids_sql, beginning, e);
    query_int(&q, limit);
    return query_texts(&q, out);
}

static bool sqlite_each(struct memory *m,
                        bool (*visit)(void *context, const struct memory_entry *entry),
                        void *context, struct error *e)
{
    struct query q = query_begin(sqlite_memory_of(m)->store, each_sql, e);
    bool go_on = true;
    while (go_on && query_next(&q)) {
        struct memory_row row = sqlite_row_read(&q);
        go_on = visit(context, &row.entry);
        memory_row_release(&row);
    }
    return query_end(&q);
}

static bool pin(struct store *s, const char *id, bool pinned, struct error *e)
{
    struct query q = query_for(s, "UPDATE memory_entry SET pinned = ?2 WHERE id = ?1", id, e);
    query_int(&q, pinned);
    return query_run(&q) &&
           (sqlite3_changes(s->db) > 0 ||
            err_set(e, ERR_MEMORY_NOT_FOUND,
                    "there is no entry %.60s in memory; it may have been deleted", id));
}

static bool sqlite_pin(struct memory *m, const char *id, bool pinned, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, pin(s, id, pinned, e), e);
}

/* ---- stats ---- */

static bool read_counts(struct store *s, struct memory_stats *out, struct error *e)
{
    struct query q = query_begin(s, counts_sql, e);
    if (query_next(&q)) {
        out->entries = sqlite3_column_int64(q.handle, 0);
        out->pinned = sqlite3_column_int64(q.handle, 1);
        out->bytes = sqlite3_column_int64(q.handle, 2);
        out->sessions = sqlite3_column_int64(q.handle, 3);
        out->dropped = sqlite3_column_int64(q.handle, 4);
        out->left = sqlite3_column_int64(q.handle, 5);
    }
    return query_end(&q);
}

static bool read_backlog(struct memory *m, struct memory_stats *out, struct error *e)
{
    struct memory_backlog_count count;
    bool ok = sqlite_memory_backlog(m, &count, e);
    out->unasked = count.sessions[BACKLOG_UNASKED];
    out->backlog_done = count.sessions[BACKLOG_DONE];
    out->backlog = count.sessions[BACKLOG_WANTED] + out->backlog_done;
    return ok;
}

static bool sqlite_stats(struct memory *memory, struct memory_stats *out, struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    bool began;
    int64_t bytes;
    *out = (struct memory_stats){0};
    if (!store_step_begin(m->store, &began, e))
        return false;
    bool ok = read_counts(m->store, out, e) && read_backlog(memory, out, e) &&
              sqlite_deferred_count(m->store, &out->deferred, e) &&
              quoting_count(m->store, &out->flagged, e) && corpus_bytes(&m->corpus, &bytes, e) &&
              words_language(&m->corpus, &out->language, e);
    ok = store_step_end(m->store, began, ok, e);
    out->bytes += ok ? bytes : 0;
    out->graph = vectors_has_graph(m->vectors);
    if (ok)
        out->language_stale = out->entries > 0 && strcmp(out->language, m->language) != 0;
    else
        memory_stats_release(out);
    return ok;
}

/* ---- the index ---- */

static bool sqlite_reindex(struct memory *memory, const char *language,
                           bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                           struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    return words_reindex(&m->corpus, language ? language : m->language, progress, context, e);
}

static bool sqlite_tidy(struct memory *m, bool *more, struct error *e)
{
    return words_tidy(&sqlite_memory_of(m)->corpus, more, e);
}

static bool sqlite_count_vectors(struct memory *m, const char *model, struct vectors_counts *out,
                                 struct error *e)
{
    return vectors_count(&sqlite_memory_of(m)->corpus, model, out, e);
}

static bool sqlite_know_model(struct memory *m, const char *model, int dimension, struct error *e)
{
    return vectors_know_model(&sqlite_memory_of(m)->corpus, model, dimension, e);
}

static bool sqlite_lacking(struct memory *m, const char *model, size_t max_bytes,
                           struct vectors_lacking *out, struct error *e)
{
    return vectors_lacking(&sqlite_memory_of(m)->corpus, model, EMBED_STEP, max_bytes, out, e);
}

static bool sqlite_keep(struct memory *m, const char *model, const struct vectors_lacking *of,
                        const struct embeddings *made, struct error *e)
{
    return vectors_keep(&sqlite_memory_of(m)->corpus, model, of, made, e);
}

static bool sqlite_tidy_vectors(struct memory *memory, const char *model, int64_t *left,
                                struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    bool more;
    *left = 1;
    return vectors_fit(&m->corpus, model, e) && vectors_drop_stale(&m->corpus, model, &more, e) &&
           (more || vectors_graph_step(m->vectors, &m->corpus, model, GRAPH_STEP, left, e));
}

static const struct memory_ops sqlite_ops = {
    .name = "sqlite",
    .close = sqlite_close,
    .index = sqlite_memory_index,
    .withdraw = sqlite_memory_withdraw,
    .defer = sqlite_memory_defer,
    .has_deferred = sqlite_memory_has_deferred,
    .next_deferred = sqlite_memory_next_deferred,
    .drop_deferred = sqlite_memory_drop_deferred,
    .next_idle = sqlite_memory_next_idle,
    .fresh = sqlite_memory_fresh,
    .follow = sqlite_memory_follow,
    .answer_backlog = sqlite_memory_answer_backlog,
    .backlog = sqlite_memory_backlog,
    .search = sqlite_memory_search,
    .list = sqlite_memory_list,
    .count = sqlite_memory_count,
    .get = sqlite_get,
    .around = sqlite_memory_around,
    .ids = sqlite_ids,
    .each = sqlite_each,
    .edit = sqlite_memory_edit,
    .pin = sqlite_pin,
    .forget = sqlite_memory_forget,
    .purge = sqlite_memory_purge,
    .restore = sqlite_memory_restore,
    .forget_session = sqlite_memory_forget_session,
    .stats = sqlite_stats,
    .reindex = sqlite_reindex,
    .tidy = sqlite_tidy,
    .count_vectors = sqlite_count_vectors,
    .know_model = sqlite_know_model,
    .lacking = sqlite_lacking,
    .keep = sqlite_keep,
    .tidy_vectors = sqlite_tidy_vectors,
};

struct memory *memory_open(struct store *s, const struct memory_settings *settings)
{
    static const struct memory_settings plain = {.language = NULL};
    struct sqlite_memory *m = mem_alloc(sizeof *m);
    if (!settings)
        settings = &plain;
    m->memory.ops = &sqlite_ops;
    m->memory.listener = quoting_listener(s);
    m->store = s;
    m->corpus = memory_sqlite_corpus(s);
    m->language = mem_strdup(settings->language ? settings->language : "english");
    m->vectors = vectors_new(MEMORY_TABLES, settings->graph_directory, settings->graph_from);
    return &m->memory;
}
