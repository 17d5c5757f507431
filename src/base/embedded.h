/* The files of data/ that are built into the program (generated: data/embedded.c). */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

#include <stddef.h>

struct embedded {
    const char *name; /* path within data/: "tiro.ini", "themes/dark.ini" */
    const char *text; /* NUL-terminated */
    size_t len;
};

extern const struct embedded embedded_files[]; /* ends with a NULL name */

/* NULL if there is no such file. */
const char *embedded_text(const char *name);

#endif
