/* One session's record while it is open: numbers its events, keeps them in the store, folds them
 * into the history and shows them to the surface. Lives on the agent thread. */
#ifndef SESSION_JOURNAL_H
#define SESSION_JOURNAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/mailbox.h"
#include "chat/history.h"
#include "chat/session_info.h"
#include "store/event_log.h"
#include "store/store.h"

struct journal {
    struct store *store;     /* borrowed; NULL: nothing is kept */
    const char *directory;   /* of the store's file, for the lock; borrowed */
    struct mailbox *notices; /* borrowed */
    struct session_info info;
    struct history history;
    bool stored; /* the session has a row */
    int lock;    /* held from the first write on; -1: not held */

    /* What streamed since the last checkpoint. */
    struct buf pending;
    enum event_type pending_type;
    int64_t pending_seq, pending_since_ms;
};

/* The state of no session: a fresh one begins with journal_begin() or journal_resume(). */
void journal_init(struct journal *j, struct mailbox *notices);
void journal_release(struct journal *j);

/* A new session, which gets its row with its first event or draft. */
void journal_begin(struct journal *j, const char *directory);

/* Opens a stored one in place of the current, which stays untouched on failure. `tail` receives the
 * last screens' events; the history is not loaded yet (journal_load_history()). */
bool journal_resume(struct journal *j, const char *reference, struct event_list *tail, bool *more,
                    struct error *e);
/* The history as the store has it; what is in memory stays on failure. */
bool journal_load_history(struct journal *j, struct error *e);

/* struct agent's emit. Takes the event. Deltas are shown at once and kept in checkpoints of a
 * second; all else is kept before it is shown. The end of a run, the session's row and the snapshot
 * are one transaction. */
bool journal_emit(void *journal, struct event *ev, struct error *e);

/* NULL or "" for none. */
bool journal_save_draft(struct journal *j, const char *draft, struct error *e);

/* A session without a title is named after its first message. */
void journal_name(struct journal *j, const char *text);

/* Writes the row (title, model, …) if the session has one. */
bool journal_save_info(struct journal *j, struct error *e);

#endif
