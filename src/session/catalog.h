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

#endif
