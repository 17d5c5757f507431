/* Paths that a model names, opened inside the working directory and nowhere else: `..`, symbolic
 * links and absolute paths cannot leave it, whatever changes on the disk meanwhile. */
#ifndef AGENT_CONFINE_H
#define AGENT_CONFINE_H

#include <stdbool.h>

#include "agent/tool.h"

/* Resolves `path` below the directory `root_fd`, whose resolved name is `root`. Absolute paths are
 * accepted when they begin with `root`; links are followed while they stay inside (40 at most).
 * Opens with `flags` and O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK. Returns the descriptor, or -1 with
 * FILE_ERROR, which names the path as it was given. `where` (NULL: not wanted) is the absolute path
 * of what was opened, without links; the caller frees. */
int confine_open(int root_fd, const char *root, const char *path, int flags, char **where,
                 struct error *e);

/* Where a file is or would be. */
struct confine_place {
    int dir;     /* the directory, open; -1: it does not exist either */
    char *name;  /* in it; whatever it is, it is no link that leads elsewhere */
    char *where; /* the absolute path of that, without links */
};

/* Resolves `path` but for its last component, which need not exist; a link there is followed.
 * With `make`, missing directories on the way are made. False with FILE_ERROR, also for a path
 * that can only be a directory. */
bool confine_find(int root_fd, const char *root, const char *path, bool make,
                  struct confine_place *out, struct error *e);
void confine_place_release(struct confine_place *p);

/* --- for tools whose `self` is the struct tool_host ------------------------------------------- */

/* The argument "path" of a call, resolved; default: the directory itself. For struct tool. */
char *builtin_reaches(const void *self, const struct json *args);

/* Opens the path within the working directory. -1, and the reason appended to `out`; also where it
 * leads to a guarded place that the user was not asked about. `where` as in confine_open(). */
int builtin_open(const struct tool_context *context, const char *path, int flags, char **where,
                 struct buf *out);

/* Reads `count` lines of a text file from line `first` (from 1) on; of one that the surface has
 * open, as it stands there. `path` names it for the model, `where` is its resolved path. The file
 * counts as read. False: it is no text file, or cannot be read; `out` says why. */
bool builtin_read(const struct tool_context *context, int fd, const char *path, const char *where,
                  int64_t first, int64_t count, struct buf *out);

/* A file that gets an earlier content, as it is on the disk. */
struct file_present {
    char *where; /* its resolved path */
    bool exists;
    struct buf text;
};
void file_present_release(struct file_present *p);
/* False: it cannot be read, or not be written; `why` says why. */
bool file_present_read(const struct tool_context *context, const char *path,
                       struct file_present *out, struct buf *why);
/* Replaces the content, as edit_file does it, or removes the file (NULL), if it is still as it
 * was read. */
bool file_give_back(const struct tool_context *context, const char *path,
                    const struct file_present *was, const struct buf *content, struct buf *why);

/* Whether this resolved path may be reached; else `e` says why not. */
bool builtin_may_reach(const struct tool_context *context, const char *path, const char *where,
                       struct error *e);

#endif
