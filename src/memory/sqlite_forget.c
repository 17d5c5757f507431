#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "memory/content.h"
#include "memory/sqlite_private.h"

static const char of_session_sql[] =
    MEMORY_ROWS "WHERE entry.key BETWEEN ?1 << 24 AND ?1 << 24 | 0xffffff";
static const char session_is_sql[] = "SELECT 1 FROM memory_session WHERE number = ?1 AND id = ?2";

/* What was deleted is gone from the file when the journal has been emptied into it, and from those
 * of graphs at once. */
static bool leave_for_good(struct memory *m, bool began, bool ok, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    ok = ok && (m->lazy ||
                vectors_graph_purge(sqlite_memory_of(m)->vectors, &sqlite_memory_of(m)->corpus, e));
    ok = store_leave(s, began, ok, e);
    if (ok && began && !m->lazy)
        store_settle(s);
    return ok;
}

static bool purge_words(struct memory *m, struct error *e)
{
    return words_purge(&sqlite_memory_of(m)->corpus, m->lazy, e);
}

bool sqlite_memory_purge(struct memory *m, bool *more, struct error *e)
{
    return words_purge_step(&sqlite_memory_of(m)->corpus, sqlite_memory_of(m)->vectors, more, e);
}

/* ---- edit ---- */

static bool edit(struct memory *m, const char *id, const char *content, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    struct memory_row row;
    if (!sqlite_row_need(s, id, &row, e))
        return false;
    bool ok = strcmp(row.entry.content, content) == 0 ||
              (memory_tell(m, MEMORY_EDITED, &row.entry, NULL, e) &&
               sqlite_row_edit(s, &row, content, e) && purge_words(m, e));
    memory_row_release(&row);
    return ok;
}

bool sqlite_memory_edit(struct memory *m, const char *id, const char *content, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool began;
    char *clean = content_clean(content);
    if (!clean)
        return err_set(e, ERR_USAGE, "an entry cannot be empty; delete it instead");
    bool ok = store_enter(s, &began, e) && leave_for_good(m, began, edit(m, id, clean, e), e);
    free(clean);
    return ok;
}

/* ---- forget ---- */

static bool is_among(const struct memory_forgotten *f, const char *id)
{
    for (size_t i = 0; i < f->items.len; i++)
        if (strcmp(f->items.items[i].entry.id, id) == 0)
            return true;
    return false;
}

static bool forget_row(struct memory *m, struct memory_row *row, struct memory_forgotten *out,
                       struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool ok = memory_tell(m, MEMORY_FORGOTTEN, &row->entry, out, e) &&
              sqlite_row_remove(s, row, e) && sqlite_gone_add(s, row, true, e);
    vec_push(&out->items, (struct forgotten_entry){row->entry, row->key, row->compaction});
    return ok;
}

static bool forget_one(struct memory *m, const char *id, struct memory_forgotten *out,
                       struct error *e)
{
    struct memory_row row;
    struct error unknown;
    if (sqlite_row_need(sqlite_memory_of(m)->store, id, &row, &unknown))
        return forget_row(m, &row, out, e);
    if (unknown.code == ERR_MEMORY_NOT_FOUND && is_among(out, id))
        return true;
    *e = unknown;
    return false;
}

static bool forget_all(struct memory *m, const char *const *ids, size_t count,
                       struct memory_forgotten *out, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = forget_one(m, ids[i], out, e);
    return ok && (out->items.len == 0 || purge_words(m, e));
}

bool sqlite_memory_forget(struct memory *m, const char *const *ids, size_t count,
                          struct memory_forgotten *out, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    struct memory_forgotten forgotten = {0};
    struct error fault = {0};
    bool began;
    bool ok = store_enter(s, &began, &fault) &&
              leave_for_good(m, began, forget_all(m, ids, count, &forgotten, &fault), &fault);
    if (ok && out) {
        *out = forgotten;
        return true;
    }
    memory_forgotten_release(&forgotten);
    if (out)
        *out = (struct memory_forgotten){0};
    if (!ok && e)
        *e = fault;
    return ok;
}

/* ---- restore ---- */

static bool session_is_there(struct store *s, const struct memory_row *row, struct error *e)
{
    bool there;
    struct query q = query_begin(s, session_is_sql, e);
    query_int(&q, rank_key_session(row->key));
    query_text(&q, row->entry.session_id);
    return query_any(&q, &there) &&
           (there || err_set(e, ERR_MEMORY_NOT_FOUND,
                             "session %.60s was deleted meanwhile; its entries cannot be restored",
                             row->entry.session_id));
}

/* What a compaction brought may have come again under another id: undone, and compacted anew. */
static bool is_back(struct store *s, const struct memory_row *row, bool *back, struct error *e)
{
    return sqlite_is_known(s, &row->entry, row->compaction, back, e) &&
           (*back || row->compaction == 0 ||
            sqlite_source_is_known(s, &row->entry, row->compaction, back, e));
}

static bool restore_one(struct memory *m, const struct memory_row *row, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool known;
    return session_is_there(s, row, e) &&
           sqlite_gone_drop(s, rank_key_session(row->key), row->entry.seq, e) &&
           is_back(s, row, &known, e) && (known || sqlite_row_add(s, row, e)) &&
           memory_tell(m, MEMORY_RESTORED, &row->entry, NULL, e);
}

static bool restore_all(struct memory *m, const struct memory_forgotten *f, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; i < f->items.len && ok; i++) {
        const struct forgotten_entry *item = &f->items.items[i];
        const struct memory_row row = {item->key, item->compaction, item->entry};
        ok = restore_one(m, &row, e);
    }
    return ok;
}

bool sqlite_memory_restore(struct memory *m, const struct memory_forgotten *f, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, restore_all(m, f, e), e);
}

/* ---- a whole session ---- */

static bool drop_session(struct store *s, int64_t number, struct error *e)
{
    struct query q = query_begin(s, "DELETE FROM memory_session WHERE number = ?", e);
    query_int(&q, number);
    return query_run(&q);
}

static bool remove_entries(struct memory *m, int64_t number, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    struct memory_rows rows = {0};
    struct query q = query_begin(s, of_session_sql, e);
    query_int(&q, number);
    bool ok = sqlite_rows_read(&q, &rows) && sqlite_rows_remove(s, &rows, e) &&
              (rows.items.len == 0 || purge_words(m, e));
    memory_rows_release(&rows);
    return ok;
}

static bool forget_session(struct memory *m, const char *session_id, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    const struct memory_entry session = {.session_id = (char *)session_id};
    int64_t number;
    return sqlite_deferred_forget(s, session_id, e) &&
           sqlite_session_number(s, session_id, &number, e) &&
           (number < 0 || (remove_entries(m, number, e) && sqlite_gone_forget(s, number, e) &&
                           memory_tell(m, MEMORY_SESSION_FORGOTTEN, &session, NULL, e) &&
                           drop_session(s, number, e)));
}

bool sqlite_memory_forget_session(struct memory *m, const char *session_id, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool began;
    return store_enter(s, &began, e) &&
           leave_for_good(m, began, forget_session(m, session_id, e), e);
}
