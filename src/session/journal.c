#include "session/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chat/session_info.h"
#include "index/transcripts.h"
#include "session/lock.h"
#include "session/notice.h"
#include "session/session_operations.h"
#include "store/sessions.h"
#include "store/snapshot.h"

enum { CHECKPOINT_MS = 1000, CHECKPOINT_BYTES = EVENT_LOG_UNKEPT - 1, TAIL_EVENTS = 120 };
enum { TAIL_BYTES = 4 << 20 }; /* of their payloads */

void journal_init(struct journal *j, struct mailbox *notices)
{
    *j = (struct journal){
        .notices = notices, .lock = -1, .last_input = -1, .measure = REQUEST_UNMEASURED};
    session_info_init(&j->info);
    history_init(&j->history);
    buf_init(&j->pending, 0);
    buf_init(&j->held_text, 0);
}

/* --- notices: a delta may wait for others that join it, so that notices do not pile up for a
 * surface that is slower than the model; every other event shows the waiting delta first --- */

enum { MOST_WAITING = 512 }; /* notices that a surface may be behind before deltas are joined */

static void push(struct journal *j, struct event *ev)
{
    struct notice *n = notice_new(NOTICE_EVENT);
    n->event = ev;
    notice_name_session(n, ev->session_id);
    mailbox_put(j->notices, n, event_is_delta(ev->type)); /* a delta: enough with the next frame */
}

static void journal_show_held(struct journal *j)
{
    struct event *ev = j->held;
    if (!ev)
        return;
    j->held = NULL;
    ev->text = buf_take(&j->held_text);
    push(j, ev);
}

/* True: the delta joins the one that waits, and gets its number. */
static bool journal_joins_held(const struct journal *j, const struct event *ev)
{
    const struct event *held = j->held;
    return held && held->type == ev->type && held->count == ev->count && held->limit == ev->limit;
}

static void journal_show(struct journal *j, struct event *ev)
{
    if (!journal_joins_held(j, ev))
        journal_show_held(j);
    bool behind = event_is_delta(ev->type) && mailbox_count(j->notices, NULL) >= MOST_WAITING;
    if (!behind && !j->held) {
        push(j, ev);
        return;
    }
    buf_addstr(&j->held_text, ev->text);
    if (j->held) {
        event_free(ev);
    } else {
        mem_replace(&ev->text, NULL);
        j->held = ev;
    }
    if (!behind)
        journal_show_held(j);
}

void journal_release(struct journal *j)
{
    /* Drop the lock first: others may take the session as soon as they are told of it. */
    bool had = j->stored && !j->read_only && (j->lock >= 0 || !j->directory);
    lock_drop(&j->lock);
    if (had && j->left && j->info.last_seq > 0)
        j->left(j->left_context, j->info.id);
    session_info_release(&j->info);
    history_release(&j->history);
    buf_release(&j->pending);
    event_pieces_release(&j->pending_pieces);
    event_free(j->held);
    j->held = NULL;
    buf_release(&j->held_text);
}

void journal_close(struct journal *j)
{
    struct store *store = j->store;
    const char *directory = j->directory;
    struct mailbox *notices = j->notices;
    struct journal listens = {
        .sink = j->sink, .left = j->left, .left_context = j->left_context, .lasting = j->lasting};
    journal_release(j);
    journal_init(j, notices);
    j->store = store;
    j->directory = directory;
    j->sink = listens.sink;
    j->left = listens.left;
    j->left_context = listens.left_context;
    j->lasting = listens.lasting;
}

void journal_begin(struct journal *j, const char *directory)
{
    journal_close(j);
    uuid_new(j->info.id);
    j->info.directory = mem_strdup(directory);
    j->info.created_ms = j->info.updated_ms = clock_wall_ms();
    snapshot_rows_init(&j->rows, j->store, j->info.id);
    j->history.source = &j->rows.source;
    j->loaded = true;
}

/* Adds to the row the events that it lacks after a crash. */
static bool catch_up(void *info, const struct event *ev)
{
    session_tally(info, ev);
    return true;
}

/* The parts of a session that are read before the journal changes to it. */
struct opening {
    struct session_info info;
    int64_t told;
    struct snapshot_counters counters;
    int lock;
};

static bool open_row(struct journal *j, const char *reference, enum journal_access access,
                     struct opening *o, struct error *e)
{
    char id[UUID_LEN + 1];
    if (!sessions_resolve(j->store, reference, id, e))
        return false;
    bool held = strcmp(id, j->info.id) == 0 && j->lock >= 0;
    bool locks = access == JOURNAL_RESUME && j->directory && !held;
    return (!locks || lock_take(j->directory, id, &o->lock, e)) &&
           sessions_get(j->store, id, &o->info, e) &&
           event_log_read(j->store, id, o->info.last_seq, catch_up, &o->info, e) &&
           snapshot_counters(j->store, id, &o->counters, e);
}

bool journal_open(struct journal *j, const char *reference, enum journal_access access,
                  struct event_list *tail, bool *more, struct error *e)
{
    struct opening o = {.lock = -1};
    bool ok =
        open_row(j, reference, access, &o, e) &&
        (!tail || event_log_tail(j->store, o.info.id, 0, TAIL_EVENTS, TAIL_BYTES, tail, more, e)) &&
        (access == JOURNAL_READ || event_log_skip_told(j->store, o.info.id, &o.told, e));
    if (ok && access != JOURNAL_READ && o.info.archived_ms != 0) {
        o.info.archived_ms = 0;
        ok = sessions_put(j->store, &o.info, e);
    }
    if (!ok) {
        lock_drop(&o.lock);
        session_info_release(&o.info);
        return false;
    }
    if (o.lock < 0 && access == JOURNAL_RESUME && strcmp(o.info.id, j->info.id) == 0) {
        o.lock = j->lock;
        j->lock = -1;
    }
    journal_close(j);
    session_info_release(&j->info);
    j->info = o.info;
    j->told = o.told;
    j->lock = o.lock;
    j->counted = o.counters.known;
    j->estimate = o.counters.estimate;
    j->last_input = o.counters.last_input;
    j->unpriced = o.counters.unpriced;
    j->measure = o.counters.measure;
    j->compactions = o.counters.compactions;
    j->suspended = o.counters.suspended;
    j->stored = true;
    j->loaded = false;
    j->read_only = access == JOURNAL_READ;
    return true;
}

/* A long log without a snapshot, for example an import, gets one while it is read. A reader takes
 * the session's lock for that, so that nobody writes the session meanwhile. If the lock cannot be
 * taken, or the snapshot not be written, the whole history is held in memory. */
bool journal_load(struct journal *j, struct error *e)
{
    struct history kept;
    struct snapshot_rows rows;
    struct error fault;
    bool is_long = false, apart = j->read_only && !j->directory;
    snapshot_rows_init(&rows, j->store, j->info.id);
    if (!j->stored)
        history_init(&kept);
    else if (!snapshot_open(&rows, HISTORY_HELD, &kept, apart ? NULL : &is_long, e))
        return false;
    if (is_long) {
        int lock = -1;
        bool may = !j->read_only || lock_take(j->directory, j->info.id, &lock, &fault);
        bool ok = (may && snapshot_catch_up(&rows, HISTORY_HELD, &kept, e)) ||
                  snapshot_open(&rows, HISTORY_HELD, &kept, NULL, e);
        lock_drop(&lock);
        mem_return_unused();
        if (!ok)
            return false;
    }
    history_drop_open_turn(&kept);
    history_release(&j->history);
    j->history = kept;
    j->rows = rows;
    j->history.source = &j->rows.source;
    j->loaded = true;
    return true;
}

void journal_stamp(const struct journal *j, struct event *ev)
{
    ev->seq = (j->info.last_seq > j->told ? j->info.last_seq : j->told) + 1;
    ev->wall_ms = clock_wall_ms();
    memcpy(ev->session_id, j->info.id, sizeof ev->session_id);
}

/* Drops streamed text that is complete in another event or not needed. */
static void journal_forget_deltas(struct journal *j)
{
    buf_release(&j->pending);
    event_pieces_release(&j->pending_pieces);
    j->pending_since_ms = 0;
}

/* Writes streamed text that no text_complete covers yet, as one delta, so that a crash loses at
 * most the last second of an answer. */
static bool checkpoint(struct journal *j, struct error *e)
{
    if (j->pending.len == 0)
        return true;
    journal_show_held(j); /* what joined it had the number that is kept now */
    struct event *ev = event_new(j->pending_type);
    ev->seq = j->pending_pieces.last;
    ev->wall_ms = clock_wall_ms();
    memcpy(ev->session_id, j->info.id, sizeof ev->session_id);
    ev->text = buf_take(&j->pending);
    ev->pieces = event_pieces_json(&j->pending_pieces);
    vec_clear(&j->pending_pieces.lengths);
    ev->count = j->pending_part;
    ev->limit = j->pending_parts;
    bool ok = transcripts_append(j->store, ev, e);
    event_free(ev);
    j->pending_since_ms = clock_mono_ms();
    return ok;
}

bool journal_tail(struct journal *j, struct event_list *tail, bool *more, struct error *e)
{
    journal_show_held(j);
    *more = false;
    return checkpoint(j, e) &&
           event_log_tail(j->store, j->info.id, 0, TAIL_EVENTS, TAIL_BYTES, tail, more, e);
}

static bool keep_delta(struct journal *j, const struct event *ev, struct error *e)
{
    bool goes_on = j->pending_type == ev->type && j->pending_part == ev->count &&
                   j->pending_parts == ev->limit;
    if (j->pending.len > 0 && !goes_on && !checkpoint(j, e))
        return false;
    if (j->pending.len == 0 && j->pending_since_ms == 0)
        j->pending_since_ms = clock_mono_ms();
    j->pending_type = ev->type;
    event_pieces_add(&j->pending_pieces, ev->seq, strlen(ev->text));
    j->pending_part = ev->count;
    j->pending_parts = ev->limit;
    buf_addstr(&j->pending, ev->text);
    bool due = j->pending.len >= CHECKPOINT_BYTES ||
               clock_mono_ms() - j->pending_since_ms >= CHECKPOINT_MS;
    return !due || checkpoint(j, e);
}

bool journal_write_row(struct journal *j, struct error *e)
{
    if (j->lock < 0 && j->directory && !lock_take(j->directory, j->info.id, &j->lock, e))
        return false;
    if (!sessions_put(j->store, &j->info, e))
        return false;
    j->stored = true;
    return true;
}

/* After a rewind, or the end of one: the row counts the messages that stand, and memory has them.
 */
static bool recount(struct journal *j, bool undone, struct error *e)
{
    return event_log_standing(j->store, j->info.id, &j->info.messages, &j->info.turns, e) &&
           journal_write_row(j, e) &&
           (!j->sink || !j->sink->rewound ||
            j->sink->rewound(j->sink->context, j->store, j->info.id, undone, e));
}

static bool keep(struct journal *j, const struct event *ev, struct error *e)
{
    bool ends = event_ends_turn(ev->type), failed = ev->type == EVENT_COMPACTION_FAILED;
    bool rewinds = ev->type == EVENT_REWOUND;
    /* Behind these events the complete streamed text does not come, or comes later. */
    bool cuts = ends || ev->type == EVENT_RETRYING || ev->type == EVENT_MEMORY_LEFT_OUT;
    if (cuts && !checkpoint(j, e))
        return false;
    journal_forget_deltas(j); /* a complete text covers it */
    /* The row is written with a session's first event, and with the events that listings show. */
    if (j->stored && !ends && !failed && !rewinds && ev->type != EVENT_TURN_STARTED &&
        ev->type != EVENT_SESSION_TITLED)
        return transcripts_append(j->store, ev, e);
    bool stored = j->stored;
    if (!store_begin(j->store, e))
        return false;
    bool snapshot = ends || rewinds || (failed && !j->history.running);
    if (journal_write_row(j, e) && transcripts_append(j->store, ev, e) &&
        (!rewinds || recount(j, false, e)) &&
        (!snapshot || snapshot_save(j->store, j->info.id, &j->history, e)) &&
        store_commit(j->store, e)) {
        history_shed(&j->history, HISTORY_HELD); /* older messages are read from the snapshot */
        return true;
    }
    store_rollback(j->store);
    j->stored = stored;
    j->history.unsaved = 0;
    return false;
}

bool journal_emit(void *journal, struct event *ev, struct error *e)
{
    struct journal *j = journal;
    journal_stamp(j, ev);
    if (event_is_delta(ev->type)) {
        if (journal_joins_held(j, ev))
            ev->seq = j->held->seq;
        j->info.last_seq = ev->seq;
        journal_show(j, event_clone(ev));
        bool ok = keep_delta(j, ev, e);
        event_free(ev);
        return ok;
    }
    struct session_info before = session_info_clone(&j->info);
    session_tally(&j->info, ev);
    history_apply(&j->history, ev);
    if (keep(j, ev, e)) {
        session_info_release(&before);
        journal_show(j, ev);
        return true;
    }
    session_info_release(&j->info); /* an event that is not in the log is not counted */
    j->info = before;
    event_free(ev);
    return false;
}

bool journal_save_draft(struct journal *j, const char *draft, struct error *e)
{
    mem_replace(&j->info.draft, draft && *draft ? mem_strdup(draft) : NULL);
    if (j->read_only || (!j->stored && !j->info.draft))
        return true;
    if (j->lasting && !j->info.draft)
        return journal_write_row(j, e);
    if (j->info.draft || j->info.last_seq > 0)
        return j->stored ? sessions_set_draft(j->store, j->info.id, j->info.draft, e)
                         : journal_write_row(j, e);
    j->stored = false;
    return sessions_set_draft(j->store, j->info.id, NULL, e);
}

bool journal_save_info(struct journal *j, struct error *e)
{
    return j->read_only || !j->stored || journal_write_row(j, e);
}

/* The row as it was before a change of history, row and log that may fail. */
struct change {
    struct session_info row;
    bool stored;
};

/* The rollback also undoes the rows of the history. */
static void change_revert(struct journal *j, struct change *c)
{
    store_rollback(j->store);
    session_info_release(&j->info);
    j->info = c->row;
    j->stored = c->stored;
    j->history.unsaved = 0;
}

static bool keep_event(struct journal *j, const struct event *ev, struct error *e)
{
    session_tally(&j->info, ev);
    return journal_write_row(j, e) && transcripts_append(j->store, ev, e) &&
           (ev->type != EVENT_REWIND_UNDONE || recount(j, true, e));
}

/* ---- a compaction ---- */

/* Gives the dropped messages to memory, without summaries, whose messages were indexed before, and
 * system messages. *indexed: the event about it; NULL: nothing was indexed. False: memory refuses.
 */
static bool index_dropped(struct journal *j, struct event *ev, const struct rebuild *r,
                          struct event **indexed, struct error *e)
{
    const struct discard_sink *sink = j->sink;
    ev->compaction.entries_indexed = 0;
    *indexed = NULL;
    if (!sink || !sink->index)
        return true;
    VEC(const struct message *) messages = {0};
    struct index_list gone;
    rebuild_dropped(r, j->history.messages.len, &gone);
    for (size_t i = 0; i < gone.items.len; i++) {
        const struct message *m = &j->history.messages.items[gone.items.items[i]];
        if (!m->summary && m->role != ROLE_SYSTEM)
            vec_push(&messages, m);
    }
    vec_release(&gone.items);
    const struct discard discard = {.session_id = j->info.id,
                                    .completed_seq = ev->seq,
                                    .messages = messages.items,
                                    .count = messages.len};
    bool ok = discard.count == 0 ||
              sink->index(sink->context, j->store, &discard, &ev->compaction.entries_indexed, e);
    if (ok && discard.count > 0) {
        struct event *told = *indexed = event_new(EVENT_MEMORY_INDEXED);
        journal_stamp(j, told);
        told->seq = ev->seq + 1;
        told->number = ev->seq;
        told->count = ev->compaction.entries_indexed;
    }
    vec_release(&messages);
    return ok;
}

static enum commit_result commit(struct journal *j, struct event *ev, const struct rebuild *r,
                                 struct event **told, struct error *e)
{
    struct history_backup backup;
    if (!store_begin(j->store, e))
        return COMMIT_FAILED;
    struct change change = {session_info_clone(&j->info), j->stored};
    bool indexed = index_dropped(j, ev, r, told, e);
    if (indexed && history_compact(&j->history, ev, &backup, e)) {
        bool ok = keep_event(j, ev, e);
        if (ok && *told) {
            history_apply(&j->history, *told); /* takes only its number */
            ok = keep_event(j, *told, e);
        }
        if (ok && snapshot_save(j->store, j->info.id, &j->history, e) &&
            store_commit(j->store, e)) {
            history_settle(&backup);
            session_info_release(&change.row);
            history_shed(&j->history, HISTORY_HELD);
            return COMMIT_DONE;
        }
        history_revert(&j->history, &backup);
    }
    change_revert(j, &change);
    event_free(*told);
    return indexed ? COMMIT_FAILED : COMMIT_REFUSED_BY_MEMORY;
}

enum commit_result journal_compact(void *journal, struct event *completed, struct error *e)
{
    struct journal *j = journal;
    struct rebuild r;
    const char *history = completed->compaction.history;
    if (!rebuild_from_json(history ? history : "", j->history.messages.len, &r, e))
        return COMMIT_FAILED;
    journal_stamp(j, completed);
    mem_replace(&completed->compaction.dropped,
                rebuild_dropped_events(&r, j->history.messages.items, j->history.messages.len,
                                       j->info.last_seq));
    struct event *indexed = NULL;
    enum commit_result result = commit(j, completed, &r, &indexed, e);
    rebuild_release(&r);
    if (result == COMMIT_DONE) {
        journal_forget_deltas(j); /* the event has the whole summary */
        journal_show(j, completed);
        if (indexed)
            journal_show(j, indexed);
    }
    return result;
}

/* ---- undoing it, and rewinds ---- */

/* Keeps an event that changes which earlier ones are in force, and reads the history again from the
 * log. Takes the event. */
static bool keep_and_reload(struct journal *j, struct event *ev, struct error *e)
{
    const struct discard_sink *sink = ev->type == EVENT_COMPACTION_UNDONE ? j->sink : NULL;
    struct history before;
    journal_stamp(j, ev);
    if (!store_begin(j->store, e)) {
        event_free(ev);
        return false;
    }
    struct change change = {session_info_clone(&j->info), j->stored};
    history_init(&before);
    bool withdrawn = !sink || !sink->withdraw ||
                     sink->withdraw(sink->context, j->store, j->info.id, ev->number, e);
    if (!withdrawn || !keep_event(j, ev, e) ||
        !snapshot_catch_up(&j->rows, HISTORY_HELD, &before, e) || !store_commit(j->store, e)) {
        history_release(&before);
        change_revert(j, &change);
        event_free(ev);
        return false;
    }
    session_info_release(&change.row);
    history_release(&j->history);
    j->history = before;
    j->history.source = &j->rows.source;
    history_shed(&j->history, HISTORY_HELD);
    journal_show(j, ev);
    return true;
}

/* Loads the history, and refuses while a turn runs. */
static bool is_between_turns(struct journal *j, struct error *e)
{
    return (j->loaded || journal_load(j, e)) &&
           (!j->history.running || err_set(e, ERR_SESSION_BUSY, "a turn runs; stop it first"));
}

bool journal_uncompact(struct journal *j, struct error *e)
{
    if (!is_between_turns(j, e))
        return false;
    if (j->history.compaction.in_force.len == 0)
        return err_set(e, ERR_NOTHING_TO_UNDO,
                       "there is no compaction to undo; nothing was taken out");
    struct event *ev = event_new(EVENT_COMPACTION_UNDONE);
    ev->number = vec_last(&j->history.compaction.in_force);
    return keep_and_reload(j, ev, e);
}

/* Whether the compaction dropped messages from this number on. */
static bool dropped_from(struct journal *j, int64_t completed, int64_t seq, bool *dropped,
                         struct error *e)
{
    struct event *ev;
    if (!compaction_find(j->store, j->info.id, completed, &ev, e))
        return false;
    const char *text = ev->compaction.dropped;
    AUTO(json_free_local) struct json *ranges = text ? json_parse(text, strlen(text), NULL) : NULL;
    *dropped = !ranges;
    for (const struct json *v = json_first(ranges); v; v = json_next(v))
        *dropped = *dropped || json_int(json_at(v, 1), INT64_MAX) >= seq;
    event_free(ev);
    return true;
}

bool journal_rewind(struct journal *j, int64_t seq, struct error *e)
{
    struct event_turns turns;
    if (!is_between_turns(j, e) || !event_log_turns(j->store, j->info.id, &turns, e))
        return false;
    bool is_sent = false, dropped;
    for (size_t i = 0; i < turns.items.len; i++)
        is_sent = is_sent || turns.items.items[i].seq == seq;
    vec_release(&turns.items);
    if (!is_sent)
        return err_set(e, ERR_MESSAGE_NOT_SENT,
                       "event %lld is no message of the user in the conversation", (long long)seq);
    const struct compaction_state *c = &j->history.compaction;
    for (size_t i = 0; i < c->in_force.len;) {
        if (!dropped_from(j, c->in_force.items[i], seq, &dropped, e) ||
            (dropped && !journal_uncompact(j, e)))
            return false;
        i = dropped ? 0 : i + 1;
    }
    struct event *ev = event_new(EVENT_REWOUND);
    ev->number = seq;
    if (journal_emit(j, ev, e))
        return true;
    j->loaded = journal_load(j, &(struct error){0}); /* the rewind is in it already */
    return false;
}

bool journal_unrewind(struct journal *j, struct error *e)
{
    if (!is_between_turns(j, e))
        return false;
    if (j->history.rewound.len == 0)
        return err_set(e, ERR_NOTHING_TO_UNDO, "the conversation was not rewound");
    struct event *ev = event_new(EVENT_REWIND_UNDONE);
    ev->number = vec_last(&j->history.rewound);
    const struct compaction_state *c = &j->history.compaction;
    while (c->in_force.len > 0 && vec_last(&c->in_force) > ev->number)
        if (!journal_uncompact(j, e)) {
            event_free(ev);
            return false;
        }
    return keep_and_reload(j, ev, e);
}

/* ---- pins ---- */

bool journal_pin(struct journal *j, int64_t seq, bool pinned, struct error *e)
{
    if (!j->loaded && !journal_load(j, e))
        return false;
    size_t i = j->history.messages.len;
    while (i > 0 && j->history.messages.items[i - 1].seq != seq)
        i--;
    const struct message *m = i > 0 ? &j->history.messages.items[i - 1] : NULL;
    if (!m || m->summary || (m->role == ROLE_TOOL && pinned))
        return err_set(e, ERR_MESSAGE_NOT_SENT,
                       "event %lld is no message that is sent; name one that is (context/read)",
                       (long long)seq);
    if (m->pinned == pinned)
        return true;
    struct event *ev = event_new(EVENT_MESSAGE_PINNED);
    ev->number = seq;
    ev->flag = pinned;
    if (journal_emit(j, ev, e))
        return true;
    j->loaded = journal_load(j, &(struct error){0}); /* the pin is in it already */
    return false;
}
