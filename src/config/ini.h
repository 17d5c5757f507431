/* Reads INI text into entries, faults and lines: libinih's grammar without its limits on names, and
 * with the places of all parts.
 *
 * A line that begins with a blank continues the value above it; the parts are joined by newlines.
 * A comment begins with ';' or '#' at a line's start, or with " ;" within a value's first line. */
#ifndef CONFIG_INI_H
#define CONFIG_INI_H

#include <stddef.h>

#include "base/vec.h"

struct ini_entry {
    char *section, *name, *value; /* the section is trimmed, "" before the first header */
    int line;
};

struct ini_fault {
    int line;
    char *text;
};

enum ini_line_kind {
    INI_LINE_BLANK,
    INI_LINE_COMMENT,
    INI_LINE_HEADER,
    INI_LINE_ENTRY,
    INI_LINE_MORE, /* of the value above it */
    INI_LINE_BAD
};

/* A line and the places of its parts, for changing it. */
struct ini_line {
    enum ini_line_kind kind;
    size_t start, end, next; /* end: before the line's end; next: where the next one begins */
    size_t section;          /* the line of the header above, itself for a header; or INI_NO_LINE */
    size_t entry;            /* ENTRY, MORE: the line where the value begins */
    char *name;              /* of a header, an entry, or an entry that is commented out; or NULL */
    size_t value, value_end; /* ENTRY: the value, without blanks around it and its comment */
};

#define INI_NO_LINE ((size_t)-1)

struct ini {
    VEC(struct ini_entry) entries;
    VEC(struct ini_fault) faults; /* in the order of lines; what stands there gives no entry */
    VEC(struct ini_line) lines;
};

/* Fills in `ini`, which the caller releases. */
void ini_read(struct ini *ini, const char *text);
void ini_release(struct ini *ini);

#endif
