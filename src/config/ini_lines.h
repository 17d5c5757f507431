/* What each line of an INI text is, for changing one of them. ini_read() has the last word on what
 * a text means; this only says where it stands. */
#ifndef CONFIG_INI_LINES_H
#define CONFIG_INI_LINES_H

#include <stddef.h>

#include "base/vec.h"

enum ini_line_kind {
    INI_LINE_BLANK,
    INI_LINE_COMMENT,
    INI_LINE_HEADER,
    INI_LINE_ENTRY,
    INI_LINE_MORE, /* of the value above it */
    INI_LINE_BAD
};

struct ini_line {
    enum ini_line_kind kind;
    size_t start, end, next; /* end: before the line's end; next: where the next one begins */
    size_t section;          /* the line of the header above, itself for a header; or INI_NO_LINE */
    size_t entry;            /* ENTRY, MORE: the line where the value begins */
    char *name;              /* of a header, an entry, or an entry that is commented out; or NULL */
    size_t value, value_end; /* ENTRY: the value, without blanks around it and its comment */
};

#define INI_NO_LINE ((size_t)-1)

struct ini_lines {
    VEC(struct ini_line) list;
};

void ini_lines_read(struct ini_lines *lines, const char *text);
void ini_lines_release(struct ini_lines *lines);

#endif
