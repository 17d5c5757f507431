/* The configuration file, and one key changed in its text; every other byte of it stays. */
#ifndef CONFIG_EDIT_H
#define CONFIG_EDIT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Splits "ui.theme", "keys.send" or "model gpt-4.1.window" at the last dot; the caller frees both
 * parts. USAGE when one of them is missing. */
bool config_edit_split(const char *path, char **section, char **name, struct error *e);

/* Whether a file with only this key would be free of problems; else CONFIG_ERROR, with the nearest
 * name. The names of [keys] are not checked. */
bool config_edit_check(const char *section, const char *name, const char *value, struct error *e);

/* Appends to `out` the text with the key set (`value` NULL: without the key): in place of its last
 * value, else below its line that is commented out, else at the end of its section, else in a new
 * section. CONFIG_ERROR when the format cannot hold the value, or something else in the text would
 * change with it. */
bool config_edit_set(const char *text, const char *section, const char *name, const char *value,
                     struct buf *out, struct error *e);

/* The key's last value in the text, or NULL; the caller frees. */
char *config_edit_value(const char *text, const char *section, const char *name);

/* ---- the file ---- */

enum { CONFIG_FILE_MAX = 1 << 20 }; /* bytes that are read */

struct config_file {
    char *path;
    struct buf text, changed; /* before and after */
};

void config_file_init(struct config_file *f);
void config_file_release(struct config_file *f);

/* Reads the file; a missing one is empty. FILE_ERROR when it is no text. */
bool config_file_read(struct config_file *f, struct error *e);

/* Replaces the file by `changed`; makes a missing directory. */
bool config_file_write(const struct config_file *f, struct error *e);

/* A descriptor to close: until then no other process changes the file, if its file system has
 * locks. -1: not locked. */
int config_file_lock(struct error *e);

/* Checks and sets a key in the file. */
bool config_file_set(const char *section, const char *name, const char *value, struct error *e);

#endif
