/* Names of files as a shell or git writes them: *, ?, [a-z], {c,h}, directories of any depth. */
#ifndef AGENT_GLOB_H
#define AGENT_GLOB_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"

struct glob {
    VEC(char *) patterns;
};

/* Fails when the braces stand for too many. */
bool glob_read(struct glob *g, const char *text, struct error *e);
void glob_release(struct glob *g);

/* A pattern without a slash is compared with the last component of the path, one with a slash with
 * the path. A star stands for slashes, too. */
bool glob_matches(const struct glob *g, const char *path);

#endif
