/* The append-only log of events: the canonical record of every session. */
#ifndef STORE_EVENT_LOG_H
#define STORE_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/event.h"
#include "chat/message.h"
#include "store/store.h"

struct query;

/* Columns of a row that event_row_read() reads. */
#define EVENT_ROW "seq, at, type, version, payload"
/* NULL, with `e`, for an event of unknown type or newer version. */
struct event *event_row_read(const struct query *q, const char *session_id, struct error *e);

/* The functions that write change the log alone: index/transcripts.h has the same with the index of
 * words.
 *
 * Appends events of one session, all or none; the caller numbers them. A number that is already
 * there is SESSION_STORE_ERROR (another process wrote to this session). Within a transaction that
 * is the caller's to roll back when one fails. */
bool event_log_fill(struct store *s, struct event *const *events, size_t count, struct error *e);

/* Puts the events of `from` with seq <= last (0: all) into the log of `to`, which has none yet,
 * under the same numbers. */
bool event_log_copy(struct store *s, const char *from, int64_t last, const char *to,
                    struct error *e);

/* Number of the newest event; 0 when there is none. Costs one step in an index. */
bool event_log_last(struct store *s, const char *session_id, int64_t *seq, struct error *e);

/* Writers store streamed text when it reaches this many bytes, or after a second. */
enum { EVENT_LOG_UNKEPT = 256 * 1024 };

/* Raises *seq, the number of the newest event, past the numbers that readers may have seen and the
 * log lacks. A writer that is killed loses the pieces of text since its last write; each piece has
 * a byte, so there are at most EVENT_LOG_UNKEPT. If their numbers were given again, a reader that
 * resumes after one of them would miss the events that got them. Does nothing unless the log ends
 * within a run or a compaction. Not for a session whose writer is alive. */
bool event_log_skip_told(struct store *s, const char *session_id, int64_t *seq, struct error *e);

/* EVENT_NOT_FOUND: the number is greater than any that readers may have seen. */
bool event_log_was_told(struct store *s, const char *session_id, int64_t seq, struct error *e);

/* Calls `visit` (which borrows the event) for those with seq > after, ascending, until it returns
 * false. Events of unknown type or newer version end the reading with an error. */
bool event_log_read(struct store *s, const char *session_id, int64_t after,
                    bool (*visit)(void *context, const struct event *ev), void *context,
                    struct error *e);
/* The same without deltas, of which a log has most. */
bool event_log_read_whole(struct store *s, const char *session_id, int64_t after,
                          bool (*visit)(void *context, const struct event *ev), void *context,
                          struct error *e);

/* The events with seq > after, ascending, up to `limit` of them and `bytes` of payload; `more`
 * tells whether others follow. The first is taken whatever its size, unless `large` is given: one
 * of more than `bytes` then ends the page before it, and *large is its number (0: none does).
 * Deltas are never large. The caller releases `out`, also after a fault. */
bool event_log_page(struct store *s, const char *session_id, int64_t after, size_t limit,
                    size_t bytes, struct event_list *out, bool *more, int64_t *large,
                    struct error *e);

/* A part of an event's payload, read without the rest: at most `most` bytes (4 at least) from byte
 * `from` on, which ends before a character that does not fit. The payload is JSON in one line: a
 * control character in a damaged one becomes a space. */
struct event_part {
    enum event_type type;
    int64_t wall_ms;
    char *text;  /* the caller frees */
    size_t next; /* byte to go on from; 0: this was the end */
};
/* SESSION_STORE_ERROR: there is no such event, or `from` lies behind its end. */
bool event_log_part(struct store *s, const char *session_id, int64_t seq, size_t from, size_t most,
                    struct event_part *out, struct error *e);

/* The message that begins with event `seq`: its role, time and texts (of a tool all its results),
 * whole and separated by an empty line. Malformed events are left out. */
struct said {
    enum role role;
    enum input_origin origin; /* of a user's */
    int64_t wall_ms;
    char *text; /* the caller frees; NULL: the log has no such message */
};
bool event_log_said(struct store *s, const char *session_id, int64_t seq, struct said *out,
                    struct error *e);

/* The messages of the session, with those of an open turn. Reads no texts. */
bool event_log_messages(struct store *s, const char *session_id, struct log_messages *out,
                        struct error *e);

/* The whole result of a tool for the call of this id, whose message of results began with event
 * `seq`. NULL: the log does not have it. The caller frees. */
bool event_log_tool_result(struct store *s, const char *session_id, int64_t seq, const char *id,
                           char **text, struct error *e);

/* The last `limit` events with seq < before (0: no bound) in ascending order, of whole ones fewer
 * once they have `bytes` of payload (0: any number), but one at least; moved forward to the first
 * run_started among them if there is one. Deltas that a text_complete, a reasoning_complete
 * or the end of a compaction supersedes are left out. `more` tells whether older ones exist. Cost
 * does not grow with the log.
 */
bool event_log_tail(struct store *s, const char *session_id, int64_t before, int limit,
                    size_t bytes, struct event_list *out, bool *more, struct error *e);

/* A compaction_completed or conversation_rewound that is no longer in force, and its
 * compaction_undone or rewind_undone. */
struct undone {
    int64_t of, seq;
};
struct undone_list {
    VEC(struct undone) items; /* ascending by seq */
};

/* Costs nothing where there are none. Malformed events are left out. */
bool event_log_undone(struct store *s, const char *session_id, struct undone_list *out,
                      struct error *e);

/* The newest summary of a compaction in force; NULL: there is none. The caller frees. */
bool event_log_summary(struct store *s, const char *session_id, char **text, struct error *e);

/* Summaries of all compactions, also of undone ones, ascending. */
bool event_log_summaries(struct store *s, const char *session_id,
                         void (*visit)(void *context, int64_t seq, const char *summary),
                         void *context, struct error *e);

/* The messages of the user as a person counts them, from the first on: one whose turn failed or was
 * cut off counts; one that was sent again, or is rewound, does not. */
struct event_turn {
    int64_t seq;  /* of its run_started */
    int64_t from; /* of the first try, where it was sent again */
    int64_t last; /* of what belongs to it; 0: it goes on to the end of the log */
};
struct event_turns {
    VEC(struct event_turn) items;
};
bool event_log_turns(struct store *s, const char *session_id, struct event_turns *out,
                     struct error *e);

/* The N-th of them; 0: the last one. MESSAGE_NOT_SENT: there is no such message. */
bool event_log_nth_turn(struct store *s, const char *session_id, int64_t number,
                        struct event_turn *out, struct error *e);

/* The counters of the session's row (session_tally()) without what is rewound. */
bool event_log_standing(struct store *s, const char *session_id, int64_t *messages, int *turns,
                        struct error *e);

/* The number of the turn that this event belongs to. */
bool event_log_turn(struct store *s, const char *session_id, int64_t seq, int *turn,
                    struct error *e);

/* Texts of the newest run_started events of all sessions, newest first, no doubles. */
bool event_log_inputs(struct store *s, int limit, struct text_list *out, struct error *e);

#endif
