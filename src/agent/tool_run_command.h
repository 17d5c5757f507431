/* The beginning and the end of an output that may be endless. */
/* Opening a path that a model named, inside one directory and nowhere else: `..`, symbolic links
 * and absolute paths cannot leave it, whatever changes on the disk meanwhile. */
#ifndef AGENT_TOOL_RUN_COMMAND_H
#define AGENT_TOOL_RUN_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct head_tail {
    size_t half; /* bytes of either */
    struct buf head, tail;
    size_t dropped; /* bytes between them */
};

/* Keeps about `max` bytes. */
void head_tail_init(struct head_tail *h, size_t max);
void head_tail_release(struct head_tail *h);
void head_tail_add(struct head_tail *h, const char *bytes, size_t len);

/* Appends what was kept, cleaned (utf8_clean()) and at most `max` bytes, with a note of a line
 * where something was left out. */
void head_tail_show(const struct head_tail *h, struct buf *out);

/* Leaves at most `max` bytes of the beginning, whole characters, with a note behind them. */
void head_tail_cut(struct buf *text, size_t max);

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
    int dir;     /* the directory, open; -1: it does not exist either */
    char *name;  /* in it; whatever it is, it is no link that leads elsewhere */
    char *where; /* the absolute path of that, without links */
};

/* Resolves `path` but for its last component, which need not exist; a link there is followed.
 * With `make`, directories that lack on the way are made. False with FILE_ERROR, also for a path
 * that can only be a directory. */
bool confine_find(int root_fd, const char *root, const char *path, bool make,
                  struct confine_place *out, struct error *e);
void confine_place_release(struct confine_place *p);

#endif
