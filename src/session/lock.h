/* At most one process writes to a session: a lock that the kernel drops when its holder dies. */
#ifndef SESSION_LOCK_H
#define SESSION_LOCK_H

#include <stdbool.h>

#include "base/err.h"

/* Locks "DIR/locks/ID.lock" and creates it if needed. Never waits: SESSION_BUSY if another process
 * has the lock. `fd` is -1 on failure. */
bool lock_take(const char *dir, const char *session_id, int *fd, struct error *e);

/* Work that one process does at a time. Its name is that of its lock file, which stays. */
#define LOCK_INGEST "corpora"
#define LOCK_VECTORS "corpora-vectors"
#define LOCK_IMPORT "import"
bool lock_is_of_work(const char *name);

/* As lock_take(), of a session or of such work. *waits: another process has it, which is no
 * failure; fd is -1 then. */
bool lock_try(const char *dir, const char *name, int *fd, bool *waits, struct error *e);

/* -1 is fine; sets it to -1. */
void lock_drop(int *fd);

/* True if no process holds the session's lock; false also if that cannot be determined. */
bool lock_is_free(const char *dir, const char *session_id);

/* True if a process holds the lock of this name in the directory of locks. False for a file that is
 * no lock. */
bool lock_is_held(int locks, const char *name);

/* Removes the lock file of a deleted session; a holder keeps its lock. A missing file is no error.
 */
bool lock_remove(const char *dir, const char *session_id, struct error *e);

/* Sets whether a session is known. False: that cannot be determined. */
typedef bool lock_ask(void *context, const char *session_id, bool *known);

/* Removes the lock files that no process holds and whose sessions are not known. Ends when `ask`
 * returns false: asking a store that does not answer takes seconds. */
void lock_sweep(const char *dir, lock_ask *ask, void *context);

#endif
