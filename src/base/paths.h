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

#endif
