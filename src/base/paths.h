/* Where things live (XDG base directories), and whole files. Strings returned are the caller's. */
#ifndef BASE_PATHS_H
#define BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

char *paths_config_file(void); /* XDG_CONFIG_HOME/tiro/tiro.ini, ~/.config without the variable */
char *paths_config_dir(void);  /* XDG_CONFIG_HOME/tiro */
char *paths_data_dir(void);    /* XDG_DATA_HOME/tiro,   ~/.local/share */
char *paths_state_dir(void);   /* XDG_STATE_HOME/tiro,  ~/.local/state */

/* So that the names in it survive a power failure. Some file systems cannot sync a directory; what
 * is in the files is safe all the same. */
void paths_sync_parent(const char *path);

/* "a" + "b" = "a/b". */
char *paths_join(const char *dir, const char *name);

/* The directory that holds it: "/a/b" is in "/a", "b" in ".". */
char *paths_parent(const char *path);

/* Makes the directory and its missing parents, mode 0700. */
bool paths_make_dir(const char *path, struct error *e);

/* A descriptor of a regular file or a pipe to read from; -1 with FILE_ERROR, which names the path,
 * for anything else. Never waits: a named pipe without a writer is empty. */
int paths_open_readable(const char *path, struct error *e);

/* Appends a whole file to `out` (whose max is the limit), opened like that. The error names it. */
bool paths_read_file(const char *path, struct buf *out, struct error *e);

/* The same for files that nobody means to be a pipe, whose writer could keep us waiting. */
bool paths_read_regular(const char *path, struct buf *out, struct error *e);

/* Replaces the file atomically (temporary file, fsync, rename), mode 0600. A symbolic link stays,
 * what it points to is replaced. */
bool paths_write_file(const char *path, const void *bytes, size_t len, struct error *e);

/* All of it, however often write() stops in between. False with errno. */
bool paths_write_all(int fd, const void *bytes, size_t len);

/* Files that are written beside the ones that they will replace. Who writes one holds its lock, so
 * that one without a lock is what a killed process left, which the next writer takes away. */

/* Locks one that was just made. False when another process took it away before: make another.
 * A file system without locks is not swept either. */
bool temporary_claim(int fd);

/* Removes the abandoned ones of the directory: regular files of ours whose names begin like this
 * and have so many more bytes. What cannot be removed stays. -1: no directory. */
void temporary_sweep(int directory, const char *beginning, size_t more);

/* A file that appears under its name only when it is whole: it is written beside it, synchronised
 * and moved there. Mode 0600. What a killed process left of its writing, NAME.tiro-XXXXXX, is taken
 * away by the next that writes the same file. */

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

/* The files of data/ that are built into the program (generated: data/embedded.c). */

struct embedded {
    const char *name; /* path within data/: "tiro.ini", "themes/dark.ini" */
    const char *text; /* NUL-terminated */
    size_t len;
};

extern const struct embedded embedded_files[]; /* ends with a NULL name */

/* NULL if there is no such file. */
const char *embedded_text(const char *name);

/* A library as a table of its functions, loaded when it is first needed: what few need takes no
 * memory and no time at a start. */

struct late_function {
    const char *name;
    size_t member; /* offset within the table of the pointer to it */
};

/* Fills in the pointers of the table. `name` is for people, `file` for the loader. False with
 * AGENT_ERROR: it is not there, or lacks a function; the next call tries again. */
bool late_library_load(void *table, const char *name, const char *file,
                       const struct late_function *functions, size_t count, struct error *e);

#endif
