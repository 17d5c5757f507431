/* The files of sessions that were deleted: sessions/ID and locks/ID.lock beside the store. The
 * transaction that deletes a session notes its id down (store/removals.h); it is struck out when
 * the files are gone, so that a kill in between leaves nothing for good. As long as it is noted
 * down, no other session gets that id. */
#ifndef SESSION_REMOVAL_H
#define SESSION_REMOVAL_H

#include "session/catalog.h"

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
