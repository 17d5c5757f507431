/* Zip files for tests, well formed but for what is meant not to be. */
#ifndef TESTS_ZIP_FILE_H
#define TESTS_ZIP_FILE_H

#include <stdbool.h>

#include "base/buf.h"

struct zip_file {
    struct buf bytes, directory;
    unsigned count;
};

/* Adds a member as it stands; `encrypted` only says so. */
void zip_add(struct zip_file *z, const char *name, const char *bytes, size_t len, bool encrypted);
/* One that begins with `start` and grows to this many bytes of blanks; a 158th of it is stored. */
void zip_add_bomb(struct zip_file *z, const char *name, const char *start, size_t grown);
/* Writes it to the path and releases it. */
void zip_write(struct zip_file *z, const char *path);

#endif
