/* What may be done with kept sessions from outside a conversation: the command line's part of the
 * engine, and what the agent thread and the reader do on their own connections. Belongs to one
 * thread.
 *
 * A session is named by a reference, as sessions_resolve() reads it. Where several match, it is
 * SESSION_AMBIGUOUS, whose text lists candidates.
 *
 * Whatever changes a session needs its lock: SESSION_BUSY when another process has it open. */
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
    struct store *store; /* NULL: nothing was ever kept, an empty catalog */
    char *directory;     /* that holds the store; NULL: it is in memory alone, and needs no locks */
    char held[UUID_LEN + 1]; /* a session whose lock the caller has already; "" for none */
    bool borrowed;           /* the store is not ours to close */
};

enum catalog_access { CATALOG_READ, CATALOG_WRITE };

/* With a connection of its own. Whether sessions are kept is the caller's question (operation.h). A
 * store that does not exist yet is empty to readers. store_path NULL: the default. */
bool catalog_open(struct catalog *c, const char *store_path, enum catalog_access access,
                  struct error *e);
/* On the caller's connection. */
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

/* `id` (may be NULL) receives which session it was. */
bool catalog_rename(struct catalog *c, const char *reference, const char *title,
                    char id[UUID_LEN + 1], struct error *e);
bool catalog_label(struct catalog *c, const char *reference, const char *changes,
                   char id[UUID_LEN + 1], struct error *e);

/* Appends what was done with the session while nobody has it open; number, time and session of the
 * event are filled in. */
bool catalog_append(struct catalog *c, const char *reference, struct event *ev, struct error *e);

/* archived false takes it out of the archive again. In a store of memory alone, archiving is
 * deleting. */
bool catalog_archive(struct catalog *c, const char *reference, bool archived, char id[UUID_LEN + 1],
                     struct error *e);

/* The session, its log, its derived files and its lock file. */
bool catalog_delete(struct catalog *c, const char *reference, char id[UUID_LEN + 1],
                    struct error *e);

/* Takes a part of what is deleted out of the indexes: of a deletion that a kill cut off, else there
 * is nothing. False: nothing is left, or it cannot be done now, which is logged. */
bool catalog_purge_step(struct catalog *c);

/* In place of an event's number: as the session was before its last compaction that holds. */
enum { CATALOG_BEFORE_COMPACTION = -1 };

/* A new session with the messages of an old one up to the message that event `at` belongs to (0:
 * all), as fork.h says. USAGE where it has none such. `out` is the new one, titled as the old one
 * with " (fork)", or " (fork 2)" … where that is taken. The old one need not be free. */
bool catalog_fork(struct catalog *c, const char *reference, int64_t at, struct session_info *out,
                  struct error *e);

/* The files of sessions that were deleted: sessions/ID and locks/ID.lock beside the store. The
 * transaction that deletes a session notes its id down (store/removals.h); it is struck out when
 * the files are gone, so that a kill in between leaves nothing for good. As long as it is noted
 * down, no other session gets that id. */

/* Of one session that is deleted and whose lock the caller has. FILE_ERROR where a file could not
 * be removed: then it stays noted down. */
bool removal_finish(struct catalog *c, const char *id, struct error *e);

/* Of at most `limit` sessions whose deleting process did not come to it, or failed. Those that are
 * open somewhere wait. Failures are logged, and tried again when this is called the next time. */
void removal_finish_some(struct catalog *c, int limit);

/* Lock files whose sessions are not in the store, as a kill leaves one between the lock and the row
 * of a new session. Files below sessions/ stay: they may be all that is left of a store that was
 * moved away. */
void removal_sweep_locks(struct catalog *c);

/* Where a fork parts from its session. Pure.
 *
 * A message is a user's input (run_started), one model call's answer (turn_started and what follows
 * until turn_completed) or the results of its tools (tool_execution_completed…). A fork takes along
 * everything up to the end of the message that it was made at, and the end of the run where that
 * comes right after it. A user's message without its answer is no history: it becomes the draft of
 * the fork, which then ends before it, and before what it retried.
 *
 * As a session was before one of its compactions (`before`), a fork ends with the last run that
 * ended before that; the user's message of the run that it came in is the draft. */

/* A log up to one of its events. */
struct fork_stand {
    int64_t seq;               /* 0: nothing of it */
    struct session_info tally; /* what chat/session_tally.h counts */
};

struct fork_point {
    int64_t at;                /* asked for; 0: the end */
    int64_t before;            /* nothing from this event on, and no part of a run; 0: no bound */
    int64_t last;              /* the last event to take along; 0: none */
    bool open;                 /* the run goes on behind it: the fork's log needs a run_completed */
    bool found;                /* `at` is within the log */
    char *draft;               /* NULL: none; owned */
    struct session_info tally; /* of the events up to `last` */

    /* While it looks: */
    struct fork_stand now, message, run; /* so far; before the message, the run that now is at */
    struct fork_stand compaction;        /* before the one that has begun, with `before` */
    bool compacting;
    enum fork_part { FORK_OUTSIDE, FORK_INPUT, FORK_ANSWER, FORK_RESULTS } part;
    int64_t run_seq;    /* the newest run_started; 0 before the first */
    bool run_answered;  /* that run has a text or a call */
    bool part_answered; /* so has this part of it */
    char *input;        /* and what the user said */
};

void fork_point_begin(struct fork_point *p, int64_t at);

/* The same before the event of this number. */
void fork_point_begin_before(struct fork_point *p, int64_t before);

/* Events in ascending order, until it returns false. */
bool fork_point_look(struct fork_point *p, const struct event *ev);

/* Behind the last of them: fills in the results. */
void fork_point_end(struct fork_point *p);
void fork_point_release(struct fork_point *p);

#endif
