/* The files below a file or a folder, in the order of their names, a bounded step at a time. Left
 * out are files that a .gitignore ignores (also one of the folders above, up to the one with .git),
 * names that begin with ".", and symbolic links below the root: they could lead out of it, or in a
 * circle. */
#ifndef KNOWLEDGE_WALK_H
#define KNOWLEDGE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/err.h"

enum {
    WALK_DEPTH = 64,             /* folders below the root */
    WALK_FILES = 2000000,        /* found in all: more is FILE_ERROR */
    WALK_IGNORE_BYTES = 1 << 20, /* that are read of a .gitignore */
    WALK_IGNORE_LINES = 10000    /* … of them */
};

struct walk;

/* `root` is resolved: a link there is followed. FILE_ERROR that names it: it is not there, or
 * neither a folder nor a file that can be read. */
struct walk *walk_new(const char *root, struct error *e);
void walk_free(struct walk *w); /* NULL is fine */

/* The root's resolved path. */
const char *walk_root(const struct walk *w);

struct walk_file {
    const char *path; /* absolute; until the next call */
    struct stat stat;
};
/* The next file; *found false: that was all. A folder that cannot be read is passed over. */
bool walk_next(struct walk *w, struct walk_file *out, bool *found, struct error *e);

/* Whether a pattern of gitignore(5) fits a path: "*", "?", "[a-z]" within a name, "**" for any
 * directories; "\" takes a character as it is. Takes at most the product of their lengths. */
bool ignore_fits(const char *pattern, const char *path);

#endif
