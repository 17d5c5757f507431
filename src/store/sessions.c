#include "store/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/sql.h"

/* Columns after id and title, in the order of sessions_put(): those of every listing, and the long
 * texts. */
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
    X(cost)                                                                                        \
    X(imported)
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
    " AND (?3 IS NULL OR (archived_ms IS NOT NULL) = ?3)"
    " AND (?4 IS NULL OR directory = ?4 OR ?4 = '/'"
    " OR substr(directory, 1, length(?4) + 1) = ?4 || '/') AND " SESSIONS_FROM("?5") " ORDER BY updated_ms DESC, key DESC";
static const char delete_sql[] = "DELETE FROM session WHERE id = ?";
static const char each_sql[] = "SELECT id FROM session ORDER BY created_ms, key";
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

bool sessions_put(struct store *s, const struct session_info *info, struct error *e)
{
    return sql_exec(s, e, put_sql, "ttittttiiiiikkkittkkiirttt", info->id, or_empty(info->title),
                    (int64_t)info->title_set, or_empty(info->directory), or_empty(info->provider),
                    or_empty(info->model), info->last_line, info->created_ms, info->updated_ms,
                    info->messages, (int64_t)info->turns, info->last_seq, info->usage.input,
                    info->usage.output, info->usage.cached, (int64_t)info->usage.estimated,
                    or_null(info->labels), or_null(info->parent),
                    *info->parent ? info->parent_seq : (int64_t)-1,
                    info->archived_ms > 0 ? info->archived_ms : (int64_t)-1, info->tool_calls,
                    info->run_ms, info->cost, info->imported, info->system, or_null(info->draft));
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
        .cost = sqlite3_column_type(q->handle, AT_cost) == SQLITE_NULL
                    ? -1
                    : sqlite3_column_double(q->handle, AT_cost),
        .imported = query_column_text(q, AT_imported),
        .system = query_column_text(q, AT_system),
        .draft = query_column_text(q, AT_draft),
    };
    const char *id = (const char *)sqlite3_column_text(q->handle, AT_id);
    const char *parent = (const char *)sqlite3_column_text(q->handle, AT_parent);
    snprintf(info.id, sizeof info.id, "%s", or_empty(id));
    snprintf(info.parent, sizeof info.parent, "%s", or_empty(parent));
    return info;
}

bool sessions_get(struct store *s, const char *id, struct session_info *out, struct error *e)
{
    *out = (struct session_info){.usage = USAGE_UNKNOWN, .cost = -1};
    struct query q = sql_query(s, e, get_sql, "t", id);
    bool found = query_next(&q);
    if (found)
        *out = read_row(&q);
    return query_end(&q) && (found || not_found(id, e));
}

/* ---- listing ---- */

char *sessions_take_from(const char *text, char **from)
{
    static const char blanks[] = " \t\n", name[] = "from:";
    struct buf rest = BUF_INIT;
    bool quoted = false;
    *from = NULL;
    for (const char *at = text; *at;) {
        bool begins = !quoted && (at == text || strchr(blanks, at[-1]));
        size_t len = begins && strncmp(at, name, strlen(name)) == 0 ? strcspn(at, blanks) : 0;
        if (len > strlen(name)) {
            mem_replace(from, mem_strndup(at + strlen(name), len - strlen(name)));
            at += len;
            at += strspn(at, blanks);
            continue;
        }
        quoted = quoted != (*at == '"');
        buf_addch(&rest, *at++);
    }
    buf_trim_end(&rest, *from ? blanks : "");
    return buf_take(&rest);
}

/* `text` NULL: every row matches. */
static bool matches(const struct query *q, const char *text)
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

bool sessions_list(struct store *s, const struct session_filter *filter, struct session_list *out,
                   int64_t *total, struct error *e)
{
    auto_free char *from = NULL;
    auto_free char *rest = filter->text ? sessions_take_from(filter->text, &from) : NULL;
    const char *text = or_null(rest);
    int64_t count = 0;
    *out = (struct session_list){0};
    struct query q = sql_query(
        s, e, list_sql, "ttktt", or_null(filter->directory), or_null(filter->label),
        filter->state == SESSION_ANY ? (int64_t)-1 : (int64_t)(filter->state == SESSION_ARCHIVED),
        or_null(filter->project), from);
    while (query_next(&q)) {
        if (!matches(&q, text))
            continue;
        if (filter->limit == 0 || count < filter->limit)
            vec_push(&out->items, read_row(&q));
        else if (!total)
            break;
        count++;
    }
    if (total)
        *total = count;
    bool ok = query_end(&q);
    if (!ok)
        session_list_release(out);
    return ok;
}

/* All are read before the first visit, which may change the table. */
bool sessions_each(struct store *s, const char *unsent_in,
                   bool (*visit)(void *context, const char *id), void *context, struct error *e)
{
    struct text_list ids = {0};
    struct query q = unsent_in ? sql_query(s, e, each_unsent_sql, "t", unsent_in)
                               : sql_query(s, e, each_sql, "");
    bool ok = query_texts(&q, &ids), go_on = ok;
    for (size_t i = 0; go_on && i < ids.items.len; i++)
        go_on = visit(context, ids.items.items[i]);
    vec_free_each(&ids.items);
    return ok;
}

/* ---- parents, removing ---- */

/* UNION and not UNION ALL: a ring of parents ends. */
static const char line_sql[] =
    "WITH RECURSIVE line (id, last) AS (SELECT parent, parent_seq FROM session WHERE id = ?1"
    " UNION SELECT s.parent, min(line.last, s.parent_seq) FROM line JOIN session AS s"
    " ON s.id = line.id) SELECT id, last FROM line WHERE length(id) = 36";

bool sessions_line(struct store *s, const char *id, struct session_line *out, struct error *e)
{
    *out = (struct session_line){0};
    struct query q = sql_query(s, e, line_sql, "t", id);
    while (query_next(&q)) {
        struct session_ancestor a = {.last = sqlite3_column_int64(q.handle, 1)};
        memcpy(a.id, sqlite3_column_text(q.handle, 0), UUID_LEN);
        vec_push(&out->items, a);
    }
    return query_end(&q);
}

bool sessions_delete(struct store *s, const char *id, struct error *e)
{
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    bool ok =
        sql_exec(s, e, delete_sql, "t", id) && (sqlite3_changes(s->db) > 0 || not_found(id, e));
    ok = store_leave(s, began, ok, e);
    if (ok && began)
        store_settle(s);
    return ok;
}

bool sessions_set_draft(struct store *s, const char *id, const char *draft, struct error *e)
{
    bool began;
    draft = or_null(draft);
    if (!store_enter(s, &began, e))
        return false;
    bool ok = sql_exec(s, e, "UPDATE session SET draft = ? WHERE id = ?", "tt", draft, id);
    if (ok && draft)
        ok = sqlite3_changes(s->db) > 0 || not_found(id, e);
    else if (ok)
        ok = sql_exec(s, e, drop_sql, "t", id);
    return store_leave(s, began, ok, e);
}

/* ---- names ---- */

#define CANDIDATES_MAX 5 /* shown of an ambiguous reference */
#define CANDIDATE_COLUMNS 24
#define REFERENCE_SHOWN 40
#define TITLE_PART 3 /* bytes, at least: two letters are in most titles */
#define SHORT_ID 8   /* the end of an id: its beginning is the time, and alike */

static const char nth_sql[] =
    "SELECT id FROM session ORDER BY updated_ms DESC, key DESC LIMIT 1 OFFSET ?";
static const char names_sql[] = "SELECT id, title FROM session ORDER BY updated_ms DESC, key DESC";

/* Bytes of a reference that an error shows. */
static int shown(const char *reference)
{
    return (int)utf8_cut_bytes(reference, strlen(reference), REFERENCE_SHOWN);
}

static bool no_match(const char *reference, struct error *e)
{
    return err_set(e, ERR_SESSION_NOT_FOUND,
                   "no session matches \"%.*s\"; 'tiro sessions list' shows them all",
                   shown(reference), reference);
}

/* Ascending: a better match replaces the others. */
enum match { MATCH_NONE, MATCH_TITLE_PART, MATCH_ID_PART, MATCH_TITLE, MATCH_ID };

/* Sessions that a reference matches, of the best kind only. */
struct matches {
    enum match kind;
    size_t count;
    char id[UUID_LEN + 1];
    struct buf *candidates;
};

static void consider(struct matches *m, const char *id, const char *title, const char *reference)
{
    size_t id_len = strlen(id), reference_len = strlen(reference);
    bool part = utf8_contains_folded(title, reference);
    enum match kind = part && reference_len >= TITLE_PART ? MATCH_TITLE_PART : MATCH_NONE;
    if (reference_len <= id_len && (strncasecmp(id, reference, reference_len) == 0 ||
                                    strcasecmp(id + id_len - reference_len, reference) == 0))
        kind = reference_len == id_len ? MATCH_ID : MATCH_ID_PART;
    /* Folding maps one character to one: two texts that contain each other are equal. */
    if (kind != MATCH_ID && part && utf8_contains_folded(reference, title))
        kind = MATCH_TITLE;
    if (kind == MATCH_NONE || kind < m->kind)
        return;
    if (kind > m->kind) {
        m->count = 0;
        buf_clear(m->candidates);
        snprintf(m->id, sizeof m->id, "%s", id);
    }
    m->kind = kind;
    if (m->count++ >= CANDIDATES_MAX)
        return;
    size_t len = strlen(title), cut = utf8_cut_width(title, len, CANDIDATE_COLUMNS);
    buf_addf(m->candidates, "%s%s %.*s%s", m->count > 1 ? ", " : "", id + strlen(id) - SHORT_ID,
             (int)cut, title, cut < len ? "…" : "");
}

static bool resolve_name(struct store *s, const char *reference, char id[UUID_LEN + 1],
                         struct error *e)
{
    struct matches m = {0};
    AUTO(buf_release) struct buf candidates = BUF_INIT;
    m.candidates = &candidates;
    struct query q = sql_query(s, e, names_sql, "");
    while (query_next(&q))
        consider(&m, (const char *)sqlite3_column_text(q.handle, 0),
                 (const char *)sqlite3_column_text(q.handle, 1), reference);
    if (!query_end(&q))
        return false;
    if (m.count == 0)
        return no_match(reference, e);
    if (m.count > 1)
        return err_set(e, ERR_SESSION_AMBIGUOUS, "%zu sessions match \"%.*s\"; name one: %s%s",
                       m.count, shown(reference), reference, candidates.data,
                       m.count > CANDIDATES_MAX ? ", …" : "");
    memcpy(id, m.id, UUID_LEN + 1);
    return true;
}

bool sessions_resolve(struct store *s, const char *reference, char id[UUID_LEN + 1],
                      struct error *e)
{
    size_t digits = reference[0] == '~' ? strspn(reference + 1, "0123456789") : 0;
    int64_t n = 0;
    if (strcmp(reference, "last") == 0)
        n = 1;
    else if (digits > 0 && digits <= 9 && !reference[1 + digits])
        n = strtol(reference + 1, NULL, 10);
    if (n <= 0)
        return *reference ? resolve_name(s, reference, id, e) : no_match(reference, e);
    struct query q = sql_query(s, e, nth_sql, "i", n - 1);
    bool found = query_next(&q);
    if (found)
        snprintf(id, UUID_LEN + 1, "%s", (const char *)sqlite3_column_text(q.handle, 0));
    bool ok = query_end(&q);
    if (!ok || found)
        return ok;
    if (n == 1)
        return err_set(e, ERR_SESSION_NOT_FOUND, "no session is saved yet");
    return err_set(
        e, ERR_SESSION_NOT_FOUND,
        "there is no session %s, because there are fewer; 'tiro sessions list' shows them",
        reference);
}

bool sessions_has_title(struct store *s, const char *title, bool *out, struct error *e)
{
    return sql_any(s, out, e, "SELECT 1 FROM session WHERE title = ? LIMIT 1", "t", title);
}

/* ---- settings ---- */

static const char get_setting_sql[] =
    "SELECT value FROM session_setting WHERE session = ? AND name = ?";
static const char put_setting_sql[] = "INSERT OR REPLACE INTO session_setting VALUES (?, ?, ?)";
static const char drop_setting_sql[] = "DELETE FROM session_setting WHERE session = ? AND name = ?";
static const char copy_sql[] =
    "INSERT OR REPLACE INTO session_setting (session, name, value)"
    " SELECT ?2, name, value FROM session_setting WHERE session = ?1";

bool session_setting_get(struct store *s, const char *session_id, const char *name, char **out,
                         struct error *e)
{
    *out = NULL;
    struct query q = sql_query(s, e, get_setting_sql, "tt", session_id, name);
    if (query_next(&q))
        *out = query_column_text(&q, 0);
    return query_end(&q);
}

bool session_setting_put(struct store *s, const char *session_id, const char *name,
                         const char *value, struct error *e)
{
    return value ? sql_exec(s, e, put_setting_sql, "ttt", session_id, name, value)
                 : sql_exec(s, e, drop_setting_sql, "tt", session_id, name);
}

bool session_settings_copy(struct store *s, const char *from, const char *to, struct error *e)
{
    return sql_exec(s, e, copy_sql, "tt", from, to);
}

/* ---- files ---- */

static const char projected_sql[] =
    "SELECT seq, transcript_bytes, events_bytes FROM projected"
    " WHERE session = (SELECT key FROM session WHERE id = ?)";
static const char put_projected_sql[] =
    "INSERT OR REPLACE INTO projected (session, seq, transcript_bytes, events_bytes)"
    " SELECT key, ?2, ?3, ?4 FROM session WHERE id = ?1";

bool projected_get(struct store *s, const char *session_id, struct projected *out, struct error *e)
{
    *out = (struct projected){0};
    struct query q = sql_query(s, e, projected_sql, "t", session_id);
    if (query_next(&q))
        *out = (struct projected){.seq = sqlite3_column_int64(q.handle, 0),
                                  .transcript_bytes = sqlite3_column_int64(q.handle, 1),
                                  .events_bytes = sqlite3_column_int64(q.handle, 2)};
    return query_end(&q);
}

bool projected_put(struct store *s, const char *session_id, const struct projected *p,
                   struct error *e)
{
    return sql_exec(s, e, put_projected_sql, "tiii", session_id, p->seq, p->transcript_bytes,
                    p->events_bytes) &&
           (sqlite3_changes(s->db) > 0 ||
            err_set(e, ERR_SESSION_NOT_FOUND,
                    "session %s is not in the store; it was deleted meanwhile", session_id));
}

static const char some_sql[] = "SELECT session FROM removal ORDER BY random() LIMIT ?";

bool removals_some(struct store *s, int limit, struct removals *out, struct error *e)
{
    *out = (struct removals){0};
    struct query q = sql_query(s, e, some_sql, "i", (int64_t)limit);
    while (query_next(&q)) {
        struct removal r;
        const char *id = (const char *)sqlite3_column_text(q.handle, 0);
        if (!uuid_valid(id))
            continue;
        memcpy(r.id, id, sizeof r.id);
        vec_push(&out->items, r);
    }
    return query_end(&q);
}

bool removals_has(struct store *s, const char *id, bool *out, struct error *e)
{
    return sql_any(s, out, e, "SELECT 1 FROM removal WHERE session = ?", "t", id);
}

bool removals_strike(struct store *s, const char *id, struct error *e)
{
    return sql_exec(s, e, "DELETE FROM removal WHERE session = ?", "t", id);
}
