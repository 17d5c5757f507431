/* What the user allowed the tools always in a project, in permissions.json (0600) beside the store.
 * A project is the real path of its top directory; nothing in the project itself is read for it. */
#ifndef CONFIG_PERMISSIONS_H
#define CONFIG_PERMISSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct permissions { /* grown as a VEC */
    char **items;    /* in the order in which they were given */
    size_t len, cap;
};
void permissions_release(struct permissions *p);

/* Those of the project; a missing file has none. FILE_ERROR: it cannot be read, or is not such a
 * file; nothing is allowed then. */
bool permissions_read(const char *project, struct permissions *out, struct error *e);

/* Adds one, or takes it back, under a lock. An unreadable file stays as it is: FILE_ERROR. */
bool permissions_set(const char *project, const char *permission, bool allowed, struct error *e);

#endif
