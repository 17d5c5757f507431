#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/vec.h"
#include "chat/session_info.h"
#include "index/transcripts.h"
#include "session/journal_private.h"
#include "store/snapshot.h"

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

/* What was written of the history is gone as well. */
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

/* Without summaries, which were indexed as what they stand for, and the system's messages. */
struct dropped {
    VEC(const struct message *) messages;
};

static struct dropped dropped_of(const struct history *h, const struct rebuild *r)
{
    struct dropped d = {0};
    struct index_list gone;
    rebuild_dropped(r, h->messages.len, &gone);
    for (size_t i = 0; i < gone.items.len; i++) {
        const struct message *m = &h->messages.items[gone.items.items[i]];
        if (!m->summary && m->role != ROLE_SYSTEM)
            vec_push(&d.messages, m);
    }
    vec_release(&gone.items);
    return d;
}

static struct event *indexed_event(const struct journal *j, const struct event *completed)
{
    struct event *ev = event_new(EVENT_MEMORY_INDEXED);
    journal_stamp(j, ev);
    ev->seq = completed->seq + 1;
    ev->number = completed->seq;
    ev->count = completed->compaction.entries_indexed;
    return ev;
}

/* *indexed: NULL where nobody indexes, or nothing went. False: memory refuses. */
static bool index_dropped(struct journal *j, struct event *ev, const struct rebuild *r,
                          struct event **indexed, struct error *e)
{
    const struct discard_sink *sink = j->sink;
    ev->compaction.entries_indexed = 0;
    *indexed = NULL;
    if (!sink || !sink->index)
        return true;
    struct dropped d = dropped_of(&j->history, r);
    const struct discard discard = {.session_id = j->info.id,
                                    .completed_seq = ev->seq,
                                    .messages = d.messages.items,
                                    .count = d.messages.len};
    bool ok = discard.count == 0 ||
              sink->index(sink->context, j->store, &discard, &ev->compaction.entries_indexed, e);
    if (ok && discard.count > 0)
        *indexed = indexed_event(j, ev);
    vec_release(&d.messages);
    return ok;
}

/* The history has been replaced, and takes no notice of `indexed` but for its number. */
static bool keep_events(struct journal *j, const struct event *ev, const struct event *indexed,
                        struct error *e)
{
    if (!keep_event(j, ev, e))
        return false;
    if (indexed)
        history_apply(&j->history, indexed);
    return !indexed || keep_event(j, indexed, e);
}

/* Log, row and snapshot. */
static bool keep_compaction(struct journal *j, const struct event *ev, const struct event *indexed,
                            struct error *e)
{
    return keep_events(j, ev, indexed, e) && snapshot_save(j->store, j->info.id, &j->history, e) &&
           store_commit(j->store, e);
}

/* With the transaction open. */
static bool replace_history(struct journal *j, const struct event *ev, const struct event *indexed,
                            struct error *e)
{
    struct history_backup backup;
    if (!history_compact(&j->history, ev, &backup, e))
        return false;
    bool ok = keep_compaction(j, ev, indexed, e);
    if (ok)
        history_settle(&j->history, &backup);
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

static void name_dropped(const struct journal *j, struct event *ev, const struct rebuild *r)
{
    free(ev->compaction.dropped);
    ev->compaction.dropped = rebuild_dropped_events(r, j->history.messages.items,
                                                    j->history.messages.len, j->info.last_seq);
}

enum commit_result journal_compact(void *journal, struct event *completed, struct error *e)
{
    struct journal *j = journal;
    struct rebuild r;
    const char *history = completed->compaction.history;
    if (!rebuild_from_json(history ? history : "", j->history.messages.len, &r, e))
        return COMMIT_FAILED;
    journal_stamp(j, completed);
    name_dropped(j, completed, &r);
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

static bool withdraw(struct journal *j, int64_t completed_seq, struct error *e)
{
    const struct discard_sink *sink = j->sink;
    return !sink || !sink->withdraw ||
           sink->withdraw(sink->context, j->store, j->info.id, completed_seq, e);
}

/* The history as the log has it, in `before`. */
static bool read_again(struct journal *j, struct history *before, struct error *e)
{
    return snapshot_catch_up(&j->rows, HISTORY_HELD, before, e);
}

static bool keep_undone(struct journal *j, const struct event *ev, struct history *before,
                        struct error *e)
{
    return withdraw(j, ev->number, e) && keep_event(j, ev, e) && read_again(j, before, e) &&
           store_commit(j->store, e);
}

static bool undo(struct journal *j, struct event *ev, struct error *e)
{
    struct history before;
    struct change change;
    if (!store_begin(j->store, e))
        return false;
    change_begin(j, &change);
    history_init(&before);
    if (!keep_undone(j, ev, &before, e)) {
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

static bool can_undo(const struct journal *j, struct error *e)
{
    if (j->history.running)
        return err_set(e, ERR_SESSION_BUSY, "a turn runs; stop it first");
    return j->history.compaction.in_force.len > 0 ||
           err_set(e, ERR_NOTHING_TO_UNDO, "there is no compaction to undo; nothing was taken out");
}

bool journal_uncompact(struct journal *j, struct error *e)
{
    if (!(j->loaded || journal_load(j, e)) || !can_undo(j, e))
        return false;
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
