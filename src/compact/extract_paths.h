/* File paths in texts, told from other words by how they look. */
#ifndef COMPACT_EXTRACT_PATHS_H
#define COMPACT_EXTRACT_PATHS_H

#include <stdbool.h>

#include "base/vec.h"

struct path_set {
    VEC(char *) items; /* owned, no two alike */
    size_t max;
};
void path_set_release(struct path_set *s);

/* Adds the paths of a text until the set is full. `names`: a file's name alone counts as well, as
 * it does in the arguments of a tool. */
void path_set_add(struct path_set *s, const char *text, bool names);

void path_set_sort(struct path_set *s);

#endif
