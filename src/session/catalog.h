/* Saved sessions, outside a conversation: the command line, the agent thread and the reader each
 * have a catalog on their own connection. A catalog belongs to one thread.
 *
 * A session is named by a reference, as sessions_resolve() reads it. A reference that matches
 * several sessions is SESSION_AMBIGUOUS, whose text lists candidates.
 *
 * A function that changes a session takes its lock: SESSION_BUSY if another process has it open. */
#ifndef SESSION_CATALOG_H
#define SESSION_CATALOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "chat/event.h"
#include "chat/session_info.h"
#include "store/sessions.h"
#include "store/store.h"

struct catalog {
    struct store *store; /* NULL: no session was ever saved; the catalog is empty */
    char *directory;     /* of the store's file; NULL: the store is in memory and has no locks */
    char held[UUID_LEN + 1]; /* a session whose lock the caller holds; "": none */
    bool borrowed;           /* catalog_release() does not close the store */
};

enum catalog_access { CATALOG_READ, CATALOG_WRITE };

/* Opens a connection. The caller has checked that sessions are saved (operation.h). For
 * CATALOG_READ a store that does not exist is empty. store_path NULL: the default. */
bool catalog_open(struct catalog *c, const char *store_path, enum catalog_access access,
                  struct error *e);
/* Uses the caller's connection, which stays the caller's. */
void catalog_borrow(struct catalog *c, struct store *store, const char *directory,
                    const char *held);
void catalog_release(struct catalog *c);

bool catalog_list(struct catalog *c, const struct session_filter *filter, struct session_list *out,
                  int64_t *total, struct error *e);
bool catalog_find(struct catalog *c, const char *reference, struct session_info *out,
                  struct error *e);

/* Events with seq > after. `info` (may be NULL) is filled in first. */
bool catalog_read(struct catalog *c, const char *reference, int64_t after,
                  struct session_info *info, bool (*visit)(void *context, const struct event *ev),
                  void *context, struct error *e);

bool catalog_search(struct catalog *c, const char *query, const char *reference, int limit,
                    struct search_hits *out, bool *more, struct error *e);

/* `id` (may be NULL) receives the id of the session. */
bool catalog_rename(struct catalog *c, const char *reference, const char *title,
                    char id[UUID_LEN + 1], struct error *e);
bool catalog_label(struct catalog *c, const char *reference, const char *changes,
                   char id[UUID_LEN + 1], struct error *e);

/* Appends an event to a session that no process has open, and fills in the event's number, time and
 * session. */
bool catalog_append(struct catalog *c, const char *reference, struct event *ev, struct error *e);

/* archived false: takes the session out of the archive. In a store in memory, archiving deletes. */
bool catalog_archive(struct catalog *c, const char *reference, bool archived, char id[UUID_LEN + 1],
                     struct error *e);

/* The session, its log, its derived files and its lock file. */
bool catalog_delete(struct catalog *c, const char *reference, char id[UUID_LEN + 1],
                    struct error *e);

/* Removes some of the deleted text from the indexes. There is some only after a deletion that was
 * killed. False: nothing is left, or a failure, which is logged. */
bool catalog_purge_step(struct catalog *c);

/* In place of an event's number: the session as it was before its last compaction that is in force.
 */
enum { CATALOG_BEFORE_COMPACTION = -1 };

/* Makes a new session of the messages of an old one up to the message of event `at` (0: all), see
 * struct fork_point. USAGE: the session has no such event. `out` is the new session. Its title is
 * the old one's with " (fork)", or " (fork 2)" … if that title exists. The old session may be open.
 */
bool catalog_fork(struct catalog *c, const char *reference, int64_t at, struct session_info *out,
                  struct error *e);

/* The files of deleted sessions: sessions/ID and locks/ID.lock beside the store. The transaction
 * that deletes a session records its id (store/removals.h). The record is deleted when the files
 * are gone, so that files which a killed process left are removed later. No other session gets the
 * id while the record exists. */

/* Removes the files of a deleted session whose lock the caller holds. FILE_ERROR: a file could not
 * be removed, and the record stays. */
bool removal_finish(struct catalog *c, const char *id, struct error *e);

/* Removes the files of at most `limit` sessions whose record is left. Skips sessions that are open
 * somewhere. Failures are logged; the next call tries again. */
void removal_finish_some(struct catalog *c, int limit);

/* Removes lock files whose sessions are not in the store: a process that is killed before it writes
 * the row of a new session leaves one. Files below sessions/ stay, because they may be all that is
 * left of a store that was moved away. */
void removal_sweep_locks(struct catalog *c);

/* The end of a fork in the log of its session. Pure.
 *
 * A message is a user's input (run_started), the answer of one model call (turn_started to
 * turn_completed) or the results of its tools (tool_execution_completed…). A fork has every event
 * up to the end of the message that it was made at, and the end of the run if that comes next. A
 * user's message without an answer becomes the draft of the fork, which then ends before that
 * message and before the message that it retried.
 *
 * With `before` (the event of a compaction) a fork ends with the last run that ended before that
 * event; the user's message of the run in which the compaction happened is the draft. */

/* The log up to one of its events. */
struct fork_stand {
    int64_t seq;               /* 0: none of it */
    struct session_info tally; /* the counters of chat/session_tally.h */
};

struct fork_point {
    int64_t at;     /* the event that was asked for; 0: the end */
    int64_t before; /* the fork ends before this event, with a whole run; 0: no bound */
    int64_t last;   /* the last event of the fork; 0: none */
    bool open;      /* the run goes on after `last`: the fork's log needs a run_completed */
    bool found;     /* the log has the event `at` */
    char *draft;    /* NULL: none; owned */
    struct session_info tally; /* of the events up to `last` */

    /* State of fork_point_look(): */
    struct fork_stand now, message, run; /* so far; before the present message, the present run */
    struct fork_stand compaction;        /* with `before`: before the compaction that has begun */
    bool compacting;
    enum fork_part { FORK_OUTSIDE, FORK_INPUT, FORK_ANSWER, FORK_RESULTS } part;
    int64_t run_seq;    /* the newest run_started; 0 before the first */
    bool run_answered;  /* the run has a text or a tool call */
    bool part_answered; /* the present part of it has one */
    char *input;        /* the user's message of the run; owned */
};

/* `before` 0: no bound. */
void fork_point_begin(struct fork_point *p, int64_t at, int64_t before);

/* Takes the events in ascending order, until it returns false. `point` is a struct fork_point. */
bool fork_point_look(void *point, const struct event *ev);

/* After the last event: fills in the results. */
void fork_point_end(struct fork_point *p);
void fork_point_release(struct fork_point *p);

#endif
