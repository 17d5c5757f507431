#include "store/event_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/event_row.h"
#include "store/sql.h"

#define OF_SESSION " WHERE session = (SELECT key FROM session WHERE id = ?)"

static const char append_sql[] =
    "INSERT INTO event (session, seq, at, type, version, payload)"
    " SELECT key, ?2, ?3, ?4, ?5, ?6 FROM session WHERE id = ?1";
static const char copy_sql[] =
    "INSERT INTO event (session, seq, at, type, version, payload)"
    " SELECT (SELECT key FROM session WHERE id = ?), seq, at, type, version, payload"
    " FROM event" OF_SESSION " AND seq <= ?";
static const char last_sql[] = "SELECT max(seq) FROM event" OF_SESSION;
static const char turn_sql[] =
    "SELECT count(*) FROM event" OF_SESSION
    " AND seq < ? AND type = 'run_started'"
    " AND json_valid(payload) AND ifnull(json_extract(payload, '$.retries'), 0) = 0";
static const char time_sql[] =
    "SELECT at FROM event" OF_SESSION " AND seq >= ? ORDER BY seq LIMIT 1";
static const char read_sql[] =
    "SELECT " EVENT_ROW " FROM event" OF_SESSION " AND seq > ? ORDER BY seq";
static const char inputs_sql[] =
    "SELECT type, version, payload FROM event INDEXED BY event_input"
    " WHERE type = 'run_started' ORDER BY at DESC, session DESC, seq DESC";

void event_list_release(struct event_list *l)
{
    for (size_t i = 0; i < l->items.len; i++)
        event_free(l->items.items[i]);
    vec_release(&l->items);
}

void text_list_release(struct text_list *l)
{
    vec_free_each(&l->items);
}

/* The row went into no session, or its number was taken. */
static bool refused(const struct event *ev, int result, struct store *s, struct error *e)
{
    if (result == SQLITE_DONE)
        return err_set(e, ERR_SESSION_STORE_ERROR, "session %s is not in the store; its %s is lost",
                       ev->session_id, event_name(ev->type));
    if ((result & 0xff) == SQLITE_CONSTRAINT)
        return err_set(e, ERR_SESSION_STORE_ERROR,
                       "another process wrote to session %s (event %lld is there); resume it again",
                       ev->session_id, (long long)ev->seq);
    return store_fault(s, result, e);
}

static bool append_row(struct store *s, const struct event *ev, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, append_sql, e))
        return false;
    char *payload = event_payload(ev);
    query_text(&q, ev->session_id);
    query_int(&q, ev->seq);
    query_int(&q, ev->wall_ms);
    query_text(&q, event_name(ev->type));
    query_int(&q, event_version(ev->type));
    query_text(&q, payload);
    int result = q.fault == SQLITE_OK ? sqlite3_step(q.handle) : q.fault;
    bool ok = result == SQLITE_DONE && sqlite3_changes(s->db) == 1;
    if (!ok)
        refused(ev, result, s, e);
    query_end(&q);
    free(payload);
    return ok;
}

bool event_log_append(struct store *s, const struct event *ev, struct error *e)
{
    return append_row(s, ev, e);
}

static bool append_rows(struct store *s, struct event *const *events, size_t count, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = append_row(s, events[i], e);
    return ok;
}

bool event_log_fill(struct store *s, struct event *const *events, size_t count, struct error *e)
{
    bool began;
    return count == 0 || (store_step_begin(s, &began, e) &&
                          store_step_end(s, began, append_rows(s, events, count, e), e));
}

bool event_log_copy(struct store *s, const char *from, int64_t last, const char *to,
                    struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, copy_sql, e))
        return false;
    query_text(&q, to);
    query_text(&q, from);
    query_int(&q, last > 0 ? last : INT64_MAX);
    int result = q.fault == SQLITE_OK ? sqlite3_step(q.handle) : q.fault;
    bool ok = result == SQLITE_DONE;
    if ((result & 0xff) == SQLITE_CONSTRAINT)
        err_set(e, ERR_SESSION_STORE_ERROR, "session %s is not in the store, or has events already",
                to);
    else if (!ok)
        store_fault(s, result, e);
    query_end(&q);
    return ok;
}

bool event_log_turn(struct store *s, const char *session_id, int64_t seq, int *turn,
                    struct error *e)
{
    struct query q;
    *turn = 0;
    if (!query_begin(&q, s, turn_sql, e))
        return false;
    query_text(&q, session_id);
    query_int(&q, seq);
    enum query_result result = query_step(&q, e);
    if (result == QUERY_ROW)
        *turn = sqlite3_column_int(q.handle, 0);
    query_end(&q);
    return result != QUERY_FAILED;
}

bool event_log_last(struct store *s, const char *session_id, int64_t *seq, struct error *e)
{
    struct query q;
    *seq = 0;
    if (!query_begin(&q, s, last_sql, e))
        return false;
    query_text(&q, session_id);
    return query_number(&q, seq, e);
}

bool event_log_time(struct store *s, const char *session_id, int64_t seq, int64_t *wall_ms,
                    struct error *e)
{
    struct query q;
    *wall_ms = 0;
    if (!query_begin(&q, s, time_sql, e))
        return false;
    query_text(&q, session_id);
    query_int(&q, seq);
    return query_number(&q, wall_ms, e);
}

bool event_log_read(struct store *s, const char *session_id, int64_t after,
                    bool (*visit)(void *context, const struct event *ev), void *context,
                    struct error *e)
{
    struct query q;
    enum query_result result;
    if (!query_begin(&q, s, read_sql, e))
        return false;
    query_text(&q, session_id);
    query_int(&q, after);
    bool ok = true;
    bool go_on = true;
    while (ok && go_on && (result = query_step(&q, e)) != QUERY_DONE) {
        struct event *ev = result == QUERY_ROW ? event_row_read(&q, session_id, e) : NULL;
        ok = ev;
        go_on = ok && visit(context, ev);
        event_free(ev);
    }
    query_end(&q);
    return ok;
}

struct result_search {
    const char *id;
    char *text;
};

/* Results are told before the next model call begins. */
static bool take_result(void *search, const struct event *ev)
{
    struct result_search *s = search;
    if (ev->type == EVENT_CALL_STARTED || ev->type == EVENT_TURN_STARTED)
        return false;
    if (ev->type != EVENT_TOOL_EXECUTION_COMPLETED || !ev->id || strcmp(ev->id, s->id) != 0)
        return true;
    s->text = mem_strdup(ev->text);
    return false;
}

bool event_log_tool_result(struct store *s, const char *session_id, int64_t seq, const char *id,
                           char **text, struct error *e)
{
    struct result_search search = {.id = id ? id : ""};
    bool ok = event_log_read(s, session_id, seq - 1, take_result, &search, e);
    *text = search.text;
    return ok;
}

static bool contains(const struct text_list *l, const char *text)
{
    for (size_t i = 0; i < l->items.len; i++)
        if (strcmp(l->items.items[i], text) == 0)
            return true;
    return false;
}

static bool add_input(const struct query *q, struct text_list *out, struct error *e)
{
    struct event *ev = event_row_decode(q, 0, e);
    if (!ev)
        return false;
    if (*ev->text && !contains(out, ev->text)) {
        vec_push(&out->items, ev->text);
        ev->text = NULL;
    }
    event_free(ev);
    return true;
}

bool event_log_inputs(struct store *s, int limit, struct text_list *out, struct error *e)
{
    struct query q;
    enum query_result result = QUERY_DONE;
    *out = (struct text_list){0};
    if (!query_begin(&q, s, inputs_sql, e))
        return false;
    bool ok = true;
    while (ok && (int64_t)out->items.len < limit && (result = query_step(&q, e)) == QUERY_ROW)
        ok = add_input(&q, out, e);
    query_end(&q);
    ok = ok && result != QUERY_FAILED;
    if (!ok)
        text_list_release(out);
    return ok;
}
