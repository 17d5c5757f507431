/* One session's record while it is open: numbers its events, keeps them in the store, folds them
 * into the history and shows them to the surface. Lives on the agent thread. */
#ifndef SESSION_JOURNAL_H
#define SESSION_JOURNAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/worker.h"
#include "chat/event.h"
#include "chat/history.h"
#include "chat/session_info.h"
#include "compact/compact.h"
#include "compact/discard.h"
#include "store/event_log.h"
#include "store/snapshot.h"
#include "store/store.h"

struct journal {
    struct store *store;     /* borrowed */
    const char *directory;   /* of the store's file, for locks; borrowed; NULL: in memory alone */
    struct mailbox *notices; /* borrowed */
    struct session_info info;
    int64_t told;   /* event numbers up to this are used, see event_log_skip_told() */
    bool stored;    /* the session has a row */
    bool read_only; /* opened with JOURNAL_READ */
    bool lasting;   /* a session keeps its row without messages and draft, too */
    int lock;       /* held from the first write on; -1: not held */

    /* The content of the next request. A session that was only opened has the counters; its
     * messages are loaded by journal_load(). */
    struct history history;
    struct snapshot_rows rows; /* of its older messages */
    bool loaded;
    bool counted;                           /* the counters are known; else journal_load() counts */
    int64_t estimate, last_input, unpriced; /* before that */
    struct request_measure measure;
    int compactions; /* in force, before that */
    bool suspended;

    const struct discard_sink *sink; /* borrowed; NULL: dropped messages are not indexed */
    void (*left)(void *context, const char *session_id); /* called when the journal leaves a
                            session that it wrote to and that has messages; may be NULL */
    void *left_context;

    /* Text that streamed since the last checkpoint. */
    struct buf pending;
    struct event_pieces pending_pieces;
    enum event_type pending_type;
    int pending_part, pending_parts; /* of a summary */
    int64_t pending_since_ms;

    /* A delta that waits until the surface has caught up, and the text that joined it. */
    struct event *held;
    struct buf held_text;
};

/* The state of no session: a fresh one begins with journal_begin() or journal_open(). */
void journal_init(struct journal *j, struct mailbox *notices);
void journal_release(struct journal *j);

/* Begins a new session, which gets its row with its first event or draft. */
void journal_begin(struct journal *j, const char *directory);

enum journal_access { JOURNAL_RESUME, JOURNAL_READ };

/* Opens a saved session in place of the current one, which stays on failure. JOURNAL_RESUME takes
 * its lock and takes it out of the archive; JOURNAL_READ does neither. After a run that was killed
 * the next event skips numbers, see event_log_skip_told(). `tail` (NULL: not wanted) receives the
 * last screens' events. Cost does not grow with the session. */
bool journal_open(struct journal *j, const char *reference, enum journal_access access,
                  struct event_list *tail, bool *more, struct error *e);

/* Leaves the session: state as after journal_init(). */
void journal_close(struct journal *j);

/* The last screens' events, with the text streamed so far. Shows all emitted events first. */
bool journal_tail(struct journal *j, struct event_list *tail, bool *more, struct error *e);

/* Loads the history from the store; the history in memory stays on failure. */
bool journal_load(struct journal *j, struct error *e);

/* struct agent's emit. Takes the event. Deltas are shown at once, or joined into one while the
 * surface is hundreds of notices behind, and kept in checkpoints of a second; all else is kept
 * before it is shown. The end of a run, the session's row and the snapshot are one transaction. */
bool journal_emit(void *journal, struct event *ev, struct error *e);

/* struct agent's commit: memory, history, row, log and snapshot in one transaction; entries_indexed
 * is filled in. Whatever fails, history, row and store are as before. */
enum commit_result journal_compact(void *journal, struct event *completed, struct error *e);

/* Undoes the newest compaction in force: reads the history again from the log without it, keeps
 * later messages and withdraws its entries, in one transaction with the event. Not while a turn
 * runs. The caller checks that compaction is enabled; AGENT_ERROR: there is no compaction. */
bool journal_uncompact(struct journal *j, struct error *e);

/* Goes on from before a message of the user: it and all that follow are no longer in the history.
 * Undoes compactions first that dropped any of these. Not while a turn runs. MESSAGE_NOT_SENT: this
 * is not the number of such a message. */
bool journal_rewind(struct journal *j, int64_t seq, struct error *e);

/* Undoes the newest rewind in force: the messages are in the history again, before later ones.
 * Undoes later compactions first: they were made of another history. NOTHING_TO_UNDO: there is
 * none.
 */
bool journal_unrewind(struct journal *j, struct error *e);

/* Pins the message of this number, or unpins it. MESSAGE_NOT_SENT when the history has no such
 * message, it is a summary, or a tool's is to be pinned. */
bool journal_pin(struct journal *j, int64_t seq, bool pinned, struct error *e);

/* Writes the session's row, after taking its lock if it is not held. */
bool journal_write_row(struct journal *j, struct error *e);

/* NULL or "" for none. */
bool journal_save_draft(struct journal *j, const char *draft, struct error *e);

/* Writes the row (title, model, …) if the session has one. */
bool journal_save_info(struct journal *j, struct error *e);

/* Gives the event the next number, the time and the session. */
void journal_stamp(const struct journal *j, struct event *ev);

#endif
