/* Zip files for tests, well formed except where a test asks for a fault. */
#ifndef TESTS_ZIP_FILE_H
#define TESTS_ZIP_FILE_H

#include <stdbool.h>

#include "base/buf.h"

struct zip_file {
    struct buf bytes, directory;
    unsigned count;
};

/* Adds a member unchanged; `encrypted` only sets its flag. */
void zip_add(struct zip_file *z, const char *name, const char *bytes, size_t len, bool encrypted);
/* Adds a member that begins with `start` and expands to this many bytes of blanks; 1/158 of that is
 * stored. */
void zip_add_bomb(struct zip_file *z, const char *name, const char *start, size_t grown);
/* Writes it to the path and releases it. */
void zip_write(struct zip_file *z, const char *path);

#endif
