/* At most one process writes to a session: a lock that the kernel drops when its holder dies. */
#ifndef SESSION_LOCK_H
#define SESSION_LOCK_H

#include <stdbool.h>

#include "base/err.h"

/* Takes "DIR/locks/ID.lock", made where it lacks. Never waits: SESSION_BUSY when another process
 * has it. `fd` is -1 on failure. */
bool lock_take(const char *dir, const char *session_id, int *fd, struct error *e);

/* Work that one process does at a time: its name is that of its lock, whose file stays. */
#define LOCK_INGEST "corpora"
#define LOCK_VECTORS "corpora-vectors"
bool lock_is_of_work(const char *name);

/* As lock_take(), of a session or of such work. *waits: another process has it, which is no
 * failure; fd is -1 then. */
bool lock_try(const char *dir, const char *name, int *fd, bool *waits, struct error *e);

/* -1 is fine; sets it to -1. */
void lock_drop(int *fd);

/* Whether nobody holds the session's lock; where nobody can tell, somebody does. */
bool lock_is_free(const char *dir, const char *session_id);

/* Whether a process holds the lock of this name in the directory of locks. A file that is no lock
 * is none that is held. */
bool lock_is_held(int locks, const char *name);

/* Takes the file of a session that is no more away; its holder keeps what it has. That it lacks is
 * fine. */
bool lock_remove(const char *dir, const char *session_id, struct error *e);

/* Whether a session is known. False: nobody can tell. */
typedef bool lock_ask(void *context, const char *session_id, bool *known);

/* Removes the lock files that nobody holds and whose sessions are not known. Ends at the first that
 * nobody can tell of: to ask a store that does not answer takes seconds. */
void lock_sweep(const char *dir, lock_ask *ask, void *context);

#endif
