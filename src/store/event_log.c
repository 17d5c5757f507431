#include "store/event_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
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
#define RUN_ENDS "'run_completed', 'run_failed', 'interrupted'"
/* Whether the newest event of these types is the first one, and the number of the newest event. */
#define OPENED(first, types)                                                                       \
    "ifnull((SELECT type = '" first                                                                \
    "' FROM event INDEXED BY event_whole" OF_SESSION EVENT_IS_WHOLE " AND type IN ('" first        \
    "', " types ") ORDER BY seq DESC LIMIT 1), 0)"
static const char unkept_sql[] = "SELECT max(seq) FROM event" OF_SESSION " HAVING " OPENED(
    "run_started", RUN_ENDS) " OR " OPENED("compaction_started", RUN_ENDS
                                           ", 'compaction_completed', 'compaction_failed'");
static const char time_sql[] =
    "SELECT at FROM event" OF_SESSION " AND seq >= ? ORDER BY seq LIMIT 1";
static const char read_sql[] =
    "SELECT " EVENT_ROW " FROM event" OF_SESSION " AND seq > ? ORDER BY seq";
static const char part_sql[] = "SELECT rowid, at, type FROM event" OF_SESSION " AND seq = ?";
static const char said_sql[] = "SELECT " EVENT_ROW " FROM event INDEXED BY event_whole" OF_SESSION
                               " AND seq >= ?" EVENT_IS_WHOLE " ORDER BY seq";
/* chat/log_messages.h needs one fact of each payload. instr() finds it: a quote within a JSON
 * string is escaped, and SQLite keeps copies of the texts that its JSON functions have parsed. */
static const char messages_sql[] =
    "SELECT seq, type, CASE type"
    " WHEN 'run_started' THEN"
    "  iif(instr(payload, '\"retries\":') AND json_valid(payload),"
    "      json_extract(payload, '$.retries'), 0)"
    " WHEN 'text_complete' THEN instr(payload, '\"content\":\"\"') > 0"
    " WHEN 'reasoning_complete' THEN instr(payload, '\"content\":\"\"') > 0"
    "  AND instr(replace(payload, '\"signature\":\"\"', ''), '\"signature\":') = 0"
    " WHEN 'compaction_started' THEN instr(payload, '\"trigger\":\"manual\"') > 0"
    " WHEN 'compaction_completed' THEN instr(payload, '\"trigger\":\"manual\"') > 0 END"
    " FROM event INDEXED BY event_whole" OF_SESSION EVENT_IS_WHOLE " ORDER BY seq";
static const char inputs_sql[] =
    "SELECT type, version, payload FROM event INDEXED BY event_input"
    " WHERE type = 'run_started' ORDER BY at DESC, session DESC, seq DESC";

static bool is_gone(const struct event *ev, struct error *e)
{
    return err_set(e, ERR_SESSION_STORE_ERROR, "session %s is not in the store; its %s is lost",
                   ev->session_id, event_name(ev->type));
}

static bool is_constraint(const struct query *q)
{
    return (q->fault & 0xff) == SQLITE_CONSTRAINT;
}

static bool is_refused(const struct query *q, const struct event *ev, struct error *e)
{
    if (is_constraint(q))
        err_set(e, ERR_SESSION_STORE_ERROR,
                "another process wrote to session %s (event %lld is there); resume it again",
                ev->session_id, (long long)ev->seq);
    return false;
}

bool event_log_append(struct store *s, const struct event *ev, struct error *e)
{
    struct query q = query_begin(s, append_sql, e);
    char *payload = event_payload(ev);
    query_text(&q, ev->session_id);
    query_int(&q, ev->seq);
    query_int(&q, ev->wall_ms);
    query_text(&q, event_name(ev->type));
    query_int(&q, event_version(ev->type));
    query_text(&q, payload);
    bool ok = query_run(&q);
    free(payload);
    return ok ? sqlite3_changes(s->db) == 1 || is_gone(ev, e) : is_refused(&q, ev, e);
}

static bool append_rows(struct store *s, struct event *const *events, size_t count, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = event_log_append(s, events[i], e);
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
    struct query q = query_for(s, copy_sql, to, e);
    query_text(&q, from);
    query_int(&q, last > 0 ? last : INT64_MAX);
    bool ok = query_run(&q);
    if (is_constraint(&q))
        err_set(e, ERR_SESSION_STORE_ERROR, "session %s is not in the store, or has events already",
                to);
    return ok;
}

bool event_log_turn(struct store *s, const char *session_id, int64_t seq, int *turn,
                    struct error *e)
{
    *turn = 0;
    struct query q = query_for(s, turn_sql, session_id, e);
    query_int(&q, seq);
    if (query_next(&q))
        *turn = sqlite3_column_int(q.handle, 0);
    return query_end(&q);
}

bool event_log_last(struct store *s, const char *session_id, int64_t *seq, struct error *e)
{
    *seq = 0;
    struct query q = query_for(s, last_sql, session_id, e);
    return query_number(&q, seq);
}

bool event_log_skip_told(struct store *s, const char *session_id, int64_t *seq, struct error *e)
{
    struct query q = query_for(s, unkept_sql, session_id, e);
    query_text(&q, session_id);
    query_text(&q, session_id);
    if (query_next(&q)) {
        int64_t told = sqlite3_column_int64(q.handle, 0) + EVENT_LOG_UNKEPT;
        if (told > *seq)
            *seq = told;
    }
    return query_end(&q);
}

bool event_log_was_told(struct store *s, const char *session_id, int64_t seq, struct error *e)
{
    int64_t last;
    if (!event_log_last(s, session_id, &last, e) || !event_log_skip_told(s, session_id, &last, e))
        return false;
    return seq <= last || err_set(e, ERR_EVENT_NOT_FOUND,
                                  "the session never told of an event %" PRId64
                                  "; read on behind one that it told of, up to %" PRId64,
                                  seq, last);
}

bool event_log_time(struct store *s, const char *session_id, int64_t seq, int64_t *wall_ms,
                    struct error *e)
{
    *wall_ms = 0;
    struct query q = query_for(s, time_sql, session_id, e);
    query_int(&q, seq);
    return query_number(&q, wall_ms);
}

/* Bytes. A statement holds its row; behind a larger one it begins again, before the event is
 * visited. */
enum { LARGE_ROW = 1 << 20 };

bool event_log_read(struct store *s, const char *session_id, int64_t after,
                    bool (*visit)(void *context, const struct event *ev), void *context,
                    struct error *e)
{
    struct query q = query_for(s, read_sql, session_id, e);
    query_int(&q, after);
    bool ok = true;
    for (bool go_on = true; go_on && query_next(&q);) {
        bool is_large = sqlite3_column_bytes(q.handle, 4) > LARGE_ROW;
        struct event *ev = event_row_read(&q, session_id, e);
        ok = ev;
        if (ok && is_large) {
            sqlite3_reset(q.handle);
            sqlite3_bind_int64(q.handle, 2, ev->seq);
        }
        go_on = ok && visit(context, ev);
        event_free(ev);
    }
    return query_end(&q) && ok;
}

/* What SQLite gives of the payload is not decoded before its size is known. */
bool event_log_page(struct store *s, const char *session_id, int64_t after, size_t limit,
                    size_t bytes, struct event_list *out, bool *more, int64_t *large,
                    struct error *e)
{
    struct query q = query_for(s, read_sql, session_id, e);
    size_t sum = 0;
    bool ok = true;
    query_int(&q, after);
    *more = false;
    while (ok && !*more && query_next(&q)) {
        size_t size = (size_t)sqlite3_column_bytes(q.handle, 4);
        enum event_type type;
        bool whole = event_type_from_name((const char *)sqlite3_column_text(q.handle, 2), &type) &&
                     !event_is_delta(type);
        bool is_large = large && whole && size > bytes;
        *more = is_large || out->items.len == limit || (out->items.len > 0 && sum + size > bytes);
        if (is_large && out->items.len < limit)
            *large = sqlite3_column_int64(q.handle, 0);
        struct event *ev = *more ? NULL : event_row_read(&q, session_id, e);
        ok = *more || ev;
        sum += size;
        if (ev)
            vec_push(&out->items, ev);
    }
    return query_end(&q) && ok;
}

static bool read_part(struct store *s, int64_t row, size_t from, size_t most,
                      struct event_part *out, struct error *e)
{
    sqlite3_blob *blob = NULL;
    int fault = sqlite3_blob_open(s->db, "main", "event", "payload", row, 0, &blob);
    size_t size = fault == SQLITE_OK ? (size_t)sqlite3_blob_bytes(blob) : 0;
    size_t left = from < size ? size - from : 0, len = left < most ? left : most;
    char *text = mem_alloc(len + 1);
    if (left > 0) /* with the byte behind, which tells whether a character is cut */
        fault = sqlite3_blob_read(blob, text, (int)(len + (len < left)), (int)from);
    sqlite3_blob_close(blob);
    for (int i = 0; i < 3 && len < left && ((unsigned char)text[len] & 0xc0) == 0x80; i++)
        len--;
    for (size_t i = 0; i < len; i++)
        text[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    text[len] = '\0';
    out->text = text;
    out->next = len < left ? from + len : 0;
    return (fault == SQLITE_OK && left > 0) ||
           err_set(e, ERR_SESSION_STORE_ERROR, "an event cannot be read from byte %zu: %s", from,
                   fault == SQLITE_OK ? "it ends before that" : sqlite3_errmsg(s->db));
}

bool event_log_part(struct store *s, const char *session_id, int64_t seq, size_t from, size_t most,
                    struct event_part *out, struct error *e)
{
    struct query q = query_for(s, part_sql, session_id, e);
    query_int(&q, seq);
    *out = (struct event_part){0};
    bool found = query_next(&q);
    int64_t row = found ? sqlite3_column_int64(q.handle, 0) : 0;
    bool known =
        found && event_type_from_name((const char *)sqlite3_column_text(q.handle, 2), &out->type);
    out->wall_ms = found ? sqlite3_column_int64(q.handle, 1) : 0;
    if (!query_end(&q))
        return false;
    if (!known)
        return err_set(e, ERR_SESSION_STORE_ERROR, "session %.40s has no event %lld that is known",
                       session_id, (long long)seq);
    return read_part(s, row, from, most, out, e);
}

/* ---- messages ---- */

/* Which events begin a message, and which say what it says. */
static const struct saying {
    enum event_type begins, says;
    enum role role;
} sayings[] = {
    {EVENT_TURN_STARTED, EVENT_TURN_STARTED, ROLE_USER},
    {EVENT_CALL_STARTED, EVENT_TEXT_COMPLETE, ROLE_ASSISTANT},
    {EVENT_TEXT_COMPLETE, EVENT_TEXT_COMPLETE, ROLE_ASSISTANT},
    {EVENT_REASONING_COMPLETE, EVENT_TEXT_COMPLETE, ROLE_ASSISTANT},
    {EVENT_TOOL_CALL_REQUESTED, EVENT_TEXT_COMPLETE, ROLE_ASSISTANT},
    {EVENT_TOOL_EXECUTION_COMPLETED, EVENT_TOOL_EXECUTION_COMPLETED, ROLE_TOOL},
};

static const struct saying *saying_of(const struct event *ev)
{
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++)
        if (sayings[i].begins == ev->type)
            return &sayings[i];
    return NULL;
}

struct said_search {
    int64_t seq;
    const struct saying *saying; /* NULL: the event that begins it was not met */
    enum input_origin origin;
    int64_t wall_ms;
    struct buf text;
};

/* A message ends before the next model call, or turn. */
static bool goes_on(const struct said_search *s, const struct event *ev)
{
    return ev->seq == s->seq ||
           (s->saying && ev->type != EVENT_CALL_STARTED && ev->type != EVENT_TURN_STARTED);
}

static bool take_said(struct said_search *s, const struct event *ev)
{
    if (!goes_on(s, ev))
        return false;
    if (ev->seq == s->seq) {
        s->saying = saying_of(ev);
        s->origin = ev->origin;
        s->wall_ms = ev->wall_ms;
    }
    if (s->saying && ev->type == s->saying->says && ev->text && *ev->text) {
        if (s->text.len > 0)
            buf_addstr(&s->text, "\n\n");
        buf_addstr(&s->text, ev->text);
    }
    return s->saying != NULL;
}

bool event_log_said(struct store *s, const char *session_id, int64_t seq, struct said *out,
                    struct error *e)
{
    struct said_search search = {.seq = seq, .text = BUF_INIT};
    struct query q = query_for(s, said_sql, session_id, e);
    query_int(&q, seq);
    struct error malformed;
    for (bool go_on = true; go_on && query_next(&q);) {
        struct event *ev = event_row_read(&q, session_id, &malformed);
        go_on = !ev || take_said(&search, ev);
        event_free(ev);
    }
    bool ok = query_end(&q);
    *out = (struct said){0};
    if (ok && search.saying)
        *out = (struct said){search.saying->role, search.origin, search.wall_ms,
                             buf_take(&search.text)};
    buf_release(&search.text);
    return ok;
}

static struct log_event read_log_event(const struct query *q)
{
    struct log_event ev = {.seq = sqlite3_column_int64(q->handle, 0), .type = EVENT_TYPE_COUNT};
    int64_t detail = sqlite3_column_int64(q->handle, 2);
    if (!event_type_from_name((const char *)sqlite3_column_text(q->handle, 1), &ev.type))
        return ev;
    ev.retries = ev.type == EVENT_TURN_STARTED ? detail : 0;
    ev.is_empty =
        (ev.type == EVENT_TEXT_COMPLETE || ev.type == EVENT_REASONING_COMPLETE) && detail != 0;
    ev.between_turns =
        ev.type == EVENT_COMPACTION_UNDONE ||
        ((ev.type == EVENT_COMPACTION_STARTED || ev.type == EVENT_COMPACTION_COMPLETED) &&
         detail != 0);
    return ev;
}

bool event_log_messages(struct store *s, const char *session_id, struct log_messages *out,
                        struct error *e)
{
    *out = (struct log_messages){0};
    struct query q = query_for(s, messages_sql, session_id, e);
    while (query_next(&q)) {
        const struct log_event ev = read_log_event(&q);
        if (ev.type != EVENT_TYPE_COUNT)
            log_messages_apply(out, &ev);
    }
    bool ok = query_end(&q);
    if (!ok)
        log_messages_release(out);
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
    *out = (struct text_list){0};
    struct query q = query_begin(s, inputs_sql, e);
    bool ok = true;
    while (ok && (int64_t)out->items.len < limit && query_next(&q))
        ok = add_input(&q, out, e);
    ok = query_end(&q) && ok;
    if (!ok)
        vec_free_each(&out->items);
    return ok;
}

/* ---- compactions ---- */

#define OF_SESSION_1 " WHERE session = (SELECT key FROM session WHERE id = ?1)"
#define INDEXED                                                                                    \
    " AND type IN ('compaction_completed', 'compaction_undone')" /* as the index has it */
#define UNDONE                                                                                     \
    " FROM event INDEXED BY event_compaction" OF_SESSION_1                                         \
    " AND type = 'compaction_undone'" INDEXED                                                      \
    " AND iif(json_valid(payload), json_type(payload, '$.of'), NULL) = 'integer'"                  \
    " AND json_extract(payload, '$.of') < seq"

static const char undone_sql[] = "SELECT json_extract(payload, '$.of'), seq" UNDONE " ORDER BY seq";
static const char summary_sql[] =
    "SELECT json_extract(payload, '$.summary') FROM event INDEXED BY event_compaction" OF_SESSION_1
    " AND type = 'compaction_completed'" INDEXED
    " AND seq NOT IN (SELECT json_extract(payload, '$.of')" UNDONE
    ") AND iif(json_valid(payload), json_type(payload, '$.summary'), NULL) = 'text'"
    " AND json_extract(payload, '$.summary') <> '' ORDER BY seq DESC LIMIT 1";

/* All of them, undone ones too: the log still has their summaries. */
static const char summaries_sql[] =
    "SELECT seq, json_extract(payload, '$.summary') FROM event INDEXED BY "
    "event_compaction" OF_SESSION_1 " AND type = 'compaction_completed'" INDEXED
    " AND iif(json_valid(payload), json_type(payload, '$.summary'), NULL) = 'text' ORDER BY seq";

bool event_log_undone(struct store *s, const char *session_id, struct undone_list *out,
                      struct error *e)
{
    *out = (struct undone_list){0};
    struct query q = query_for(s, undone_sql, session_id, e);
    while (query_next(&q))
        vec_push(&out->items, (struct undone){.of = sqlite3_column_int64(q.handle, 0),
                                              .seq = sqlite3_column_int64(q.handle, 1)});
    if (query_end(&q))
        return true;
    vec_release(&out->items);
    return false;
}

bool event_log_summary(struct store *s, const char *session_id, char **text, struct error *e)
{
    *text = NULL;
    struct query q = query_for(s, summary_sql, session_id, e);
    if (query_next(&q))
        *text = query_column_text(&q, 0);
    return query_end(&q);
}

bool event_log_summaries(struct store *s, const char *session_id,
                         void (*visit)(void *context, int64_t seq, const char *summary),
                         void *context, struct error *e)
{
    struct query q = query_for(s, summaries_sql, session_id, e);
    while (query_next(&q)) {
        const char *summary = (const char *)sqlite3_column_text(q.handle, 1);
        if (summary)
            visit(context, sqlite3_column_int64(q.handle, 0), summary);
    }
    return query_end(&q);
}
