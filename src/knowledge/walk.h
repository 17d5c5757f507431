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
#include "base/vec.h"

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

/* What a .gitignore leaves out (gitignore(5)). Pure; a hostile pattern takes no more than its
 * length times the path's. */

/* The lines of one file. */
struct ignore_rule {
    char *pattern;  /* without "!" and the slashes at its ends */
    bool negated;   /* it takes in again */
    bool directory; /* it is said of directories alone */
    bool
        anchored; /* it is compared with the path from the file's directory on, not with the name */
};
struct ignore_rules {
    VEC(struct ignore_rule) items;
};

enum { IGNORE_LINES = 10000 }; /* more are passed over */

void ignore_read(struct ignore_rules *out, const char *text, size_t len);
void ignore_release(struct ignore_rules *r);

/* Of a path below the file's directory; the last line that fits says it. */
enum ignore_verdict { IGNORE_UNSAID, IGNORE_OUT, IGNORE_IN };
enum ignore_verdict ignore_says(const struct ignore_rules *r, const char *path, bool is_directory);

/* "*", "?", "[a-z]" within a name, "**" for any directories; "\" takes a character as it is. */
bool ignore_fits(const char *pattern, const char *path);

#endif
