/* An entry and those around it in its conversation. */
#include "memory/sqlite_private.h"

/* What sessions brought is in the order of its events, an import in that of its lines. */
static const char before_sql[] = MEMORY_ROWS
    "WHERE entry.session = ?1 AND seq < ?2 AND compaction IS NOT NULL ORDER BY seq DESC LIMIT ?3";
static const char after_sql[] = MEMORY_ROWS
    "WHERE entry.session = ?1 AND seq > ?2 AND compaction IS NOT NULL ORDER BY seq LIMIT ?3";
static const char before_import_sql[] = MEMORY_ROWS
    "WHERE entry.key >= ?1 << 24 AND entry.key < ?2 AND compaction IS NULL"
    " ORDER BY entry.key DESC LIMIT ?3";
static const char after_import_sql[] = MEMORY_ROWS
    "WHERE entry.key > ?2 AND entry.key <= ?1 << 24 | 0xffffff AND compaction IS NULL"
    " ORDER BY entry.key LIMIT ?3";
static const char turn_sql[] = MEMORY_ROWS
    "WHERE entry.key BETWEEN ?1 << 24 AND ?1 << 24 | 0xffffff AND turn = ?2"
    " ORDER BY seq, entry.key LIMIT 1";

static bool is_numbered(const struct memory_row *row)
{
    return row->compaction != 0 && row->entry.seq > 0;
}

static bool read_side(struct store *s, const struct memory_row *of, bool before, int limit,
                      struct memory_rows *out, struct error *e)
{
    bool numbered = is_numbered(of);
    struct query q = query_begin(s,
                                 numbered ? (before ? before_sql : after_sql)
                                          : (before ? before_import_sql : after_import_sql),
                                 e);
    query_int(&q, rank_key_session(of->key));
    query_int(&q, numbered ? of->entry.seq : of->key);
    query_int(&q, limit);
    return sqlite_rows_read(&q, out);
}

/* Takes the entries; `rows` is empty then. */
static void give(struct memory_rows *rows, bool backwards, struct memory_entries *out)
{
    for (size_t i = 0; i < rows->items.len; i++)
        vec_push(&out->items, rows->items.items[backwards ? rows->items.len - 1 - i : i].entry);
    vec_release(&rows->items);
}

static bool find_turn(struct store *s, const struct memory_place *p, struct memory_row *out,
                      bool *found, struct error *e)
{
    struct memory_rows rows = {0};
    int64_t number;
    *found = false;
    if (!sqlite_session_number(s, p->session_id, &number, e))
        return false;
    struct query q = query_begin(s, turn_sql, e);
    query_int(&q, number);
    query_int(&q, p->turn);
    bool ok = sqlite_rows_read(&q, &rows);
    *found = ok && rows.items.len > 0;
    if (*found)
        *out = rows.items.items[0];
    vec_release(&rows.items);
    return ok;
}

static bool find(struct store *s, const struct memory_place *p, struct memory_row *out,
                 struct error *e)
{
    bool found = false;
    if (p->id)
        return sqlite_row_need(s, p->id, out, e);
    return find_turn(s, p, out, &found, e) &&
           (found || err_set(e, ERR_MEMORY_NOT_FOUND,
                             "there is no entry of turn %lld of session %.60s in memory",
                             (long long)p->turn, p->session_id));
}

static bool is_in_scope(struct store *s, const struct memory_row *row,
                        const struct memory_scope *scope, struct error *e)
{
    struct corpus_scope sessions;
    if (!sqlite_scope(s, scope, &sessions, e))
        return false;
    bool in = corpus_scope_has(&sessions, rank_key_session(row->key));
    vec_release(&sessions.numbers);
    return in || err_set(e, ERR_MEMORY_NOT_FOUND,
                         "entry %.60s is of a session that may not be read here ([memory] scope)",
                         row->entry.id);
}

static bool read_around(struct store *s, const struct memory_around *p, struct memory_row *row,
                        struct memory_excerpt *out, struct error *e)
{
    struct memory_rows before = {0}, after = {0};
    bool ok = is_in_scope(s, row, &p->scope, e) &&
              read_side(s, row, true, p->place.before, &before, e) &&
              read_side(s, row, false, p->place.after, &after, e);
    if (ok) {
        give(&before, true, &out->entries);
        out->asked = (int)out->entries.items.len;
        vec_push(&out->entries.items, row->entry);
        row->entry = (struct memory_entry){0};
        give(&after, false, &out->entries);
    }
    memory_rows_release(&before);
    memory_rows_release(&after);
    return ok;
}

static bool around(struct store *s, const struct memory_around *p, struct memory_excerpt *out,
                   struct error *e)
{
    struct memory_row row = {0};
    bool ok = find(s, &p->place, &row, e) && read_around(s, p, &row, out, e);
    memory_row_release(&row);
    return ok;
}

bool sqlite_memory_around(struct memory *m, const struct memory_around *p,
                          struct memory_excerpt *out, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool began;
    *out = (struct memory_excerpt){0};
    return store_step_begin(s, &began, e) && store_step_end(s, began, around(s, p, out, e), e);
}
