#include "session/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chat/session_info.h"
#include "index/transcripts.h"
#include "session/lock.h"
#include "session/notice.h"
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

static void hold(struct journal *j, struct event *ev)
{
    buf_addstr(&j->held_text, ev->text);
    if (j->held) {
        event_free(ev);
        return;
    }
    free(ev->text);
    ev->text = NULL;
    j->held = ev;
}

/* The delta joins the one that waits, whose number it then has. */
static bool journal_joins_held(const struct journal *j, const struct event *ev)
{
    const struct event *held = j->held;
    return held && held->type == ev->type && held->count == ev->count && held->limit == ev->limit;
}

static void journal_show(struct journal *j, struct event *ev)
{
    if (!journal_joins_held(j, ev))
        journal_show_held(j);
    bool behind = event_is_delta(ev->type) && mailbox_len(j->notices) >= MOST_WAITING;
    if (!behind && !j->held) {
        push(j, ev);
        return;
    }
    hold(j, ev);
    if (!behind)
        journal_show_held(j);
}

void journal_release(struct journal *j)
{
    /* Others may have it as soon as they hear of it. */
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

/* A crash left the row behind the log. */
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

static bool leave_archive(struct journal *j, struct session_info *info, struct error *e)
{
    if (info->archived_ms == 0)
        return true;
    info->archived_ms = 0;
    return sessions_put(j->store, info, e);
}

bool journal_open(struct journal *j, const char *reference, enum journal_access access,
                  struct event_list *tail, bool *more, struct error *e)
{
    struct opening o = {.lock = -1};
    if (open_row(j, reference, access, &o, e) &&
        (!tail || event_log_tail(j->store, o.info.id, 0, TAIL_EVENTS, TAIL_BYTES, tail, more, e)) &&
        (access == JOURNAL_READ ||
         (event_log_skip_told(j->store, o.info.id, &o.told, e) && leave_archive(j, &o.info, e)))) {
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
    lock_drop(&o.lock);
    session_info_release(&o.info);
    return false;
}

/* A long import, and another long log without a snapshot, get one while they are read. A reader
 * takes the session's lock for that, so that nobody writes the session meanwhile. All of the
 * history is held where the lock cannot be had, or the disk is full. */
static bool load_kept(const struct journal *j, struct snapshot_rows *rows, struct history *out,
                      struct error *e)
{
    bool is_long = false, waits = j->read_only && !j->directory, ok;
    int lock = -1;
    struct error unlocked;
    if (!(ok = snapshot_open(rows, HISTORY_HELD, out, waits ? NULL : &is_long, e)) || !is_long)
        return ok;
    waits = j->read_only && !lock_take(j->directory, j->info.id, &lock, &unlocked);
    ok = (!waits && snapshot_catch_up(rows, HISTORY_HELD, out, e)) ||
         snapshot_open(rows, HISTORY_HELD, out, NULL, e);
    lock_drop(&lock);
    mem_return_unused();
    return ok;
}

bool journal_load(struct journal *j, struct error *e)
{
    struct history kept;
    struct snapshot_rows rows;
    snapshot_rows_init(&rows, j->store, j->info.id);
    if (!j->stored)
        history_init(&kept);
    else if (!load_kept(j, &rows, &kept, e))
        return false;
    history_drop_open_turn(&kept);
    history_release(&j->history);
    j->history = kept;
    j->rows = rows;
    j->history.source = &j->rows.source;
    j->loaded = true;
    return true;
}

static bool is_run_end(enum event_type type)
{
    return type == EVENT_TURN_COMPLETED || type == EVENT_TURN_FAILED || type == EVENT_INTERRUPTED;
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

/* Streamed text that no text_complete covers yet, as one delta, so that a crash loses at most the
 * last second of an answer. */
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
    event_pieces_clear(&j->pending_pieces);
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

/* Text of one kind, and of one part of a summary. */
static bool goes_on(const struct journal *j, const struct event *ev)
{
    return j->pending.len == 0 || (j->pending_type == ev->type && j->pending_part == ev->count &&
                                   j->pending_parts == ev->limit);
}

static bool keep_delta(struct journal *j, const struct event *ev, struct error *e)
{
    if (!goes_on(j, ev) && !checkpoint(j, e))
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

/* After a transaction with a snapshot: older messages are read from the snapshot. */
static void journal_shed(struct journal *j)
{
    history_shed(&j->history, HISTORY_HELD);
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

/* After these events the history is read from a snapshot instead of the log. */
static bool ends_something(const struct journal *j, enum event_type type)
{
    return is_run_end(type) || (type == EVENT_COMPACTION_FAILED && !j->history.running);
}

/* Events that change a session's row in listings and that no end of a run may follow. */
static bool needs_row(enum event_type type)
{
    return type == EVENT_TURN_STARTED || is_run_end(type) || type == EVENT_COMPACTION_FAILED;
}

/* After these events no event will have the whole of the streamed text. */
static bool leaves_deltas(enum event_type type)
{
    return is_run_end(type) || type == EVENT_RETRYING;
}

static bool keep(struct journal *j, const struct event *ev, struct error *e)
{
    if (leaves_deltas(ev->type) && !checkpoint(j, e))
        return false;
    journal_forget_deltas(j); /* a complete text covers it */
    if (!j->stored || needs_row(ev->type)) {
        bool stored = j->stored;
        if (!store_begin(j->store, e))
            return false;
        if (journal_write_row(j, e) && transcripts_append(j->store, ev, e) &&
            (!ends_something(j, ev->type) || snapshot_save(j->store, j->info.id, &j->history, e)) &&
            store_commit(j->store, e)) {
            journal_shed(j);
            return true;
        }
        store_rollback(j->store);
        j->stored = stored;
        j->history.unsaved = 0;
        return false;
    }
    return transcripts_append(j->store, ev, e);
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
    session_info_release(&j->info); /* what is not in the log is not counted */
    j->info = before;
    event_free(ev);
    return false;
}

bool journal_save_draft(struct journal *j, const char *draft, struct error *e)
{
    free(j->info.draft);
    j->info.draft = draft && *draft ? mem_strdup(draft) : NULL;
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

/* A change of history, row and log that is not sure to hold. */
struct change {
    struct session_info row; /* as it was */
    bool stored;
};

static void change_begin(struct journal *j, struct change *c)
{
    c->row = session_info_clone(&j->info);
    c->stored = j->stored;
}

static void change_settle(struct change *c)
{
    session_info_release(&c->row);
}

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
    return journal_write_row(j, e) && transcripts_append(j->store, ev, e);
}

/* ---- a compaction ---- */

/* *indexed: the event that tells of it; NULL where nobody indexes, or nothing went. Summaries,
 * which were indexed as the messages that they stand for, and system messages are left out. False:
 * memory refuses. */
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

/* Replaces the history and keeps log, row and snapshot, with the transaction open. The new history
 * takes no notice of `indexed` but for its number. */
static bool replace_history(struct journal *j, const struct event *ev, const struct event *indexed,
                            struct error *e)
{
    struct history_backup backup;
    if (!history_compact(&j->history, ev, &backup, e))
        return false;
    bool ok = keep_event(j, ev, e);
    if (ok && indexed) {
        history_apply(&j->history, indexed);
        ok = keep_event(j, indexed, e);
    }
    ok = ok && snapshot_save(j->store, j->info.id, &j->history, e) && store_commit(j->store, e);
    if (ok)
        history_settle(&backup);
    else
        history_revert(&j->history, &backup);
    return ok;
}

static enum commit_result commit(struct journal *j, struct event *ev, const struct rebuild *r,
                                 struct event **told, struct error *e)
{
    if (!store_begin(j->store, e))
        return COMMIT_FAILED;
    struct change change;
    change_begin(j, &change);
    bool indexed = index_dropped(j, ev, r, told, e);
    if (indexed && replace_history(j, ev, *told, e)) {
        change_settle(&change);
        journal_shed(j);
        return COMMIT_DONE;
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
    free(completed->compaction.dropped);
    completed->compaction.dropped = rebuild_dropped_events(
        &r, j->history.messages.items, j->history.messages.len, j->info.last_seq);
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

/* ---- and back ---- */

/* Reads the history from the log as it was before the compaction. */
static bool undo(struct journal *j, struct event *ev, struct error *e)
{
    const struct discard_sink *sink = j->sink;
    struct history before;
    struct change change;
    if (!store_begin(j->store, e))
        return false;
    change_begin(j, &change);
    history_init(&before);
    bool withdrawn = !sink || !sink->withdraw ||
                     sink->withdraw(sink->context, j->store, j->info.id, ev->number, e);
    if (!withdrawn || !keep_event(j, ev, e) ||
        !snapshot_catch_up(&j->rows, HISTORY_HELD, &before, e) || !store_commit(j->store, e)) {
        history_release(&before);
        change_revert(j, &change);
        return false;
    }
    change_settle(&change);
    history_release(&j->history);
    j->history = before;
    j->history.source = &j->rows.source;
    journal_shed(j);
    return true;
}

bool journal_uncompact(struct journal *j, struct error *e)
{
    if (!j->loaded && !journal_load(j, e))
        return false;
    if (j->history.running)
        return err_set(e, ERR_SESSION_BUSY, "a turn runs; stop it first");
    if (j->history.compaction.in_force.len == 0)
        return err_set(e, ERR_NOTHING_TO_UNDO,
                       "there is no compaction to undo; nothing was taken out");
    struct event *ev = event_new(EVENT_COMPACTION_UNDONE);
    ev->number = vec_last(&j->history.compaction.in_force);
    journal_stamp(j, ev);
    bool ok = undo(j, ev, e);
    if (ok)
        journal_show(j, ev);
    else
        event_free(ev);
    return ok;
}

/* ---- pins ---- */

static const struct message *find_message(const struct history *h, int64_t seq)
{
    for (size_t i = h->messages.len; i > 0; i--)
        if (h->messages.items[i - 1].seq == seq)
            return &h->messages.items[i - 1];
    return NULL;
}

bool journal_pin(struct journal *j, int64_t seq, bool pinned, struct error *e)
{
    if (!j->loaded && !journal_load(j, e))
        return false;
    const struct message *m = find_message(&j->history, seq);
    if (!m || m->summary || (m->role != ROLE_USER && m->role != ROLE_ASSISTANT))
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
