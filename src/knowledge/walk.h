/* The files below a file or a folder, in the order of their names, a bounded step at a time. Left
 * out are what .gitignore says (also that of the folders above, up to the one with .git), names
 * that begin with ".", and symbolic links below the root: so there is no way out of it and no
 * circle. */
#ifndef KNOWLEDGE_WALK_H
#define KNOWLEDGE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/err.h"

enum {
    WALK_DEPTH = 64,            /* folders below the root */
    WALK_FILES = 2000000,       /* found in all: more is FILE_ERROR */
    WALK_IGNORE_BYTES = 1 << 20 /* of a .gitignore; of a larger one the beginning counts */
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
/* The next file; *found false: that was all. A folder that cannot be read is passed over and
 * counted. */
bool walk_next(struct walk *w, struct walk_file *out, bool *found, struct error *e);
size_t walk_unreadable(const struct walk *w);

#endif
