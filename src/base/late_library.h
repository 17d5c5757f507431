/* A library as a table of its functions, loaded when it is first needed: what few need takes no
 * memory and no time at a start. */
#ifndef BASE_LATE_LIBRARY_H
#define BASE_LATE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct late_function {
    const char *name;
    size_t member; /* offset within the table of the pointer to it */
};

/* Fills in the pointers of the table. `name` is for people, `file` for the loader. False with
 * AGENT_ERROR: it is not there, or lacks a function; the next call tries again. */
bool late_library_load(void *table, const char *name, const char *file,
                       const struct late_function *functions, size_t count, struct error *e);

#endif
