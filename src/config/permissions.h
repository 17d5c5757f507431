/* The grants (agent/tool.h) that the user gave for always in a project: permissions.json (0600)
 * beside the store. The key of a project is the real path of its top directory. No file of the
 * project is read. */
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

/* Reads the permissions of the project; a missing file has none. FILE_ERROR: the file cannot be
 * read or has another form; `out` is empty then. To be released in either case. */
bool permissions_read(const char *project, struct permissions *out, struct error *e);

/* The projects that have permissions, as permissions_read() in all else. */
bool permissions_projects(struct permissions *out, struct error *e);

/* Adds a permission or removes it, under a lock. FILE_ERROR: the file cannot be read, and stays as
 * it is, or cannot be written. */
bool permissions_set(const char *project, const char *permission, bool allowed, struct error *e);

#endif
