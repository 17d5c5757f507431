/* INI text into entries and faults: libinih's grammar, without its limits on names and with the
 * line numbers that it does not tell.
 *
 * A line that begins with a blank continues the value above it; the parts are joined by newlines.
 * A comment begins with ';' or '#' at a line's start, or with " ;" within a value's first line. */
#ifndef CONFIG_INI_H
#define CONFIG_INI_H

#include "base/vec.h"

struct ini_entry {
    char *section, *name, *value; /* the section is trimmed, "" before the first header */
    int line;
};

struct ini_fault {
    int line;
    char *text;
};

struct ini {
    VEC(struct ini_entry) entries;
    VEC(struct ini_fault) faults; /* in the order of lines; what stands there gives no entry */
};

/* Fills in `ini`, which the caller releases. */
void ini_read(struct ini *ini, const char *text);
void ini_release(struct ini *ini);

#endif
