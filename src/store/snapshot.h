/* The history as it stood after a turn: a shortcut that resume may take, never the truth. One row a
 * message, so that a turn costs what it added and not what came before. */
#ifndef STORE_SNAPSHOT_H
#define STORE_SNAPSHOT_H

#include <stdbool.h>

#include "chat/history.h"
#include "store/store.h"

/* Writes the counters and the messages from h->unsaved on that are not in their rows, deletes some
 * of the rows behind them, and sets h->unsaved to the end. After a transaction that was rolled back
 * the caller sets h->unsaved to 0. */
bool snapshot_save(struct store *s, const char *session_id, struct history *h, struct error *e);

/* Snapshot + the events after it; without one (or with one that cannot be read, or that knows of a
 * compaction or a rewind that was undone since) all events. `out` is initialised here; an open run
 * is left open for the caller to drop. */
bool snapshot_resume(struct store *s, const char *session_id, struct history *out, struct error *e);

/* The rows of a session's snapshot as a source of messages. Another process may have written them
 * since: one that is not the message any more is a fault. */
struct snapshot_rows {
    struct message_source source;
    struct store *store;
    char session_id[UUID_LEN + 1];
};
void snapshot_rows_init(struct snapshot_rows *r, struct store *s, const char *session_id);

/* The same history, of which the messages that are older than so many tokens are left in the rows
 * (history_shed()). `rows` are its source, and must outlive it. With `is_long` (false before), a
 * log that has more than 2 MiB of text behind the snapshot sets it and leaves `out` empty: it is
 * for snapshot_catch_up(). NULL: messages without a row are held, whatever their size. */
bool snapshot_open(struct snapshot_rows *rows, int64_t tokens, struct history *out, bool *is_long,
                   struct error *e);

/* The same for a caller that may write, in a transaction: messages of the log are saved as they are
 * read and left in the rows, so that a long log is never in memory as a whole. */
bool snapshot_catch_up(struct snapshot_rows *rows, int64_t tokens, struct history *out,
                       struct error *e);

/* Figures of a session that was opened, without its messages, as in chat/history.h; without a
 * snapshot last_input is -1 and the rest 0. */
struct snapshot_counters {
    bool known; /* there is one */
    int64_t estimate, last_input, unpriced;
    struct request_measure measure;
    int compactions; /* in force */
    bool suspended;
};
bool snapshot_counters(struct store *s, const char *session_id, struct snapshot_counters *out,
                       struct error *e);

/* Deletes all rows behind its messages, which compactions left. */
bool snapshot_trim(struct store *s, const char *session_id, struct error *e);

#endif
