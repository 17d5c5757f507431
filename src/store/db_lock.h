/* Who has a database open, by the bytes of its files that SQLite locks (its documents on the file
 * format and on the WAL's format name them). Asking takes no lock and changes nothing. This process
 * must not have the database open: closing a file drops a process's locks on it. */
#ifndef STORE_DB_LOCK_H
#define STORE_DB_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

struct db_lock {
    bool open;   /* a process has it open: a reader of old, or any that uses the WAL */
    bool locked; /* a process keeps others from reading or writing */
    pid_t pid;   /* of one that does; not above 0: cannot be told */
};

/* False, with errno, when the file cannot be opened. */
bool db_lock_look(const char *path, struct db_lock *out);

/* Takes the file for us alone until the descriptor is closed; -1 when another process has it open
 * (errno EBUSY) or it cannot be opened for writing. */
int db_lock_take(const char *path);

#endif
