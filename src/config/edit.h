/* One key changed in the text of a configuration file; every other byte of it stays. */
#ifndef CONFIG_EDIT_H
#define CONFIG_EDIT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* "ui.theme", "keys.send" or "model gpt-4.1.window" at its last dot; both parts are the caller's.
 * False with USAGE when one of them lacks. */
bool config_edit_split(const char *path, char **section, char **name, struct error *e);

/* Would a file with only this key be free of problems? Else CONFIG_ERROR, with the nearest name.
 * What [keys] may hold is the terminal's to say. */
bool config_edit_check(const char *section, const char *name, const char *value, struct error *e);

/* Appends to `out` the text with the key set: in place of its last value, else below its line that
 * is commented out, else at the end of its section, else in a new section. CONFIG_ERROR when the
 * format cannot hold the value, or the text is such that anything else would change with it. */
bool config_edit_set(const char *text, const char *section, const char *name, const char *value,
                     struct buf *out, struct error *e);

/* Appends to `out` the text without the key. */
bool config_edit_unset(const char *text, const char *section, const char *name, struct buf *out,
                       struct error *e);

/* The key's last value as it is written in the text, or NULL; the caller frees. */
char *config_edit_value(const char *text, const char *section, const char *name);

/* The configuration file, and one key changed in it. */

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
