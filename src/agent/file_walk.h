/* The files below a directory, in the order of their paths. Symbolic links are not followed, and
 * nothing that changes on the disk meanwhile leads out of it. */
#ifndef AGENT_FILE_WALK_H
#define AGENT_FILE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { FILE_WALK_MAX_DEPTH = 32 };

struct file_walk {
    struct buf path; /* set it to what the paths begin with: empty, or a name with a slash */
    bool (*wanted)(void *context, const char *path);
    bool (*enter)(void *context, const char *path); /* a directory, with a slash at its end */
    /* A regular file that is wanted, open for reading; it closes `fd`. False: no more. */
    bool (*file)(void *context, const char *path, int fd);
    bool (*go_on)(void *context); /* asked often */
    void *context;
    size_t too_deep, unreadable; /* what was left out */
};

/* Takes the directory `fd`. Directories named .git are left out. False when a function said so. */
bool file_walk_run(struct file_walk *w, int fd);

#endif
