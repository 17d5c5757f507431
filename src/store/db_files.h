/* Whole files of a database: who has them open, and copying, comparing and removing them. */
#ifndef STORE_DB_FILES_H
#define STORE_DB_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* Tells which processes have a database open, by the bytes of its files that SQLite locks (see
 * SQLite's documents on the file format and the WAL's format). Looking takes no lock and changes
 * nothing. This process must not have the database open: closing a file drops a process's locks on
 * it. */
struct db_lock {
    bool open;   /* a process has it open: without WAL only while it reads */
    bool locked; /* a process keeps others from reading or writing */
    pid_t pid;   /* of one of them; not above 0: not known */
};
/* False, with errno, when the file cannot be opened. */
bool db_lock_look(const char *path, struct db_lock *out);

/* Locks the file for this process alone until the descriptor is closed; -1 when another process has
 * it open (errno EBUSY) or it cannot be opened for writing. */
int db_lock_take(const char *path);

/* Copies the file and its -wal and -journal, if there are any, to a name that is not taken, and
 * syncs them. FILE_ERROR. */
bool db_files_copy(const char *from, const char *to, bool (*go_on)(void *context), void *context,
                   struct error *e);

/* Whether the file behind the descriptor, and the -wal and -journal of its path, still have the
 * bytes of the copies. */
bool db_files_same(int fd, const char *path, const char *copy);

/* Whether the database and the files beside it, if they exist, are regular files: SQLite would wait
 * for ever for the other end of a pipe. Else `out` is the path of one that is not, which the caller
 * frees. */
bool db_files_regular(const char *path, char **out);

/* Of the file itself, which is "", and of the files that SQLite keeps beside it, up to a NULL. */
extern const char *const db_file_endings[];

/* Removes -wal, -shm and -journal of the path. */
void db_files_remove_beside(const char *path);
void db_files_remove(const char *path); /* and the file itself */

/* Makes sure that the file survives a power failure. */
bool db_files_sync(const char *path, struct error *e);

#endif
