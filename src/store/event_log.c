#include "store/event_log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/sql.h"

/* Types that a later event repeats whole, and all others: as the indexes event_delta and
 * event_whole have them. */
#define EVENT_DELTAS "('text_delta', 'reasoning_delta', 'compaction_delta')"
#define EVENT_IS_WHOLE " AND type NOT IN " EVENT_DELTAS

/* An event whose type, version and payload are the columns from `first` on. */
static struct event *decode(const struct query *q, int first, struct error *e)
{
    const char *name = (const char *)sqlite3_column_text(q->handle, first);
    /* As a blob: sqlite3_column_text() copies a long text for the NUL behind it. */
    const void *bytes = sqlite3_column_blob(q->handle, first + 2);
    const char *payload = bytes ? bytes : "";
    size_t len = (size_t)sqlite3_column_bytes(q->handle, first + 2);
    enum event_type type;
    struct event *ev;
    if (!event_type_from_name(name, &type)) {
        err_set(e, ERR_SESSION_STORE_ERROR,
                "the log has an event of unknown type \"%.40s\"; use a newer tiro", name);
        return NULL;
    }
    struct error cause;
    int version = sqlite3_column_int(q->handle, first + 1);
    if (event_from_payload(type, version, payload, len, &ev, &cause))
        return ev;
    bool advised = strchr(cause.text, ';') != NULL; /* a version that is newer than this program */
    err_set(e, cause.code, "%s%s", cause.text, advised ? "" : " in the log; run 'tiro doctor'");
    return NULL;
}

struct event *event_row_read(const struct query *q, const char *session_id, struct error *e)
{
    struct event *ev = decode(q, 2, e);
    if (!ev)
        return NULL;
    ev->seq = sqlite3_column_int64(q->handle, 0);
    ev->wall_ms = sqlite3_column_int64(q->handle, 1);
    memcpy(ev->session_id, session_id, strnlen(session_id, UUID_LEN));
    return ev;
}

#define OF_SESSION " WHERE session = (SELECT key FROM session WHERE id = ?)"

static const char append_sql[] =
    "INSERT INTO event (session, seq, at, type, version, payload)"
    " SELECT key, ?2, ?3, ?4, ?5, ?6 FROM session WHERE id = ?1";
/* Calls of an imported session's tools, which this program does not have, become texts, and their
 * results are left out. */
static const char copy_sql[] =
    "INSERT INTO event (session, seq, at, type, version, payload)"
    " SELECT (SELECT key FROM session WHERE id = ?), e.seq, e.at,"
    " iif(s.imported IS NOT NULL AND json_valid(e.payload)"
    "  AND e.type IN ('tool_call_requested', 'tool_execution_completed'), 'text_complete', e.type),"
    " e.version, CASE WHEN s.imported IS NULL OR NOT json_valid(e.payload) THEN e.payload"
    " WHEN e.type = 'tool_call_requested' THEN json_object('content', '[' ||"
    "  json_extract(e.payload, '$.name') || ' ' || json_extract(e.payload, '$.args') || ']')"
    " WHEN e.type = 'tool_execution_completed' THEN json_object('content', '')"
    " ELSE e.payload END FROM session AS s JOIN event AS e ON e.session = s.key"
    " WHERE s.id = ? AND e.seq <= ?";
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
/* The number is a subquery: with HAVING, SQLite would read all events for it. */
static const char unkept_sql[] = "SELECT (SELECT max(seq) FROM event" OF_SESSION ") WHERE " OPENED(
    "run_started", RUN_ENDS) " OR " OPENED("compaction_started", RUN_ENDS
                                           ", 'compaction_completed', 'compaction_failed'");
static const char read_sql[] =
    "SELECT " EVENT_ROW " FROM event" OF_SESSION " AND seq > ? ORDER BY seq";
static const char read_whole_sql[] =
    "SELECT " EVENT_ROW " FROM event INDEXED BY event_whole" OF_SESSION
    " AND seq > ?" EVENT_IS_WHOLE " ORDER BY seq";
static const char part_sql[] = "SELECT rowid, at, type FROM event" OF_SESSION " AND seq = ?";
static const char said_sql[] = "SELECT " EVENT_ROW " FROM event INDEXED BY event_whole" OF_SESSION
                               " AND seq >= ?" EVENT_IS_WHOLE " ORDER BY seq";
/* struct log_event (chat/event.h) needs one fact of each payload. instr() finds it: a quote within
 * a JSON string is escaped, and SQLite keeps copies of the texts that its JSON functions have
 * parsed. */
static const char messages_sql[] =
    "SELECT seq, type, CASE type"
    " WHEN 'run_started' THEN"
    "  iif(instr(payload, '\"retries\":') AND json_valid(payload),"
    "      json_extract(payload, '$.retries'), 0)"
    " WHEN 'text_complete' THEN instr(payload, '\"content\":\"\"') > 0"
    " WHEN 'reasoning_complete' THEN instr(payload, '\"content\":\"\"') > 0"
    "  AND instr(replace(payload, '\"signature\":\"\"', ''), '\"signature\":') = 0"
    " WHEN 'conversation_rewound' THEN"
    "  iif(json_valid(payload), json_extract(payload, '$.message'), 0)"
    " WHEN 'compaction_started' THEN instr(payload, '\"trigger\":\"manual\"') > 0"
    " WHEN 'compaction_completed' THEN instr(payload, '\"trigger\":\"manual\"') > 0 END"
    " FROM event INDEXED BY event_whole" OF_SESSION EVENT_IS_WHOLE " ORDER BY seq";
static const char turns_sql[] =
    "SELECT seq, type = 'run_started', iif(json_valid(payload), ifnull(json_extract(payload, iif("
    "type = 'run_started', '$.retries', '$.message')), 0), 0)"
    " FROM event INDEXED BY event_whole" OF_SESSION EVENT_IS_WHOLE
    " AND type IN ('run_started', 'conversation_rewound') ORDER BY seq";
static const char standing_sql[] =
    "SELECT seq, type = 'run_started', iif(type <> 'conversation_rewound', 0, iif("
    "json_valid(payload), ifnull(json_extract(payload, '$.message'), seq), seq))"
    " FROM event INDEXED BY event_whole" OF_SESSION EVENT_IS_WHOLE
    " AND type IN ('run_started', 'text_complete', 'conversation_rewound') ORDER BY seq DESC";
static const char inputs_sql[] =
    "SELECT type, version, payload FROM event INDEXED BY event_input"
    " WHERE type = 'run_started' ORDER BY at DESC, session DESC, seq DESC";

bool event_log_fill(struct store *s, struct event *const *events, size_t count, struct error *e)
{
    bool began, ok = true;
    if (count == 0)
        return true;
    if (!store_step_begin(s, &began, e))
        return false;
    for (size_t i = 0; i < count && ok; i++) {
        const struct event *ev = events[i];
        auto_free char *payload = event_payload(ev);
        struct query q = sql_query(s, e, append_sql, "tiitit", ev->session_id, ev->seq, ev->wall_ms,
                                   event_name(ev->type), (int64_t)event_version(ev->type), payload);
        ok = query_run(&q);
        if ((q.fault & 0xff) == SQLITE_CONSTRAINT)
            err_set(e, ERR_SESSION_STORE_ERROR,
                    "another process wrote to session %s (event %lld is there); resume it again",
                    ev->session_id, (long long)ev->seq);
        else if (ok && sqlite3_changes(s->db) != 1)
            ok = err_set(e, ERR_SESSION_STORE_ERROR,
                         "session %s is not in the store; its %s is lost", ev->session_id,
                         event_name(ev->type));
    }
    return store_step_end(s, began, ok, e);
}

bool event_log_copy(struct store *s, const char *from, int64_t last, const char *to,
                    struct error *e)
{
    struct query q =
        sql_query(s, e, copy_sql, "tti", to, from, last > 0 ? last : (int64_t)INT64_MAX);
    bool ok = query_run(&q);
    if ((q.fault & 0xff) == SQLITE_CONSTRAINT)
        err_set(e, ERR_SESSION_STORE_ERROR, "session %s is not in the store, or has events already",
                to);
    return ok;
}

bool event_log_turn(struct store *s, const char *session_id, int64_t seq, int *turn,
                    struct error *e)
{
    int64_t count = 0;
    bool ok = sql_number(s, &count, e, turn_sql, "ti", session_id, seq);
    *turn = (int)count;
    return ok;
}

bool event_log_last(struct store *s, const char *session_id, int64_t *seq, struct error *e)
{
    *seq = 0;
    return sql_number(s, seq, e, last_sql, "t", session_id);
}

bool event_log_skip_told(struct store *s, const char *session_id, int64_t *seq, struct error *e)
{
    int64_t last = -1;
    if (!sql_number(s, &last, e, unkept_sql, "ttt", session_id, session_id, session_id))
        return false;
    if (last >= 0 && last + EVENT_LOG_UNKEPT > *seq)
        *seq = last + EVENT_LOG_UNKEPT;
    return true;
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

/* Bytes. A statement holds its row; behind a larger one it begins again, before the event is
 * visited. */
enum { LARGE_ROW = 1 << 20 };

static bool read_events(struct store *s, const char *sql, const char *session_id, int64_t after,
                        bool (*visit)(void *context, const struct event *ev), void *context,
                        struct error *e)
{
    struct query q = sql_query(s, e, sql, "ti", session_id, after);
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

bool event_log_read(struct store *s, const char *session_id, int64_t after,
                    bool (*visit)(void *context, const struct event *ev), void *context,
                    struct error *e)
{
    return read_events(s, read_sql, session_id, after, visit, context, e);
}

bool event_log_read_whole(struct store *s, const char *session_id, int64_t after,
                          bool (*visit)(void *context, const struct event *ev), void *context,
                          struct error *e)
{
    return read_events(s, read_whole_sql, session_id, after, visit, context, e);
}

/* A payload is not decoded before its size is known. */
bool event_log_page(struct store *s, const char *session_id, int64_t after, size_t limit,
                    size_t bytes, struct event_list *out, bool *more, int64_t *large,
                    struct error *e)
{
    struct query q = sql_query(s, e, read_sql, "ti", session_id, after);
    size_t sum = 0;
    bool ok = true;
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

bool event_log_part(struct store *s, const char *session_id, int64_t seq, size_t from, size_t most,
                    struct event_part *out, struct error *e)
{
    struct query q = sql_query(s, e, part_sql, "ti", session_id, seq);
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
    sqlite3_blob *blob = NULL;
    int fault = sqlite3_blob_open(s->db, "main", "event", "payload", row, 0, &blob);
    size_t size = fault == SQLITE_OK ? (size_t)sqlite3_blob_bytes(blob) : 0;
    size_t left = from < size ? size - from : 0, len = left < most ? left : most;
    char *text = out->text = mem_alloc(len + 1);
    if (left > 0) /* with the byte behind, which tells whether a character is cut */
        fault = sqlite3_blob_read(blob, text, (int)(len + (len < left)), (int)from);
    sqlite3_blob_close(blob);
    for (int i = 0; i < 3 && len < left && ((unsigned char)text[len] & 0xc0) == 0x80; i++)
        len--;
    for (size_t i = 0; i < len; i++)
        text[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    text[len] = '\0';
    out->next = len < left ? from + len : 0;
    return (fault == SQLITE_OK && left > 0) ||
           err_set(e, ERR_SESSION_STORE_ERROR, "an event cannot be read from byte %zu: %s", from,
                   fault == SQLITE_OK ? "it ends before that" : sqlite3_errmsg(s->db));
}

/* ---- messages ---- */

/* The events that begin a message, and those that have its texts. */
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

static bool begins_call(enum event_type type)
{
    return type == EVENT_CALL_STARTED || type == EVENT_TURN_STARTED;
}

bool event_log_said(struct store *s, const char *session_id, int64_t seq, struct said *out,
                    struct error *e)
{
    const struct saying *saying = NULL;
    struct said found = {0};
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct query q = sql_query(s, e, said_sql, "ti", session_id, seq);
    for (bool ends = false; !ends && query_next(&q);) {
        struct error malformed;
        struct event *ev = event_row_read(&q, session_id, &malformed);
        if (!ev)
            continue;
        if (ev->seq == seq) {
            for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++)
                if (sayings[i].begins == ev->type)
                    saying = &sayings[i];
            found.origin = ev->origin;
            found.wall_ms = ev->wall_ms;
        }
        ends = !saying || (ev->seq != seq && begins_call(ev->type));
        if (!ends && ev->type == saying->says && ev->text && *ev->text)
            buf_addf(&text, "%s%s", text.len > 0 ? "\n\n" : "", ev->text);
        event_free(ev);
    }
    bool ok = query_end(&q);
    *out = (struct said){0};
    if (ok && saying)
        *out = (struct said){saying->role, found.origin, found.wall_ms, buf_take(&text)};
    return ok;
}

static bool undone_has(const struct undone_list *l, int64_t seq)
{
    for (size_t i = 0; i < l->items.len; i++)
        if (l->items.items[i].of == seq)
            return true;
    return false;
}

bool event_log_messages(struct store *s, const char *session_id, struct log_messages *out,
                        struct error *e)
{
    struct undone_list undone;
    *out = (struct log_messages){0};
    if (!event_log_undone(s, session_id, &undone, e))
        return false;
    struct query q = sql_query(s, e, messages_sql, "t", session_id);
    while (query_next(&q)) {
        struct log_event ev = {.seq = sqlite3_column_int64(q.handle, 0)};
        int64_t detail = sqlite3_column_int64(q.handle, 2);
        if (!event_type_from_name((const char *)sqlite3_column_text(q.handle, 1), &ev.type))
            continue;
        bool rewinds = ev.type == EVENT_REWOUND && !undone_has(&undone, ev.seq);
        ev.retries = ev.type == EVENT_TURN_STARTED || rewinds ? detail : 0;
        ev.is_empty =
            (ev.type == EVENT_TEXT_COMPLETE || ev.type == EVENT_REASONING_COMPLETE) && detail != 0;
        ev.between_turns =
            ev.type == EVENT_COMPACTION_UNDONE || ev.type == EVENT_REWOUND ||
            ev.type == EVENT_REWIND_UNDONE || ev.type == EVENT_FILE_RESTORED ||
            ((ev.type == EVENT_COMPACTION_STARTED || ev.type == EVENT_COMPACTION_COMPLETED) &&
             detail != 0);
        log_messages_apply(out, &ev);
    }
    vec_release(&undone.items);
    bool ok = query_end(&q);
    if (!ok)
        log_messages_release(out);
    return ok;
}

/* Newest first: an event is rewound if a rewind behind it goes back to it or beyond. */
bool event_log_standing(struct store *s, const char *session_id, int64_t *messages, int *turns,
                        struct error *e)
{
    struct undone_list undone;
    int64_t low = INT64_MAX;
    if (!event_log_undone(s, session_id, &undone, e))
        return false;
    *messages = *turns = 0;
    struct query q = sql_query(s, e, standing_sql, "t", session_id);
    while (query_next(&q)) {
        int64_t seq = sqlite3_column_int64(q.handle, 0), back = sqlite3_column_int64(q.handle, 2);
        if (back > 0 && back < low && !undone_has(&undone, seq))
            low = back;
        *messages += back == 0 && seq < low;
        *turns += sqlite3_column_int(q.handle, 1) && seq < low;
    }
    vec_release(&undone.items);
    return query_end(&q);
}

bool event_log_turns(struct store *s, const char *session_id, struct event_turns *out,
                     struct error *e)
{
    struct undone_list undone;
    *out = (struct event_turns){0};
    if (!event_log_undone(s, session_id, &undone, e))
        return false;
    struct query q = sql_query(s, e, turns_sql, "t", session_id);
    while (query_next(&q)) {
        int64_t seq = sqlite3_column_int64(q.handle, 0), back = sqlite3_column_int64(q.handle, 2);
        bool begins = sqlite3_column_int(q.handle, 1) != 0;
        struct event_turn turn = {.seq = seq, .from = seq};
        if (out->items.len > 0 && vec_last(&out->items).last == 0)
            vec_last(&out->items).last = seq - 1;
        if (!begins && undone_has(&undone, seq))
            continue;
        for (; back > 0 && out->items.len > 0 && vec_last(&out->items).seq >= back;
             out->items.len--)
            turn.from = vec_last(&out->items).from;
        if (begins)
            vec_push(&out->items, turn);
    }
    vec_release(&undone.items);
    bool ok = query_end(&q);
    if (!ok)
        vec_release(&out->items);
    return ok;
}

bool event_log_nth_turn(struct store *s, const char *session_id, int64_t number,
                        struct event_turn *out, struct error *e)
{
    struct event_turns turns;
    *out = (struct event_turn){0};
    if (!event_log_turns(s, session_id, &turns, e))
        return false;
    size_t count = turns.items.len, at = number > 0 ? (size_t)number : count;
    if (number >= 0 && at > 0 && at <= count)
        *out = turns.items.items[at - 1];
    vec_release(&turns.items);
    return out->seq > 0 || err_set(e, ERR_MESSAGE_NOT_SENT,
                                   "give the number of one of your messages, from 1 to %zu", count);
}

struct result_search {
    const char *id;
    char *text;
};

/* Results come before the next model call begins. */
static bool take_result(void *search, const struct event *ev)
{
    struct result_search *s = search;
    if (begins_call(ev->type))
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

bool event_log_inputs(struct store *s, int limit, struct text_list *out, struct error *e)
{
    *out = (struct text_list){0};
    struct query q = sql_query(s, e, inputs_sql, "");
    bool ok = true;
    while (ok && (int64_t)out->items.len < limit && query_next(&q)) {
        struct event *ev = decode(&q, 0, e);
        ok = ev;
        bool wanted = ok && *ev->text;
        for (size_t i = 0; wanted && i < out->items.len; i++)
            wanted = strcmp(out->items.items[i], ev->text) != 0;
        if (wanted) {
            vec_push(&out->items, ev->text);
            ev->text = NULL;
        }
        event_free(ev);
    }
    ok = query_end(&q) && ok;
    if (!ok)
        vec_free_each(&out->items);
    return ok;
}

/* ---- compactions ---- */

#define OF_SESSION_1 " WHERE session = (SELECT key FROM session WHERE id = ?1)"
#define INDEXED /* as the index has it */                                                          \
    " AND type IN ('compaction_completed', 'compaction_undone', 'rewind_undone')"
#define UNDONE                                                                                     \
    " FROM event INDEXED BY event_compaction" OF_SESSION_1                                         \
    " AND type IN ('compaction_undone', 'rewind_undone')" INDEXED                                  \
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
    struct query q = sql_query(s, e, undone_sql, "t", session_id);
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
    struct query q = sql_query(s, e, summary_sql, "t", session_id);
    if (query_next(&q))
        *text = query_column_text(&q, 0);
    return query_end(&q);
}

bool event_log_summaries(struct store *s, const char *session_id,
                         void (*visit)(void *context, int64_t seq, const char *summary),
                         void *context, struct error *e)
{
    struct query q = sql_query(s, e, summaries_sql, "t", session_id);
    while (query_next(&q)) {
        const char *summary = (const char *)sqlite3_column_text(q.handle, 1);
        if (summary)
            visit(context, sqlite3_column_int64(q.handle, 0), summary);
    }
    return query_end(&q);
}

#define TAIL_ROW "SELECT " EVENT_ROW " FROM event "
#define IS_DELTA " AND type IN " EVENT_DELTAS

/* ---- the end of a log ---- */

static const char whole_before_sql[] = TAIL_ROW
    "INDEXED BY event_whole" OF_SESSION " AND seq < ?" EVENT_IS_WHOLE " ORDER BY seq DESC LIMIT ?";
static const char types_from_sql[] = "SELECT type FROM event INDEXED BY event_whole" OF_SESSION
                                     " AND seq >= ?" EVENT_IS_WHOLE " ORDER BY seq";
static const char deltas_sql[] =
    TAIL_ROW "INDEXED BY event_delta" OF_SESSION " AND type = ? AND seq > ? AND seq < ?" IS_DELTA
             " ORDER BY seq DESC LIMIT ?";

/* …_done: a later event of the same model call or compaction has the whole text. */
struct tail {
    struct store *store;
    const char *session_id;
    size_t limit; /* of events, one more than asked for */
    size_t bytes; /* of payloads; 0: any number */
    bool full;    /* older whole events were left out for their size */
    bool text_done, reasoning_done, summary_done;
    struct event_list found; /* unordered */
};

static bool collect(struct tail *t, struct query *q, struct error *e)
{
    bool ok = true;
    size_t sum = 0;
    while (ok && query_next(q)) {
        sum += (size_t)sqlite3_column_bytes(q->handle, 4);
        if (t->bytes > 0 && sum > t->bytes && t->found.items.len > 0) {
            t->full = true;
            break;
        }
        struct event *ev = event_row_read(q, t->session_id, e);
        ok = ev;
        if (ok)
            vec_push(&t->found.items, ev);
    }
    return query_end(q) && ok;
}

static bool collect_deltas(struct tail *t, enum event_type type, int64_t after, int64_t before,
                           struct error *e)
{
    struct query q = sql_query(t->store, e, deltas_sql, "ttiii", t->session_id, event_name(type),
                               after, before, (int64_t)t->limit);
    return collect(t, &q, e);
}

/* The events between two neighbouring whole events are deltas. */
static bool collect_gap(struct tail *t, int64_t after, int64_t before, struct error *e)
{
    if (before - after < 2)
        return true;
    return (t->text_done || collect_deltas(t, EVENT_TEXT_DELTA, after, before, e)) &&
           (t->reasoning_done || collect_deltas(t, EVENT_REASONING_DELTA, after, before, e)) &&
           (t->summary_done || collect_deltas(t, EVENT_COMPACTION_DELTA, after, before, e));
}

static void note_texts(struct tail *t, enum event_type type)
{
    t->text_done = t->text_done || type == EVENT_TEXT_COMPLETE;
    t->reasoning_done = t->reasoning_done || type == EVENT_REASONING_COMPLETE;
}

/* Reads whole events, then the deltas between them until there are enough events. */
static bool collect_tail(struct tail *t, int64_t before, struct error *e)
{
    /* The model call or compaction that `before` is in may be completed behind it. */
    bool another = false; /* compaction has begun */
    enum event_type type;
    struct query q = sql_query(t->store, e, types_from_sql, "ti", t->session_id, before);
    while (query_next(&q) &&
           event_type_from_name((const char *)sqlite3_column_text(q.handle, 0), &type) &&
           !begins_call(type)) {
        bool ends = type == EVENT_COMPACTION_COMPLETED || type == EVENT_COMPACTION_FAILED;
        note_texts(t, type);
        another = another || type == EVENT_COMPACTION_STARTED;
        t->summary_done = t->summary_done || (!another && ends);
    }
    if (!query_end(&q))
        return false;
    q = sql_query(t->store, e, whole_before_sql, "tii", t->session_id, before, (int64_t)t->limit);
    if (!collect(t, &q, e))
        return false;

    size_t whole = t->found.items.len;
    t->bytes = 0; /* deltas are left out only together with what stands before them */
    for (size_t i = 0; i < whole; i++) {
        const struct event *ev = t->found.items.items[i];
        type = ev->type;
        if (!collect_gap(t, ev->seq, before, e))
            return false;
        size_t deltas = t->found.items.len - whole;
        if (deltas + i + 1 >= t->limit)
            return true;
        before = ev->seq;
        if (begins_call(type))
            t->text_done = t->reasoning_done = false;
        if (begins_call(type) || type == EVENT_COMPACTION_STARTED)
            t->summary_done = false;
        if (type == EVENT_COMPACTION_COMPLETED || type == EVENT_COMPACTION_FAILED)
            t->summary_done = true;
        note_texts(t, type);
    }
    return t->full || collect_gap(t, 0, before, e);
}

static int by_seq(const void *a, const void *b)
{
    int64_t left = (*(struct event *const *)a)->seq;
    int64_t right = (*(struct event *const *)b)->seq;
    return (left > right) - (left < right);
}

bool event_log_tail(struct store *s, const char *session_id, int64_t before, int limit,
                    size_t bytes, struct event_list *out, bool *more, struct error *e)
{
    assert(limit > 0);
    struct tail t = {
        .store = s, .session_id = session_id, .limit = (size_t)limit + 1, .bytes = bytes};
    *out = (struct event_list){0};
    *more = false;
    if (!collect_tail(&t, before > 0 ? before : INT64_MAX, e)) {
        event_list_release(&t.found);
        return false;
    }
    *out = t.found;
    vec_sort(&out->items, by_seq);
    /* Surplus events are dropped, and those before the first run_started. */
    size_t drop = out->items.len > (size_t)limit ? out->items.len - (size_t)limit : 0, first = drop;
    while (first < out->items.len && out->items.items[first]->type != EVENT_TURN_STARTED)
        first++;
    if (first < out->items.len)
        drop = first;
    for (size_t i = 0; i < drop; i++)
        event_free(out->items.items[i]);
    vec_remove(&out->items, 0, drop);
    *more = drop > 0 || t.full;
    return true;
}
