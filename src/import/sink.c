#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "import/private.h"
#include "index/transcripts.h"
#include "memory/content.h"
#include "store/event_log.h"
#include "store/sessions.h"

/* A transaction ends after so many events, bytes, messages that were looked at, or milliseconds:
 * other programs write in between. */
enum { BATCH_EVENTS = 8192, BATCH_BYTES = 4 << 20, BATCH_LOOKED = 20000, BATCH_MS = 500 };

enum {
    RESULT_PART_BYTES = 1024, /* kept of each end of a tool's result */
    ARGUMENT_BYTES = 200,     /* of each argument */
    ARGUMENTS_BYTES = 2000,   /* of all */
    IDLE_MS = 60 * 60 * 1000  /* an open turn does not go on after that */
};

/* Stands for a user's message where a conversation goes on without one. */
#define WITHOUT_USER "…"

void import_sink_init(struct import_sink *k, struct store *s, const struct import_options *o)
{
    *k = (struct import_sink){
        .store = s, .options = o, .text = BUF_INIT, .masked = BUF_INIT, .usage = USAGE_UNKNOWN};
}

static void forget_turn(struct import_sink *k)
{
    for (size_t i = 0; i < k->tools.len; i++) {
        free(k->tools.items[i].id);
        free(k->tools.items[i].name);
    }
    vec_clear(&k->tools);
    mem_replace(&k->result, NULL);
    k->turn = k->answered = k->call = k->asked = false;
    k->calls = 0;
}

static void forget_batch(struct import_sink *k)
{
    for (size_t i = 0; i < k->batch.len; i++)
        event_free(k->batch.items[i]);
    vec_clear(&k->batch);
}

void import_sink_release(struct import_sink *k)
{
    forget_turn(k);
    forget_batch(k);
    vec_release(&k->tools);
    vec_release(&k->batch);
    vec_release(&k->dead);
    vec_release(&k->given);
    mem_replace(&k->model, NULL);
    mem_replace(&k->id, NULL);
    json_free(k->unknown);
    session_info_release(&k->info);
    buf_release(&k->text);
    buf_release(&k->masked);
}

bool import_all_branches(const struct import_sink *k)
{
    return k->options->branches;
}

/* --- the store -------------------------------------------------------------------------------- */

static int64_t hash_text(uint64_t hash, const char *text)
{
    return (int64_t)mem_hash(hash, text, strlen(text) + 1);
}

/* Ranges of events that were taken back. */
static bool load_dead(struct import_sink *k, struct error *e)
{
    struct query q = sql_query(k->store, e,
                               "SELECT json_extract(payload, '$.message'), seq FROM event"
                               " WHERE session = (SELECT key FROM session WHERE id = ?)"
                               " AND type = 'conversation_rewound' AND json_valid(payload)",
                               "t", k->info.id);
    while (query_next(&q))
        vec_push(&k->dead, (struct import_dead){sqlite3_column_int64(q.handle, 0),
                                                sqlite3_column_int64(q.handle, 1)});
    return query_end(&q);
}

static bool is_dead(const struct import_sink *k, int64_t seq)
{
    for (size_t i = 0; i < k->dead.len; i++)
        if (k->dead.items[i].from <= seq && seq < k->dead.items[i].before)
            return true;
    return false;
}

static bool load_known(struct import_sink *k, const char *id, struct import_known *out,
                       struct error *e)
{
    *out = (struct import_known){0};
    struct query q = sql_query(k->store, e,
                               "SELECT number, session, stamp, tip, messages, response, open,"
                               " deleted FROM import_conversation WHERE source = ? AND id = ?",
                               "tt", k->source->name, id);
    if (query_next(&q)) {
        const char *session = (const char *)sqlite3_column_text(q.handle, 1);
        out->number = sqlite3_column_int64(q.handle, 0);
        memcpy(out->session, session, strnlen(session, UUID_LEN));
        out->stamp = sqlite3_column_int64(q.handle, 2);
        out->tip = sqlite3_column_int64(q.handle, 3);
        out->messages = sqlite3_column_int64(q.handle, 4);
        out->response = sqlite3_column_int64(q.handle, 5);
        out->open_ms = sqlite3_column_int64(q.handle, 6);
        out->open = out->open_ms > 0;
        out->deleted = sqlite3_column_int(q.handle, 7);
    }
    return query_end(&q);
}

static bool store_known(struct import_sink *k, const char *id, struct error *e)
{
    const struct import_known *n = &k->known;
    bool ok = sql_exec(
        k->store, e,
        "INSERT INTO import_conversation (source, id, session, stamp, tip, messages, response,"
        " open, deleted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT (source, id) DO UPDATE SET"
        " session = excluded.session, stamp = excluded.stamp, tip = excluded.tip,"
        " messages = excluded.messages, response = excluded.response, open = excluded.open",
        "tttiiiii", k->source->name, id, n->session, n->stamp, n->tip, n->messages, n->response,
        n->open ? (n->open_ms > 0 ? n->open_ms : clock_wall_ms()) : 0);
    return ok && (n->number > 0 ||
                  sql_number(k->store, &k->known.number, e,
                             "SELECT number FROM import_conversation WHERE source = ? AND id = ?",
                             "tt", k->source->name, id));
}

bool import_sink_begin(struct import_sink *k, struct error *e)
{
    if (k->began || k->options->dry)
        return true;
    k->events = k->bytes = k->looked = 0;
    k->since = clock_mono_ms();
    k->began = store_begin(k->store, e);
    return k->began;
}

bool import_sink_commit(struct import_sink *k, bool whole, struct error *e)
{
    if (!k->began)
        return true;
    bool ok = !k->keep_file || !k->file || k->keep_file(k, whole, e);
    k->began = false;
    if (ok)
        return store_commit(k->store, e);
    store_rollback(k->store);
    return false;
}

void import_sink_rollback(struct import_sink *k)
{
    if (k->began)
        store_rollback(k->store);
    k->began = false;
    forget_batch(k);
    forget_turn(k);
    k->told = NULL;
}

/* Writes the events and rows of the conversation so far, into the transaction. */
static bool write_conversation(struct import_sink *k, struct error *e)
{
    bool ok = true;
    if (k->changed)
        ok = sessions_put(k->store, &k->info, e) &&
             transcripts_fill(k->store, k->batch.items, k->batch.len, e);
    if (ok && k->rewound)
        ok = event_log_standing(k->store, k->info.id, &k->info.messages, &k->info.turns, e) &&
             sessions_put(k->store, &k->info, e);
    k->rewound = false;
    if (k->changed && k->options->came)
        k->options->came(k->options->context, k->info.id);
    k->fresh = k->fresh && !k->changed;
    if (k->file)
        k->file->tip = k->known.tip;
    k->changed = false;
    forget_batch(k);
    return ok && store_known(k, k->told->id, e);
}

/* Ends the transaction if it is large enough and goes on in another one; between model calls, so
 * that the log is whole. */
static bool pause_if_due(struct import_sink *k, struct error *e)
{
    const struct import_options *o = k->options;
    if (k->events < BATCH_EVENTS && k->bytes < BATCH_BYTES && k->looked < BATCH_LOOKED &&
        clock_mono_ms() - k->since < (o->step_ms > 0 ? o->step_ms : BATCH_MS))
        return true;
    k->looked = 0;
    k->since = clock_mono_ms();
    bool began = k->began;
    if (began &&
        ((k->told && !k->muted && !write_conversation(k, e)) || !import_sink_commit(k, false, e)))
        return false;
    if (o->tell && !o->tell(o->context, k->done, k->of))
        return err_set(e, ERR_INTERRUPTED,
                       "stopped; what was read is kept, and the next import "
                       "goes on");
    if (!began)
        return true;
    if (!import_sink_begin(k, e))
        return false;
    if (!k->told || k->fresh || k->muted)
        return true;
    /* A person may have renamed or deleted it in between. */
    struct session_info now;
    struct error cause = {0};
    if (!sessions_get(k->store, k->info.id, &now, &cause)) {
        k->muted = true;
        session_info_release(&now);
        return cause.code == ERR_SESSION_NOT_FOUND || err_set(e, cause.code, "%s", cause.text);
    }
    session_info_release(&k->info);
    k->info = now;
    return true;
}

/* --- events ----------------------------------------------------------------------------------- */

static void push(struct import_sink *k, struct event *ev)
{
    ev->seq = k->info.last_seq + 1;
    ev->wall_ms = k->ms;
    memcpy(ev->session_id, k->info.id, sizeof ev->session_id);
    k->bytes += ev->text ? strlen(ev->text) : 0;
    k->events++;
    k->changed = true;
    session_tally(&k->info, ev);
    vec_push(&k->batch, ev);
}

static void end_call(struct import_sink *k)
{
    if (!k->call)
        return;
    struct event *ev = event_new(EVENT_CALL_COMPLETED);
    ev->stop_reason = k->asked ? STOP_TOOL_USE : STOP_END_TURN;
    ev->model = mem_strdup(k->model);
    ev->usage = k->usage;
    ev->used = k->cost;
    push(k, ev);
    k->call = false;
}

static void end_turn(struct import_sink *k)
{
    end_call(k);
    if (k->turn) {
        struct event *ev = event_new(k->answered ? EVENT_TURN_COMPLETED : EVENT_INTERRUPTED);
        if (k->answered) {
            ev->text = mem_strdup(k->result ? k->result : "");
            ev->count = k->calls;
            ev->stop_reason = STOP_END_TURN;
        }
        push(k, ev);
    }
    forget_turn(k);
    k->known.open = false;
}

static void begin_turn(struct import_sink *k, const char *text)
{
    end_turn(k);
    struct event *ev = event_new(EVENT_TURN_STARTED);
    ev->text = mem_strdup(text);
    ev->origin = INPUT_IMPORTED;
    k->turn = k->known.open = true;
    push(k, ev);
}

/* For an answer or a result, which is of a turn. */
static void go_on(struct import_sink *k)
{
    if (k->turn)
        return;
    begin_turn(k, WITHOUT_USER);
    k->counts->messages++;
}

/* Whether a turn is open in the log, from an earlier reading. */
static void resume_turn(struct import_sink *k)
{
    k->turn = k->known.open;
    k->answered = k->turn; /* a turn that goes on without an answer is an interruption, at worst */
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Valid, without secrets; in k->masked. */
static const char *cleaned(struct import_sink *k, const char *text, size_t len)
{
    buf_clear(&k->masked);
    if (utf8_valid(text, len)) {
        secrets_mask(&k->masked, text, len);
        return k->masked.data;
    }
    AUTO(buf_release) struct buf valid = BUF_INIT;
    utf8_clean(&valid, text, len, UTF8_MULTILINE);
    secrets_mask(&k->masked, valid.data, valid.len);
    return k->masked.data;
}

static const char *result_text(struct import_sink *k, const char *text)
{
    size_t len = strlen(text), part = RESULT_PART_BYTES;
    if (k->options->results == IMPORT_RESULTS_NONE)
        return "[left out]";
    if (k->options->results == IMPORT_RESULTS_WHOLE || len <= 2 * part)
        return cleaned(k, text, len);
    size_t head = utf8_cut_bytes(text, part + 64, part), tail = len - part;
    while (tail < len && ((unsigned char)text[tail] & 0xc0) == 0x80)
        tail++;
    buf_clear(&k->text);
    buf_add(&k->text, text, head);
    buf_addf(&k->text, "\n[… %zu bytes left out …]\n%s", tail - head, text + tail);
    return cleaned(k, k->text.data, k->text.len);
}

/* The beginnings of the arguments, as an object. The caller frees. */
static char *arguments_text(struct import_sink *k, const struct import_call *call)
{
    struct buf out = BUF_INIT;
    struct json_out o = {.buf = &out};
    AUTO(json_free_local)
    struct json *parsed = !call->arguments && call->text
                              ? json_parse_foreign(call->text, strlen(call->text), NULL)
                              : NULL;
    const struct json *v = call->arguments ? call->arguments : parsed;
    const char *whole = json_type(v) == JSON_OBJECT ? NULL
                        : json_string(v)            ? json_string(v)
                                                    : call->text;
    json_out_open(&o, '{');
    AUTO(buf_release) struct buf cut = BUF_INIT;
    if (whole) {
        utf8_add_cut(&cut, whole, strlen(whole), ARGUMENT_BYTES);
        json_out_member(&o, "input", cleaned(k, cut.data, cut.len));
    }
    for (const struct json *m = json_type(v) == JSON_OBJECT ? json_first(v) : NULL;
         m && out.len < ARGUMENTS_BYTES; m = json_next(m)) {
        auto_free char *other = json_string(m) ? NULL : json_print(m);
        const char *text = json_string(m) ? json_string(m) : other;
        buf_clear(&cut);
        utf8_add_cut(&cut, text, strlen(text), ARGUMENT_BYTES);
        auto_free char *name = utf8_clean_line(json_name(m));
        json_out_member(&o, name, cleaned(k, cut.data, cut.len));
    }
    json_out_close(&o, '}');
    return buf_take(&out);
}

/* --- where a message comes -------------------------------------------------------------------- */

/* Forgotten messages stay forgotten where they are written again. */
static bool move_gone(struct import_sink *k, int64_t from, int64_t before, int64_t by,
                      struct error *e)
{
    return sql_exec(k->store, e,
                    "INSERT OR IGNORE INTO memory_gone SELECT g.session, g.seq + ?1, g.forgotten,"
                    " g.at FROM memory_gone AS g JOIN memory_session AS s ON s.number = g.session"
                    " WHERE s.id = ?2 AND g.seq >= ?3 AND g.seq < ?4 AND g.forgotten",
                    "itii", by, k->info.id, from, before);
}

/* A message that was there is written again, at another place. Memory knows an answer by the event
 * that begins its model call. */
static bool move_gone_message(struct import_sink *k, enum role role, int64_t from, int64_t to,
                              struct error *e)
{
    if (role == ROLE_ASSISTANT) {
        for (size_t i = k->batch.len; i > 0; i--)
            if (k->batch.items[i - 1]->type == EVENT_CALL_STARTED) {
                to = k->batch.items[i - 1]->seq;
                break;
            }
        if (!sql_number(k->store, &from, e,
                        "SELECT coalesce(max(seq), ?1) FROM event WHERE seq <= ?1 AND session ="
                        " (SELECT key FROM session WHERE id = ?2) AND type = 'turn_started'",
                        "it", from, k->info.id))
            return false;
    }
    return move_gone(k, from, from + 1, to - from, e);
}

struct again {
    struct import_sink *k;
    int64_t before, by;
};

static bool write_again(void *context, const struct event *ev)
{
    struct again *a = context;
    if (ev->seq >= a->before)
        return false;
    struct event *copy = event_clone(ev);
    int64_t now = a->k->ms;
    a->k->ms = ev->wall_ms;
    push(a->k, copy);
    a->k->ms = now;
    return true;
}

/* Takes back what follows the cursor. The log can be taken back to a message of the user's, so what
 * stands before the cursor in its turn is written again. */
static bool rewind_to_cursor(struct import_sink *k, struct error *e)
{
    AUTO(log_messages_release) struct log_messages log = {0};
    end_turn(k);
    if (!write_conversation(k, e) || !event_log_messages(k->store, k->info.id, &log, e))
        return false;
    size_t at = 0, next, first;
    while (k->cursor > 0 && at < log.items.len && log.items.items[at].seq <= k->cursor)
        at++;
    for (next = at; next < log.items.len && log.items.items[next].role != ROLE_USER; next++)
        ;
    bool whole = at == next || at == 0; /* the cursor is at the end of a turn */
    for (first = at > 0 ? at - 1 : 0; first > 0 && log.items.items[first].role != ROLE_USER;
         first--)
        ;
    size_t back = whole ? next : first;
    if (back >= log.items.len)
        return true;
    struct event *ev = event_new(EVENT_REWOUND);
    ev->number = log.items.items[back].seq;
    push(k, ev);
    vec_push(&k->dead, (struct import_dead){ev->number, ev->seq});
    k->rewound = true;
    if (whole)
        return true;
    struct again a = {k, log.items.items[at].seq,
                      k->info.last_seq + 1 - log.items.items[first].seq};
    if (!move_gone(k, log.items.items[first].seq, a.before, a.by, e) ||
        !event_log_read(k->store, k->info.id, log.items.items[first].seq - 1, write_again, &a, e))
        return false;
    k->turn = k->answered = k->known.open = true;
    return sql_exec(k->store, e,
                    "UPDATE import_message SET seq = seq + ?1 WHERE conversation = ?2"
                    " AND seq >= ?3 AND seq < ?4",
                    "iiii", a.by, k->known.number, log.items.items[first].seq, a.before);
}

/* Prepares the session for a message that is new. */
static bool make_room(struct import_sink *k, struct error *e)
{
    const struct import_conversation *c = k->told;
    if (!k->fresh) {
        bool back = k->cursor != k->known.tip;
        if (!back && !k->turn && !k->call && k->batch.len == 0)
            resume_turn(k);
        return !back || rewind_to_cursor(k, e);
    }
    if (*k->info.id)
        return true;
    uuid_new(k->info.id);
    memcpy(k->known.session, k->info.id, sizeof k->known.session);
    k->info.imported = mem_strdup(k->source->name);
    k->info.created_ms = c->created_ms > 0 ? c->created_ms : k->ms;
    int64_t from = k->copied_from, seq = k->copied_seq;
    if (from == 0 && c->parent) {
        struct import_known parent;
        if (!load_known(k, c->parent, &parent, e))
            return false;
        from = parent.deleted ? 0 : parent.number;
        seq = parent.tip;
    }
    struct query q = sql_query(k->store, e,
                               "SELECT session FROM import_conversation WHERE number = ? AND"
                               " session <> '' AND NOT deleted",
                               "i", from);
    if (query_next(&q)) {
        memcpy(k->info.parent, sqlite3_column_text(q.handle, 0), UUID_LEN);
        k->info.parent_seq = seq;
    }
    return query_end(&q);
}

/* --- conversations ---------------------------------------------------------------------------- */

static bool left_out(const struct import_options *o, const struct import_conversation *c)
{
    return (o->since_ms > 0 && c->updated_ms > 0 && c->updated_ms < o->since_ms) ||
           (o->project && !(c->directory && paths_within(c->directory, o->project)));
}

static void note_given(struct import_sink *k, int64_t number)
{
    size_t at = k->given.len;
    while (at > 0 && k->given.items[at - 1] > number)
        at--;
    vec_insert(&k->given, at, number);
}

bool import_wants(struct import_sink *k, const struct import_conversation *c, int64_t stamp)
{
    struct import_known known;
    const struct import_options *o = k->options;
    k->stamp = stamp;
    k->filtered = k->filtered || left_out(o, c);
    if (left_out(o, c))
        return false;
    if (!load_known(k, c->id, &known, NULL))
        return true;
    bool same = stamp > 0 && known.number > 0 && known.stamp == stamp;
    if (same)
        note_given(k, known.number);
    return !known.deleted && !same;
}

int64_t import_stamp(struct import_sink *k, const char *id)
{
    struct import_known known;
    return load_known(k, id, &known, NULL) && known.number == 0 ? -1 : known.stamp;
}

bool import_may_continue(struct import_sink *k, const char *id)
{
    struct import_known known;
    return k->file->offset > 0 && load_known(k, id, &known, NULL) && known.tip == k->file->tip;
}

static bool begin(struct import_sink *k, struct import_conversation *c, struct error *e)
{
    const struct import_options *o = k->options;
    if (!import_sink_begin(k, e) || !load_known(k, c->id, &k->known, e))
        return false;
    /* A branch or a sub-agent goes with its conversation, if it was not here before. */
    struct import_known whole = {0};
    size_t len = c->parent ? strlen(c->parent) : 0;
    bool part =
        k->known.number == 0 && len > 0 && strncmp(c->id, c->parent, len) == 0 && c->id[len] == '/';
    if (part && !load_known(k, c->parent, &whole, e))
        return false;
    /* Else two of one id would take back each other at each reading. */
    bool twice = !c->continues && k->given.len > 0 &&
                 bsearch(&k->known.number, k->given.items, k->given.len, sizeof *k->given.items,
                         vec_number_order);
    if (twice)
        import_unknown(k, "conversation that is there twice");
    forget_turn(k);
    k->told = c;
    mem_replace(&k->id, mem_strdup(c->id));
    k->filtered = k->filtered || left_out(o, c);
    k->muted = k->known.deleted || whole.deleted || twice || left_out(o, c);
    k->copied_from = k->copied_seq = 0;
    k->cursor = c->continues ? k->known.tip : 0;
    k->place = c->continues ? k->known.messages : 0;
    k->ms = c->created_ms > 0 ? c->created_ms : clock_wall_ms();
    k->changed = false;
    vec_clear(&k->dead);
    k->fresh = !*k->known.session;
    session_info_release(&k->info);
    session_info_init(&k->info);
    if (k->muted || k->fresh)
        return true;
    struct error cause = {0};
    session_info_release(&k->info);
    if (sessions_get(k->store, k->known.session, &k->info, &cause))
        return c->continues || load_dead(k, e);
    k->muted = true;
    return cause.code == ERR_SESSION_NOT_FOUND || err_set(e, cause.code, "%s", cause.text);
}

/* Takes over what is told of the conversation and was not known before. */
static void take_told(struct import_sink *k)
{
    const struct import_conversation *c = k->told;
    struct session_info *info = &k->info;
    auto_free char *title = c->title && *c->title ? session_title_from(c->title, "") : NULL;
    if (title && *title && !info->title_set && strcmp(info->title, title) != 0) {
        mem_replace(&info->title, mem_strdup(title));
        k->changed = true;
    }
    if (c->directory && *c->directory && !(info->directory && *info->directory)) {
        mem_replace(&info->directory, utf8_clean_line(c->directory));
        k->changed = true;
    }
    auto_free char *model = c->model ? utf8_clean_line(c->model) : NULL;
    if (model && *model && (!info->model || strcmp(info->model, model) != 0)) {
        mem_replace(&info->model, mem_strdup(model));
        k->changed = true;
    }
}

static bool end(struct import_sink *k, struct error *e)
{
    bool ok = true;
    if (!k->muted && !k->options->dry) {
        bool ended = k->turn && k->answered && !k->asked;
        end_call(k);
        if (ended)
            end_turn(k);
        if (!k->known.open)
            k->known.open_ms = 0;
        else if (k->changed)
            k->known.open_ms = clock_wall_ms();
        k->known.stamp = k->stamp;
        k->known.messages = k->place;
        if (*k->info.id) {
            take_told(k);
            if (k->changed)
                k->counts->conversations++;
        }
        ok = write_conversation(k, e);
        note_given(k, k->known.number);
    }
    forget_turn(k);
    k->told = NULL;
    k->stamp = 0;
    return ok && pause_if_due(k, e);
}

bool import_sink_settle(struct import_sink *k, struct error *e)
{
    struct text_list ids = {0};
    struct query q =
        sql_query(k->store, e,
                  "SELECT c.id FROM import_conversation AS c JOIN session AS s ON s.id = c.session"
                  " WHERE c.open AND c.source = ? AND c.open < ?",
                  "ti", k->source->name, clock_wall_ms() - IDLE_MS);
    bool ok = query_texts(&q, &ids);
    for (size_t i = 0; ok && i < ids.items.len; i++) {
        struct import_conversation c = {.id = ids.items.items[i], .continues = true};
        ok = begin(k, &c, e);
        if (ok && !k->muted) {
            k->ms = k->info.updated_ms;
            k->stamp = k->known.stamp;
            resume_turn(k);
            end_turn(k);
        }
        ok = ok && end(k, e);
    }
    vec_free_each(&ids.items);
    return ok;
}

/* --- messages --------------------------------------------------------------------------------- */

static int64_t key_of(const struct import_sink *k, const char *id)
{
    uint64_t hash = (uint64_t)hash_text(MEM_HASH, k->source->name);
    if (!k->source->unique_ids)
        hash = (uint64_t)hash_text(hash, k->told->id);
    return hash_text(hash, id);
}

struct there {
    int64_t conversation, seq, digest;
    bool found;
};

static bool find_message(struct import_sink *k, int64_t key, struct there *out, struct error *e)
{
    *out = (struct there){0};
    struct query q =
        sql_query(k->store, e, "SELECT conversation, seq, digest FROM import_message WHERE key = ?",
                  "i", key);
    out->found = query_next(&q);
    if (out->found)
        *out = (struct there){sqlite3_column_int64(q.handle, 0), sqlite3_column_int64(q.handle, 1),
                              sqlite3_column_int64(q.handle, 2), true};
    return query_end(&q);
}

static void add_answer(struct import_sink *k, const struct import_message *m)
{
    int64_t response = m->response && *m->response ? hash_text(MEM_HASH, m->response) : 0;
    bool same = response != 0 && response == k->known.response;
    go_on(k);
    if (!(k->call && same)) {
        end_call(k);
        struct event *ev = event_new(EVENT_CALL_STARTED);
        ev->number = k->info.turns;
        ev->count = ++k->calls;
        push(k, ev);
        k->call = true;
        k->asked = false;
        k->usage = USAGE_UNKNOWN;
        k->cost = -1;
    }
    if (!same || usage_known(&k->usage)) {
        k->usage = m->usage;
        k->cost = m->cost;
    }
    k->known.response = response;
    if (m->model)
        mem_replace(&k->model, utf8_clean_line(m->model));
    if (m->text && *m->text) {
        struct event *ev = event_new(EVENT_TEXT_COMPLETE);
        ev->text = mem_strdup(cleaned(k, m->text, strlen(m->text)));
        mem_replace(&k->result, mem_strdup(ev->text));
        push(k, ev);
    }
    for (size_t i = 0; i < m->call_count; i++) {
        struct event *ev = event_new(EVENT_TOOL_CALL_REQUESTED);
        ev->id = m->calls[i].id ? utf8_clean_line(m->calls[i].id)
                                : mem_printf("call-%lld", (long long)k->info.last_seq);
        ev->name = utf8_clean_line(m->calls[i].name ? m->calls[i].name : "tool");
        ev->text = arguments_text(k, &m->calls[i]);
        vec_push(&k->tools, (struct import_asked){mem_strdup(ev->id), mem_strdup(ev->name)});
        k->asked = true;
        push(k, ev);
    }
    k->answered = true;
}

static void add_result(struct import_sink *k, const struct import_message *m)
{
    const char *name = m->tool;
    go_on(k);
    end_call(k);
    for (size_t i = 0; !name && m->call_id && i < k->tools.len; i++)
        if (strcmp(k->tools.items[i].id, m->call_id) == 0)
            name = k->tools.items[i].name;
    struct event *ev = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = m->call_id         ? utf8_clean_line(m->call_id)
             : k->tools.len > 0 ? mem_strdup(vec_last(&k->tools).id)
                                : mem_strdup("");
    ev->name = utf8_clean_line(name ? name : "");
    ev->text = mem_strdup(result_text(k, m->text ? m->text : ""));
    ev->flag = m->failed;
    k->asked = true; /* the model answers to it */
    push(k, ev);
}

static bool add(struct import_sink *k, const struct import_message *m, struct error *e)
{
    bool user = m->role == ROLE_USER, says = !utf8_is_blank(m->text) || m->call_count > 0 ||
                                             (m->role == ROLE_TOOL && m->call_id);
    struct there there;
    if (k->muted || !says)
        return true;
    k->looked++;
    bool same = k->call && m->role == ROLE_ASSISTANT && m->response &&
                hash_text(MEM_HASH, m->response) == k->known.response;
    if (!same) {
        end_call(k);
        if (!pause_if_due(k, e) || k->muted)
            return k->muted;
    }
    int64_t digest = hash_text(MEM_HASH, m->text ? m->text : "");
    for (size_t i = 0; i < m->call_count; i++)
        digest = hash_text((uint64_t)digest, m->calls[i].name ? m->calls[i].name : "");
    auto_free char *made = m->id ? NULL
                                 : mem_printf("%lld %d %llx", (long long)k->place, (int)m->role,
                                              (unsigned long long)digest);
    int64_t key = key_of(k, m->id ? m->id : made);
    k->place++;
    if (m->ms > 0)
        k->ms = m->ms;
    if (!find_message(k, key, &there, e))
        return false;
    if (there.found && there.conversation != k->known.number) { /* a copy of another's */
        k->copied_from = there.conversation;
        k->copied_seq = there.seq;
        return true;
    }
    if (there.found && there.seq <= k->cursor && there.digest != digest && !is_dead(k, there.seq)) {
        /* It does not replace a message that came before it, but is another one with its id. */
        key = (int64_t)mem_hash((uint64_t)key, &digest, sizeof digest);
        if (!find_message(k, key, &there, e))
            return false;
    }
    if (there.found && there.digest == digest && !is_dead(k, there.seq)) {
        k->cursor = there.seq > k->cursor ? there.seq : k->cursor;
        return true;
    }
    k->counts->messages += m->role != ROLE_TOOL && m->text && *m->text; /* as session_tally() */
    if (k->options->dry)
        return true;
    if (k->known.number == 0 && !store_known(k, k->told->id, e))
        return false;
    if (!make_room(k, e))
        return false;
    take_told(k);
    int64_t before = k->info.last_seq;
    if (user)
        begin_turn(k, cleaned(k, m->text, strlen(m->text)));
    else if (m->role == ROLE_ASSISTANT)
        add_answer(k, m);
    else
        add_result(k, m);
    /* The event that stands for it: not one of the call or turn that had to be begun or ended. */
    int64_t seq = 0;
    for (size_t i = k->batch.len; i > 0 && k->batch.items[i - 1]->seq > before; i--) {
        enum event_type type = k->batch.items[i - 1]->type;
        if (user ? type == EVENT_TURN_STARTED
                 : type == EVENT_TEXT_COMPLETE || type == EVENT_TOOL_CALL_REQUESTED ||
                       type == EVENT_TOOL_EXECUTION_COMPLETED)
            seq = k->batch.items[i - 1]->seq;
    }
    k->cursor = k->known.tip = seq;
    return (!there.found || move_gone_message(k, m->role, there.seq, seq, e)) &&
           sql_exec(k->store, e, "INSERT OR REPLACE INTO import_message VALUES (?, ?, ?, ?)",
                    "iiii", key, k->known.number, seq, digest);
}

/* --- the interface: a fault of the store is remembered ---------------------------------------- */

bool import_begin(struct import_sink *k, struct import_conversation *c, struct error *e)
{
    k->broken = !begin(k, c, e);
    return !k->broken;
}

bool import_add(struct import_sink *k, const struct import_message *m, struct error *e)
{
    k->broken = !add(k, m, e);
    return !k->broken;
}

bool import_end(struct import_sink *k, struct error *e)
{
    k->broken = !end(k, e);
    return !k->broken;
}

bool import_sink_cut_off(struct import_sink *k, struct error *e)
{
    struct import_conversation c = {.id = k->id};
    if (!k->told)
        return true;
    k->told = &c;
    k->stamp = 0; /* the rest comes with the next reading */
    return import_end(k, e);
}

void import_unknown(struct import_sink *k, const char *kind)
{
    enum { KINDS_MAX = 50, KIND_BYTES = 40 };
    if (!k)
        return;
    k->counts->not_understood++;
    auto_free char *name = mem_strndup(kind, utf8_cut_bytes(kind, strlen(kind), KIND_BYTES));
    const struct json *there = k->unknown ? json_get(k->unknown, name) : NULL;
    if (!k->unknown)
        k->unknown = json_new_object();
    if (there || json_len(k->unknown) < KINDS_MAX)
        json_set_int(k->unknown, name, json_int(there, 0) + 1);
}
