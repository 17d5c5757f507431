/* Opening a path that a model named, inside one directory and nowhere else: `..`, symbolic links
 * and absolute paths cannot leave it, whatever changes on the disk meanwhile. */
#ifndef AGENT_CONFINE_H
#define AGENT_CONFINE_H

#include "base/err.h"

/* Resolves `path` below the directory `root_fd`, whose resolved name is `root`. Absolute paths are
 * accepted when they begin with `root`; links are followed while they stay inside (40 at most).
 * Opens with `flags` and O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK. Returns the descriptor, or -1 with
 * FILE_ERROR, which names the path as it was given. */
int confine_open(int root_fd, const char *root, const char *path, int flags, struct error *e);

#endif
