/* Opening a path that a model named, inside one directory and nowhere else: `..`, symbolic links
 * and absolute paths cannot leave it, whatever changes on the disk meanwhile. */
#ifndef AGENT_CONFINE_H
#define AGENT_CONFINE_H

#include <stdbool.h>

#include "base/err.h"

/* Resolves `path` below the directory `root_fd`, whose resolved name is `root`. Absolute paths are
 * accepted when they begin with `root`; links are followed while they stay inside (40 at most).
 * Opens with `flags` and O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK. Returns the descriptor, or -1 with
 * FILE_ERROR, which names the path as it was given. `where` (NULL: not wanted) is the absolute path
 * of what was opened, without links; the caller frees. */
int confine_open(int root_fd, const char *root, const char *path, int flags, char **where,
                 struct error *e);

/* That path alone, also of what does not exist. NULL: it leads out, or cannot be followed. */
char *confine_resolve(int root_fd, const char *root, const char *path);

/* Where a file is or would be. */
struct confine_place {
    int dir;    /* the directory, open; -1: it does not exist either */
    char *name; /* in it; whatever it is, it is no link that leads elsewhere */
    char *where; /* the absolute path of that, without links */
};

/* Resolves `path` but for its last component, which need not exist; a link there is followed.
 * With `make`, directories that lack on the way are made. False with FILE_ERROR, also for a path
 * that can only be a directory. */
bool confine_find(int root_fd, const char *root, const char *path, bool make,
                  struct confine_place *out, struct error *e);
void confine_place_release(struct confine_place *p);

#endif
