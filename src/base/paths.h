/* Files: where they are (XDG base directories), reading and replacing them whole, those built into
 * the program, and libraries loaded when needed. Returned strings are the caller's. */
#ifndef BASE_PATHS_H
#define BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum paths_place {
    PATHS_CONFIG, /* XDG_CONFIG_HOME/tiro, ~/.config/tiro without the variable */
    PATHS_DATA,   /* XDG_DATA_HOME/tiro, ~/.local/share/tiro */
    PATHS_STATE   /* XDG_STATE_HOME/tiro, ~/.local/state/tiro */
};
char *paths_dir(enum paths_place place);

/* The file in which settings are saved: of the profile, else tiro.ini in PATHS_CONFIG. */
char *paths_config_file(void);

/* The profile's file, profiles/NAME.ini in PATHS_CONFIG, is read after tiro.ini. NULL: there is no
 * profile. Set it before the configuration is read. False, with nothing changed, for a name that is
 * "", begins with a dot, has a slash or is too long. */
bool paths_set_profile(const char *name);
const char *paths_profile(void);

/* "a" + "b" = "a/b". */
char *paths_join(const char *dir, const char *name);

/* Whether an absolute path is the directory or below it, by name alone. */
bool paths_within(const char *path, const char *directory);

/* The directory of a path: "/a" of "/a/b", "." of "b". */
char *paths_parent(const char *path);

/* Makes the directory and its missing parents, mode 0700. */
bool paths_make_dir(const char *path, struct error *e);

/* Synchronises the directory of the file, so that its name survives a power failure. Ignores
 * failures: some file systems cannot do it. */
void paths_sync_parent(const char *path);

enum paths_kind {
    PATHS_FILE,         /* a regular file */
    PATHS_FILE_NO_LINK, /* the same, and its name is no symbolic link */
    PATHS_FILE_OR_PIPE  /* the writer of a pipe can keep its reader waiting */
};

/* Opens a file of the kind for reading; -1 with FILE_ERROR, which names the path, for anything
 * else. Never waits: a named pipe without a writer is empty. */
int paths_open_readable(const char *path, enum paths_kind kind, struct error *e);

/* Appends a whole file to `out` (whose max is the limit), opened like that. The error names it. */
bool paths_read_file(const char *path, enum paths_kind kind, struct buf *out, struct error *e);

/* Replaces the file, or the target of a symbolic link, atomically (temporary file, fsync, rename),
 * mode 0600. */
bool paths_write_file(const char *path, const void *bytes, size_t len, struct error *e);

/* write() until all is written. False with errno. */
bool paths_write_all(int fd, const void *bytes, size_t len);

/* ---- temporary files beside the files that they replace ---- The writer of one holds its lock. A
 * file without a lock was left by a killed process, and the next writer removes it. */

/* Locks a file that was just made. False when another process removed it before: make another.
 * A file system without locks is not swept either. */
bool temporary_claim(int fd);

/* Removes the abandoned files of the directory (-1: none): our own regular files whose names are
 * `beginning` and so many more bytes. Failures are ignored. */
void temporary_sweep(int directory, const char *beginning, size_t more);

/* ---- a file that appears under its name only when it is whole ---- It is written to
 * NAME.tiro-XXXXXX beside it, synchronised and renamed. Mode 0600. */

struct whole_file {
    char *target;    /* of a symbolic link what it points to */
    char *temporary; /* NULL: none (any more) */
    int fd;          /* -1: closed */
    bool replace;
};

/* FILE_ERROR when the path exists and is no regular file, or exists at all unless `replace`. After
 * a failure here or below nothing is left to be released. */
bool whole_file_begin(struct whole_file *f, const char *path, bool replace, struct error *e);
bool whole_file_write(struct whole_file *f, const void *bytes, size_t len, struct error *e);
/* Synchronises now, so that whole_file_finish() need not wait long for the disk. */
bool whole_file_sync(struct whole_file *f, struct error *e);
bool whole_file_finish(struct whole_file *f, struct error *e);

/* Removes what killed processes left beside this path; whole_file_begin() does it, too. */
void whole_file_sweep(const char *path);

/* Gives up: the old file stays. No effect after whole_file_finish() or a failure. */
void whole_file_drop(struct whole_file *f);

/* ---- the files of data/ that are built into the program (generated: data/embedded.c) ---- */

struct embedded {
    const char *name; /* path within data/: "tiro.ini", "themes/dark.ini" */
    const char *text; /* NUL-terminated */
    size_t len;
};

extern const struct embedded embedded_files[]; /* ends with a NULL name */

/* NULL if there is no such file. */
const char *embedded_text(const char *name);

/* ---- a library as a table of its functions ---- Loaded when first needed, so that a start costs
 * neither memory nor time for it. */

struct late_function {
    const char *name;
    size_t member; /* offset within the table of the pointer to it */
};

/* Fills in the pointers of the table. `name` is for people, `file` for the loader. AGENT_ERROR when
 * the library is missing or lacks a function; the next call tries again. */
bool late_library_load(void *table, const char *name, const char *file,
                       const struct late_function *functions, size_t count, struct error *e);

#endif
