/* The configuration file, and one key changed in it. */
#ifndef CONFIG_CONFIG_FILE_H
#define CONFIG_CONFIG_FILE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum { CONFIG_FILE_MAX = 1 << 20 }; /* bytes that are read */

struct config_file {
    char *path;
    struct buf text, changed; /* before and after */
};

void config_file_init(struct config_file *f);
void config_file_release(struct config_file *f);

/* Begins anew with what is there; a missing file is empty. FILE_ERROR for what is no text. */
bool config_file_read(struct config_file *f, struct error *e);

/* `changed` takes its place, in a directory that is made if it is missing. */
bool config_file_write(const struct config_file *f, struct error *e);

/* A descriptor to close: until then no other process changes it, if its file system knows locks.
 * -1: not locked. */
int config_file_lock(struct error *e);

/* Sets a key that config_edit_check() is content with; all else in the file stays. */
bool config_file_set(const char *section, const char *name, const char *value, struct error *e);

#endif
