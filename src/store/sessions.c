#include "store/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "store/sql.h"

/* Columns in the order of sessions_put() and read_row(), after id and title: those of every
 * listing, and the long texts. */
#define LISTED(X)                                                                                  \
    X(title_set)                                                                                   \
    X(directory)                                                                                   \
    X(provider)                                                                                    \
    X(model)                                                                                       \
    X(last_line)                                                                                   \
    X(created_ms)                                                                                  \
    X(updated_ms)                                                                                  \
    X(messages)                                                                                    \
    X(turns)                                                                                       \
    X(last_seq)                                                                                    \
    X(input_tokens)                                                                                \
    X(output_tokens)                                                                               \
    X(cached_tokens)                                                                               \
    X(estimated)                                                                                   \
    X(labels)                                                                                      \
    X(parent)                                                                                      \
    X(parent_seq)                                                                                  \
    X(archived_ms)                                                                                 \
    X(tool_calls)                                                                                  \
    X(run_ms)                                                                                      \
    X(cost)
#define LONG(X)                                                                                    \
    X(system)                                                                                      \
    X(draft)

#define NAME(column) ", " #column
#define MARK(column) ", ?"
#define SET(column) ", " #column " = excluded." #column
#define NUMBER(column) AT_##column,

enum { AT_id, AT_title, LISTED(NUMBER) LONG(NUMBER) };

static const char put_sql[] =
    "INSERT INTO session (id, title" LISTED(NAME) LONG(NAME) ")"
    " VALUES (?, ?" LISTED(MARK) LONG(MARK) ")"
    " ON CONFLICT (id) DO UPDATE SET title = excluded.title" LISTED(SET) LONG(SET);
static const char get_sql[] =
    "SELECT id, title" LISTED(NAME) LONG(NAME) " FROM session WHERE id = ?";
static const char list_sql[] =
    "SELECT id, title" LISTED(NAME) ", NULL, CASE WHEN title = '' THEN draft END FROM session"
    " WHERE (?1 IS NULL OR directory = ?1)"
    " AND (?2 IS NULL OR instr(' ' || labels || ' ', ' ' || ?2 || ' ') > 0)"
    " AND (?3 IS NULL OR (archived_ms IS NOT NULL) = ?3) ORDER BY updated_ms DESC, key DESC";
static const char delete_sql[] = "DELETE FROM session WHERE id = ?";
static const char each_unsent_sql[] =
    "SELECT id FROM session WHERE last_seq = 0 AND archived_ms IS NULL AND directory = ?"
    " AND draft IS NOT NULL ORDER BY updated_ms DESC, key DESC";
static const char drop_sql[] =
    "DELETE FROM session WHERE id = ? AND draft IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM event WHERE event.session = session.key)";

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static const char *or_null(const char *s)
{
    return s && *s ? s : NULL;
}

static bool not_found(const char *id, struct error *e)
{
    return err_set(e, ERR_SESSION_NOT_FOUND,
                   "there is no session %.36s; 'tiro sessions list' shows them all", id);
}

static void bind_listed(struct query *q, const struct session_info *info)
{
    query_text(q, info->id);
    query_text(q, or_empty(info->title));
    query_int(q, info->title_set);
    query_text(q, or_empty(info->directory));
    query_text(q, or_empty(info->provider));
    query_text(q, or_empty(info->model));
    query_text(q, info->last_line);
    query_int(q, info->created_ms);
    query_int(q, info->updated_ms);
    query_int(q, info->messages);
    query_int(q, info->turns);
    query_int(q, info->last_seq);
    query_known(q, info->usage.input);
    query_known(q, info->usage.output);
    query_known(q, info->usage.cached);
    query_int(q, info->usage.estimated);
    query_text(q, or_null(info->labels));
    query_text(q, or_null(info->parent));
    query_known(q, *info->parent ? info->parent_seq : -1);
    query_known(q, info->archived_ms > 0 ? info->archived_ms : -1);
    query_int(q, info->tool_calls);
    query_int(q, info->run_ms);
    query_known_real(q, info->cost);
}

bool sessions_put(struct store *s, const struct session_info *info, struct error *e)
{
    struct query q = query_begin(s, put_sql, e);
    bind_listed(&q, info);
    query_text(&q, info->system);
    query_text(&q, or_null(info->draft));
    return query_run(&q);
}

static void read_id(const struct query *q, int column, char id[UUID_LEN + 1])
{
    const char *text = (const char *)sqlite3_column_text(q->handle, column);
    snprintf(id, UUID_LEN + 1, "%s", or_empty(text));
}

static struct session_info read_row(const struct query *q)
{
    struct session_info info = {
        .title = query_column_text(q, AT_title),
        .title_set = sqlite3_column_int(q->handle, AT_title_set),
        .directory = query_column_text(q, AT_directory),
        .provider = query_column_text(q, AT_provider),
        .model = query_column_text(q, AT_model),
        .last_line = query_column_text(q, AT_last_line),
        .created_ms = sqlite3_column_int64(q->handle, AT_created_ms),
        .updated_ms = sqlite3_column_int64(q->handle, AT_updated_ms),
        .messages = sqlite3_column_int64(q->handle, AT_messages),
        .turns = sqlite3_column_int(q->handle, AT_turns),
        .last_seq = sqlite3_column_int64(q->handle, AT_last_seq),
        .usage = {.input = query_column_known(q, AT_input_tokens),
                  .output = query_column_known(q, AT_output_tokens),
                  .cached = query_column_known(q, AT_cached_tokens),
                  .estimated = sqlite3_column_int(q->handle, AT_estimated)},
        .labels = query_column_text(q, AT_labels),
        .parent_seq = sqlite3_column_int64(q->handle, AT_parent_seq),
        .archived_ms = sqlite3_column_int64(q->handle, AT_archived_ms),
        .tool_calls = sqlite3_column_int64(q->handle, AT_tool_calls),
        .run_ms = sqlite3_column_int64(q->handle, AT_run_ms),
        .cost = query_column_known_real(q, AT_cost),
        .system = query_column_text(q, AT_system),
        .draft = query_column_text(q, AT_draft),
    };
    read_id(q, AT_id, info.id);
    read_id(q, AT_parent, info.parent);
    return info;
}

bool sessions_get(struct store *s, const char *id, struct session_info *out, struct error *e)
{
    *out = (struct session_info){.usage = USAGE_UNKNOWN, .cost = -1};
    struct query q = query_for(s, get_sql, id, e);
    bool found = query_next(&q);
    if (found)
        *out = read_row(&q);
    return query_end(&q) && (found || not_found(id, e));
}

/* ---- listing ---- */

static bool shows(const struct query *q, const char *text)
{
    static const int columns[] = {AT_title,     AT_last_line, AT_labels,
                                  AT_directory, AT_model,     AT_draft};
    for (size_t i = 0; text && i < sizeof columns / sizeof *columns; i++) {
        const char *value = (const char *)sqlite3_column_text(q->handle, columns[i]);
        if (value && *value && utf8_contains_folded(value, text))
            return true;
    }
    return !text;
}

static void bind_filter(struct query *q, const struct session_filter *filter)
{
    query_text(q, or_null(filter->directory));
    query_text(q, or_null(filter->label));
    query_known(q, filter->state == SESSION_ANY ? -1 : filter->state == SESSION_ARCHIVED);
}

/* Without anybody to tell how many there are, a full list is the end. */
static void read_listed(struct query *q, const struct session_filter *filter,
                        struct session_list *out, int64_t *total)
{
    const char *text = or_null(filter->text);
    while (query_next(q)) {
        if (!shows(q, text))
            continue;
        bool full = filter->limit > 0 && (int64_t)out->items.len >= filter->limit;
        if (!full)
            vec_push(&out->items, read_row(q));
        else if (!total)
            return;
        if (total)
            ++*total;
    }
}

bool sessions_list(struct store *s, const struct session_filter *filter, struct session_list *out,
                   int64_t *total, struct error *e)
{
    *out = (struct session_list){0};
    if (total)
        *total = 0;
    struct query q = query_begin(s, list_sql, e);
    bind_filter(&q, filter);
    read_listed(&q, filter, out, total);
    bool ok = query_end(&q);
    if (!ok)
        session_list_release(out);
    return ok;
}

/* All are read before the first visit, which may change the table. `argument` of the statement;
 * NULL: it has none. */
static bool visit_ids(struct store *s, const char *sql, const char *argument,
                      bool (*visit)(void *context, const char *id), void *context, struct error *e)
{
    struct text_list ids = {0};
    struct query q = query_begin(s, sql, e);
    if (argument)
        query_text(&q, argument);
    bool ok = query_texts(&q, &ids), go_on = ok;
    for (size_t i = 0; go_on && i < ids.items.len; i++)
        go_on = visit(context, ids.items.items[i]);
    vec_free_each(&ids.items);
    return ok;
}

bool sessions_each(struct store *s, bool (*visit)(void *context, const char *id), void *context,
                   struct error *e)
{
    return visit_ids(s, "SELECT id FROM session ORDER BY created_ms, key", NULL, visit, context, e);
}

bool sessions_each_unsent(struct store *s, const char *directory,
                          bool (*visit)(void *context, const char *id), void *context,
                          struct error *e)
{
    return visit_ids(s, each_unsent_sql, directory, visit, context, e);
}

/* ---- removing ---- */

static bool run_for(struct store *s, const char *sql, const char *id, struct error *e)
{
    struct query q = query_for(s, sql, id, e);
    return query_run(&q);
}

/* UNION and not UNION ALL: a ring of parents ends. */
static const char line_sql[] =
    "WITH RECURSIVE line (id, last) AS (SELECT parent, parent_seq FROM session WHERE id = ?1"
    " UNION SELECT s.parent, min(line.last, s.parent_seq) FROM line JOIN session AS s"
    " ON s.id = line.id) SELECT id, last FROM line WHERE length(id) = 36";

bool sessions_line(struct store *s, const char *id, struct session_line *out, struct error *e)
{
    *out = (struct session_line){0};
    struct query q = query_for(s, line_sql, id, e);
    while (query_next(&q)) {
        struct session_ancestor a = {.last = sqlite3_column_int64(q.handle, 1)};
        memcpy(a.id, sqlite3_column_text(q.handle, 0), UUID_LEN);
        vec_push(&out->items, a);
    }
    return query_end(&q);
}

static bool delete_all(struct store *s, const char *id, struct error *e)
{
    return run_for(s, delete_sql, id, e) && (sqlite3_changes(s->db) > 0 || not_found(id, e));
}

bool sessions_delete(struct store *s, const char *id, struct error *e)
{
    bool began;
    if (!store_enter(s, &began, e) || !store_leave(s, began, delete_all(s, id, e), e))
        return false;
    if (began)
        store_settle(s);
    return true;
}

static bool set_draft(struct store *s, const char *id, const char *draft, struct error *e)
{
    struct query q = query_for(s, "UPDATE session SET draft = ? WHERE id = ?", draft, e);
    query_text(&q, id);
    if (!query_run(&q))
        return false;
    if (draft)
        return sqlite3_changes(s->db) > 0 || not_found(id, e);
    return run_for(s, drop_sql, id, e);
}

bool sessions_set_draft(struct store *s, const char *id, const char *draft, struct error *e)
{
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    return store_leave(s, began, set_draft(s, id, or_null(draft), e), e);
}
