/* Whole files of a database: copied, compared and taken away with what belongs to them. */
#ifndef STORE_DB_COPY_H
#define STORE_DB_COPY_H

#include <stdbool.h>

#include "base/err.h"

/* Copies the file and its -wal and -journal, where there are such, to a name that is not taken, and
 * makes sure that they are on the disk. FILE_ERROR. */
bool db_copy(const char *from, const char *to, bool (*go_on)(void *context), void *context,
             struct error *e);

/* Whether the file behind the descriptor and the -wal and -journal of `path`, whose it is, still
 * have the bytes of the copies. */
bool db_copy_same(int fd, const char *path, const char *copy);

/* Whether the database and what belongs to it, as far as it is there, are regular files: SQLite
 * would wait for ever for a pipe's other end. Else `out` is the path of one that is none, which the
 * caller frees. */
bool db_copy_are_files(const char *path, char **out);

/* Of the file itself, which is "", and of what SQLite keeps beside it, up to a NULL. */
extern const char *const db_copy_endings[];

/* Removes -wal, -shm and -journal of the path. */
void db_copy_remove_beside(const char *path);
void db_copy_remove(const char *path); /* and the file itself */

/* What was written to the file survives a power failure. */
bool db_copy_sync(const char *path, struct error *e);

#endif
