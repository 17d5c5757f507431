#include "knowledge/session_digest.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "memory/content.h"
#include "store/event_log.h"
#include "store/sql.h"

/* --- following the log ------------------------------------------------------------------------ */

/* A call without a result. */
struct call {
    char *id, *parameters;
};

struct digest {
    struct store *store;
    const char *session;
    int64_t seq, turns, updated_ms;
    char *request, *response, *tools; /* tools: "grep, read" */
    VEC(struct call) open;
    struct error *error;
    bool typed; /* the message of the turn, or a part of it, was typed */
    bool failed;
};

static void digest_release(struct digest *d)
{
    for (size_t i = 0; i < d->open.len; i++) {
        free(d->open.items[i].id);
        free(d->open.items[i].parameters);
    }
    vec_release(&d->open);
    free(d->request);
    free(d->response);
    free(d->tools);
}

/* One line of at most DIGEST_REQUEST_BYTES, without secrets. The caller frees. */
static char *line_of(const char *text)
{
    AUTO(buf_release) struct buf masked = BUF_INIT, clean = BUF_INIT;
    struct buf out = BUF_INIT;
    (void)secrets_mask(&masked, text, strlen(text));
    utf8_clean(&clean, masked.data, masked.len, UTF8_ONE_LINE);
    utf8_add_cut(&out, clean.data, clean.len, DIGEST_REQUEST_BYTES);
    return buf_take(&out);
}

/* The names of the arguments, in order: "path, recursive". The caller frees. */
static char *parameters_of(const char *args)
{
    AUTO(vec_release_local) VEC(const char *) names = {0};
    struct buf out = BUF_INIT;
    struct json *v = args ? json_parse_foreign(args, strlen(args), NULL) : NULL;
    if (json_type(v) == JSON_OBJECT)
        for (const struct json *m = json_first(v); m; m = json_next(m))
            vec_push(&names, json_name(m));
    vec_sort(&names, vec_text_order);
    for (size_t i = 0; i < names.len; i++)
        buf_addf(&out, "%s%s", i > 0 ? ", " : "", names.items[i]);
    json_free(v);
    return buf_take(&out);
}

/* A call that was not allowed says nothing of the tool. */
static bool close_call(struct digest *d, const struct event *ev)
{
    for (size_t i = d->open.len; ev->id && i-- > 0;) {
        const struct call *c = &d->open.items[i];
        if (!c->id || strcmp(c->id, ev->id) != 0)
            continue;
        auto_free char *id = c->id, *parameters = c->parameters;
        vec_remove(&d->open, i, 1);
        if (ev->denied)
            return true;
        bool known = false; /* as a whole word of d->tools */
        size_t len = strlen(ev->name);
        for (const char *at = d->tools; at && !known && (at = strstr(at, ev->name)); at += len)
            known = (at == d->tools || at[-1] == ' ') && (at[len] == ',' || at[len] == '\0');
        char *tools = mem_printf("%s%s%s", d->tools ? d->tools : "", d->tools && !known ? ", " : "",
                                 known ? "" : ev->name);
        free(d->tools);
        d->tools = tools;
        return sql_exec(
            d->store, d->error,
            "INSERT INTO learned_tool (session, tool, shape, calls, succeeded, last_ms)"
            " VALUES (?1, ?2, ?3, 1, ?4, ?5) ON CONFLICT (session, tool, shape) DO UPDATE SET"
            " calls = calls + 1, succeeded = succeeded + excluded.succeeded,"
            " last_ms = excluded.last_ms",
            "tttii", d->session, ev->name, parameters, (int64_t)!ev->flag, ev->wall_ms);
    }
    return true;
}

/* Later sessions are told of typed messages and the answers to them. After a crash the digest may
 * go on in the middle of a turn: that turn's answer is left out. */
static bool take_event(void *context, const struct event *ev)
{
    struct digest *d = context;
    if (ev->type == EVENT_TURN_STARTED) {
        bool typed = ev->origin == INPUT_TYPED && ev->text;
        const char *text = typed ? attached_files_end(ev->text) : "";
        d->turns += ev->number == 0; /* a turn that is sent again has a number */
        d->typed = *text;
        if (!d->request && *text)
            d->request = line_of(text);
    } else if (ev->type == EVENT_TOOL_CALL_REQUESTED) {
        vec_push(&d->open, (struct call){mem_strdup(ev->id), parameters_of(ev->text)});
    } else if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED && ev->name) {
        d->failed = !close_call(d, ev);
    } else if (ev->type == EVENT_TURN_COMPLETED && ev->text && d->typed) {
        free(d->response);
        d->response = line_of(ev->text);
    }
    d->seq = ev->seq;
    d->updated_ms = ev->wall_ms;
    return !d->failed;
}

bool session_digest_follow(struct store *s, const char *session_id, const char *project,
                           struct error *e)
{
    AUTO(digest_release) struct digest d = {.store = s, .session = session_id, .error = e};
    bool began;
    if (!store_step_begin(s, &began, e))
        return false;
    struct query q = sql_query(s, e,
                               "SELECT seq, turns, updated_ms, request, response, tools"
                               " FROM learned_session WHERE session = ?",
                               "t", session_id);
    if (query_next(&q)) {
        d.seq = sqlite3_column_int64(q.handle, 0);
        d.turns = sqlite3_column_int64(q.handle, 1);
        d.updated_ms = sqlite3_column_int64(q.handle, 2);
        d.request = query_column_text(&q, 3);
        d.response = query_column_text(&q, 4);
        d.tools = query_column_text(&q, 5);
    }
    bool ok = query_end(&q) && event_log_read_whole(s, session_id, d.seq, take_event, &d, e) &&
              !d.failed &&
              sql_exec(s, e,
                       "INSERT OR REPLACE INTO learned_session"
                       " (session, project, seq, turns, updated_ms, request, response, tools)"
                       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                       "ttiiittt", session_id, project, d.seq, d.turns, d.updated_ms, d.request,
                       d.response, d.tools);
    return store_step_end(s, began, ok, e);
}

/* --- items ------------------------------------------------------------------------------------ */

/* Takes the text. */
static void add_item(struct learned_items *out, enum learned_kind kind, const char *id, char *text,
                     const char *project, int64_t at)
{
    vec_push(&out->items, (struct learned_item){.id = mem_strdup(id),
                                                .scope = learned_scope_of(kind),
                                                .kind = kind,
                                                .state = LEARNED_ACTIVE,
                                                .origin = LEARNED_LOGGED,
                                                .text = text,
                                                .project = mem_strdup(project),
                                                .created_ms = at,
                                                .changed_ms = at});
}

bool session_digest_tools(struct store *s, const char *project, struct learned_items *out,
                          struct error *e)
{
    struct query q = sql_query(
        s, e,
        "SELECT tool, shape, sum(calls), sum(succeeded), max(last_ms) FROM learned_tool"
        " JOIN learned_session USING (session) WHERE ?1 IS NULL OR project = ?1 GROUP BY tool,"
        " shape HAVING sum(calls) >= ?2 ORDER BY sum(calls) DESC, tool, shape",
        "ti", project, (int64_t)DIGEST_TOOL_CALLS_LEAST);
    while (query_next(&q)) {
        int64_t calls = sqlite3_column_int64(q.handle, 2);
        auto_free char *name = mem_printf("%s(%s)", (const char *)sqlite3_column_text(q.handle, 0),
                                          (const char *)sqlite3_column_text(q.handle, 1));
        char *text = mem_printf("%s: used %lld times, %lld %% success", name, (long long)calls,
                                (long long)(sqlite3_column_int64(q.handle, 3) * 100 / calls));
        add_item(out, LEARNED_USAGE, name, text, project, sqlite3_column_int64(q.handle, 4));
    }
    return query_end(&q);
}

static void add_characters(struct buf *out, const char *text, size_t most)
{
    size_t len = strlen(text), end = utf8_cut_points(text, len, most);
    buf_add(out, text, end);
    if (end < len)
        buf_addstr(out, "…");
}

static char *summary_of(int64_t turns, const char *request, const char *response, const char *tools)
{
    AUTO(buf_release) struct buf whole = BUF_INIT;
    struct buf out = BUF_INIT;
    buf_addf(&whole, "%lld %s", (long long)turns, turns == 1 ? "turn" : "turns");
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
    return buf_take(&out);
}

bool session_digest_sessions(struct store *s, const char *project, const char *but, int limit,
                             struct learned_items *out, struct error *e)
{
    struct query q = sql_query(
        s, e,
        "SELECT session, turns, updated_ms, request, response, tools, project FROM learned_session"
        " WHERE (?1 IS NULL OR project = ?1) AND session IS NOT ?2 AND turns > 0"
        " ORDER BY updated_ms DESC, session DESC LIMIT ?3",
        "tti", project, but, (int64_t)(limit > 0 ? limit : -1));
    while (query_next(&q)) {
        const char *id = (const char *)sqlite3_column_text(q.handle, 0);
        char *text = summary_of(sqlite3_column_int64(q.handle, 1),
                                (const char *)sqlite3_column_text(q.handle, 3),
                                (const char *)sqlite3_column_text(q.handle, 4),
                                (const char *)sqlite3_column_text(q.handle, 5));
        add_item(out, LEARNED_SESSION, id, text, (const char *)sqlite3_column_text(q.handle, 6),
                 sqlite3_column_int64(q.handle, 2));
        vec_last(&out->items).session_id = mem_strdup(id);
    }
    return query_end(&q);
}
