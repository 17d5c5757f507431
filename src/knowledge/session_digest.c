#include "knowledge/session_digest.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "memory/secrets.h"
#include "store/event_log.h"
#include "store/sql.h"

static const char read_sql[] =
    "SELECT seq, turns, updated_ms, request, response, tools FROM learned_session WHERE session = "
    "?";
static const char write_sql[] =
    "INSERT OR REPLACE INTO learned_session"
    " (session, project, seq, turns, updated_ms, request, response, tools)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
static const char count_sql[] =
    "INSERT INTO learned_tool (session, tool, shape, calls, succeeded, last_ms)"
    " VALUES (?1, ?2, ?3, 1, ?4, ?5) ON CONFLICT (session, tool, shape) DO UPDATE SET"
    " calls = calls + 1, succeeded = succeeded + excluded.succeeded, last_ms = excluded.last_ms";
static const char tools_sql[] =
    "SELECT tool, shape, sum(calls), sum(succeeded), max(last_ms) FROM learned_tool"
    " JOIN learned_session USING (session) WHERE ?1 IS NULL OR project = ?1 GROUP BY tool, shape"
    " HAVING sum(calls) >= ?2 ORDER BY sum(calls) DESC, tool, shape";
static const char sessions_sql[] =
    "SELECT session, turns, updated_ms, request, response, tools, project FROM learned_session"
    " WHERE (?1 IS NULL OR project = ?1) AND session IS NOT ?2 AND turns > 0"
    " ORDER BY updated_ms DESC, session DESC LIMIT ?3";

/* --- the fold --------------------------------------------------------------------------------- */

/* A call that has no result yet. */
struct call {
    char *id, *shape;
};

struct digest {
    struct store *store;
    const char *session;
    int64_t seq, turns, updated_ms;
    char *request, *response, *tools;
    VEC(struct call) open;
    struct error *error;
    bool typed; /* the message of the turn that is read, or a part of it */
    bool failed;
};

static void digest_release(struct digest *d)
{
    for (size_t i = 0; i < d->open.len; i++) {
        free(d->open.items[i].id);
        free(d->open.items[i].shape);
    }
    vec_release(&d->open);
    free(d->request);
    free(d->response);
    free(d->tools);
}

/* One line of it, without secrets, cut. The caller frees. */
static char *line_of(const char *text, size_t most)
{
    struct buf masked = BUF_INIT, clean = BUF_INIT, out = BUF_INIT;
    (void)secrets_mask(&masked, text, strlen(text));
    utf8_clean(&clean, masked.data ? masked.data : "", masked.len, UTF8_ONE_LINE);
    utf8_add_cut(&out, clean.data ? clean.data : "", clean.len, most);
    buf_release(&masked);
    buf_release(&clean);
    return out.len > 0 ? buf_take(&out) : mem_strdup("");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the arguments, in order: "path, recursive". The caller frees. */
static char *shape_of(const char *args)
{
    VEC(const char *) names = {0};
    struct buf out = BUF_INIT;
    struct json *v = args ? json_parse_foreign(args, strlen(args), NULL) : NULL;
    if (v && json_type(v) == JSON_OBJECT)
        for (const struct json *m = json_first(v); m; m = json_next(m))
            vec_push(&names, json_name(m));
    if (names.len > 0)
        qsort(names.items, names.len, sizeof *names.items, by_name);
    for (size_t i = 0; i < names.len; i++)
        buf_addf(&out, "%s%s", i > 0 ? ", " : "", names.items[i]);
    vec_release(&names);
    json_free(v);
    return out.len > 0 ? buf_take(&out) : mem_strdup("");
}

static void open_call(struct digest *d, const struct event *ev)
{
    const struct call c = {.id = mem_strdup(ev->id), .shape = shape_of(ev->text)};
    vec_push(&d->open, c);
}

static bool has_tool(const char *tools, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = tools; at && (at = strstr(at, name)); at += len)
        if ((at == tools || at[-1] == ' ') && (at[len] == ',' || at[len] == '\0'))
            return true;
    return false;
}

static void add_tool(struct digest *d, const char *name)
{
    if (has_tool(d->tools, name))
        return;
    char *tools = mem_printf("%s%s%s", d->tools ? d->tools : "", d->tools ? ", " : "", name);
    free(d->tools);
    d->tools = tools;
}

static bool count(struct digest *d, const struct event *ev, const char *shape)
{
    struct query q = query_for(d->store, count_sql, d->session, d->error);
    query_text(&q, ev->name);
    query_text(&q, shape);
    query_int(&q, !ev->flag);
    query_int(&q, ev->wall_ms);
    return query_run(&q);
}

/* One that was not allowed says nothing of the tool. */
static bool close_call(struct digest *d, const struct event *ev)
{
    bool ok = true;
    for (size_t i = d->open.len; ev->id && i-- > 0;) {
        struct call *c = &d->open.items[i];
        if (!c->id || strcmp(c->id, ev->id) != 0)
            continue;
        if (!ev->denied) {
            add_tool(d, ev->name);
            ok = count(d, ev, c->shape);
        }
        free(c->id);
        free(c->shape);
        vec_remove(&d->open, i, 1);
        break;
    }
    return ok;
}

/* Later sessions are told of what a person typed, and of the answers to that. The fold can begin in
 * the middle of a turn after a crash: that turn's answer is left out. */
static void begin_turn(struct digest *d, const struct event *ev)
{
    const char *typed = ev->origin == INPUT_TYPED && ev->text ? attached_files_end(ev->text) : "";
    d->turns += ev->number == 0; /* one that is sent again is the same turn */
    d->typed = *typed;
    if (!d->request && *typed)
        d->request = line_of(typed, DIGEST_REQUEST_BYTES);
}

static bool visit(void *context, const struct event *ev)
{
    struct digest *d = context;
    if (ev->type == EVENT_TURN_STARTED) {
        begin_turn(d, ev);
    } else if (ev->type == EVENT_TOOL_CALL_REQUESTED) {
        open_call(d, ev);
    } else if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED && ev->name) {
        d->failed = !close_call(d, ev);
    } else if (ev->type == EVENT_TURN_COMPLETED && ev->text && d->typed) {
        free(d->response);
        d->response = line_of(ev->text, DIGEST_REQUEST_BYTES);
    }
    d->seq = ev->seq;
    d->updated_ms = ev->wall_ms;
    return !d->failed;
}

/* --- its row ---------------------------------------------------------------------------------- */

static bool read_row(struct digest *d, struct error *e)
{
    struct query q = query_for(d->store, read_sql, d->session, e);
    if (query_next(&q)) {
        d->seq = sqlite3_column_int64(q.handle, 0);
        d->turns = sqlite3_column_int64(q.handle, 1);
        d->updated_ms = sqlite3_column_int64(q.handle, 2);
        d->request = query_column_text(&q, 3);
        d->response = query_column_text(&q, 4);
        d->tools = query_column_text(&q, 5);
    }
    return query_end(&q);
}

static bool write_row(const struct digest *d, const char *project, struct error *e)
{
    struct query q = query_for(d->store, write_sql, d->session, e);
    query_text(&q, project);
    query_int(&q, d->seq);
    query_int(&q, d->turns);
    query_int(&q, d->updated_ms);
    query_text(&q, d->request);
    query_text(&q, d->response);
    query_text(&q, d->tools);
    return query_run(&q);
}

static bool follow(struct digest *d, const char *project, struct error *e)
{
    return read_row(d, e) && event_log_read(d->store, d->session, d->seq, visit, d, e) &&
           !d->failed && write_row(d, project, e);
}

bool session_digest_follow(struct store *s, const char *session_id, const char *project,
                           struct error *e)
{
    struct digest d = {.store = s, .session = session_id, .error = e};
    bool began;
    bool ok = store_step_begin(s, &began, e) && store_step_end(s, began, follow(&d, project, e), e);
    digest_release(&d);
    return ok;
}

/* --- what is told of it ----------------------------------------------------------------------- */

static void add_item(struct learned_items *out, enum learned_kind kind, const char *id, char *text,
                     const char *project, int64_t at)
{
    const struct learned_item item = {.id = mem_strdup(id),
                                      .scope = learned_scope_of(kind),
                                      .kind = kind,
                                      .state = LEARNED_ACTIVE,
                                      .origin = LEARNED_LOGGED,
                                      .text = text,
                                      .project = mem_strdup(project),
                                      .created_ms = at,
                                      .changed_ms = at};
    vec_push(&out->items, item);
}

bool session_digest_tools(struct store *s, const char *project, struct learned_items *out,
                          struct error *e)
{
    struct query q = query_for(s, tools_sql, project, e);
    query_int(&q, DIGEST_TOOL_CALLS_LEAST);
    while (query_next(&q)) {
        const char *tool = (const char *)sqlite3_column_text(q.handle, 0);
        int64_t calls = sqlite3_column_int64(q.handle, 2);
        char *name = mem_printf("%s(%s)", tool, (const char *)sqlite3_column_text(q.handle, 1));
        struct buf text = BUF_INIT;
        buf_addf(&text, "%s: used %lld times, %lld %% success", name, (long long)calls,
                 (long long)(sqlite3_column_int64(q.handle, 3) * 100 / calls));
        add_item(out, LEARNED_USAGE, name, buf_take(&text), project,
                 sqlite3_column_int64(q.handle, 4));
        free(name);
    }
    return query_end(&q);
}

/* At most so many characters of it. */
static void add_characters(struct buf *out, const char *text, size_t most)
{
    size_t len = strlen(text), end = utf8_cut_points(text, len, most);
    buf_add(out, text, end);
    if (end < len)
        buf_addstr(out, "…");
}

static char *summary_of(const struct query *q)
{
    struct buf whole = BUF_INIT, out = BUF_INIT;
    const char *request = (const char *)sqlite3_column_text(q->handle, 3),
               *response = (const char *)sqlite3_column_text(q->handle, 4),
               *tools = (const char *)sqlite3_column_text(q->handle, 5);
    int turns = sqlite3_column_int(q->handle, 1);
    buf_addf(&whole, "%d %s", turns, turns == 1 ? "turn" : "turns");
    if (tools) {
        buf_addstr(&whole, "; tools: ");
        add_characters(&whole, tools, DIGEST_SUMMARY_TOOLS);
    }
    if (request) {
        buf_addstr(&whole, "; asked: ");
        add_characters(&whole, request, response ? DIGEST_SUMMARY_ASKED : DIGEST_SUMMARY);
    } else {
        buf_addstr(&whole, "; nothing in it was typed by the user");
    }
    if (response)
        buf_addf(&whole, "; answered: %s", response);
    add_characters(&out, whole.data, DIGEST_SUMMARY - 1);
    buf_release(&whole);
    return buf_take(&out);
}

bool session_digest_sessions(struct store *s, const char *project, const char *but, int limit,
                             struct learned_items *out, struct error *e)
{
    struct query q = query_for(s, sessions_sql, project, e);
    query_text(&q, but);
    query_int(&q, limit > 0 ? limit : -1);
    while (query_next(&q)) {
        const char *id = (const char *)sqlite3_column_text(q.handle, 0);
        add_item(out, LEARNED_SESSION, id, summary_of(&q),
                 (const char *)sqlite3_column_text(q.handle, 6), sqlite3_column_int64(q.handle, 2));
        vec_last(&out->items).session_id = mem_strdup(id);
    }
    return query_end(&q);
}
