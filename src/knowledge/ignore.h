/* What a .gitignore leaves out (gitignore(5)). Pure; a hostile pattern takes no more than its
 * length times the path's. */
#ifndef KNOWLEDGE_IGNORE_H
#define KNOWLEDGE_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

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
