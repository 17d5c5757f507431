/* A file that appears under its name only when it is whole: it is written beside it, synchronised
 * and moved there. Mode 0600. What a killed process left of its writing, NAME.tiro-XXXXXX, is taken
 * away by the next that writes the same file. */
#ifndef BASE_WHOLE_FILE_H
#define BASE_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct whole_file {
    char *target;    /* a symbolic link stays, what it points to is replaced */
    char *temporary; /* NULL: there is none (any more) */
    int fd;          /* -1: closed */
    bool replace;
};

/* FILE_ERROR when there is something that is no regular file, or anything at all unless `replace`.
 * After a failure here or below nothing is left to be released. */
bool whole_file_begin(struct whole_file *f, const char *path, bool replace, struct error *e);
bool whole_file_write(struct whole_file *f, const void *bytes, size_t len, struct error *e);
/* What whole_file_finish() would wait for on the disk, for who must not wait then. */
bool whole_file_sync(struct whole_file *f, struct error *e);
bool whole_file_finish(struct whole_file *f, struct error *e);

/* Does that by itself, for a file that may not be written again. */
void whole_file_sweep(const char *path);

/* Leaves what was there before; after whole_file_finish() or a failure nothing happens. */
void whole_file_drop(struct whole_file *f);

#endif
