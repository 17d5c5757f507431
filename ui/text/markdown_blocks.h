/* Markdown blocks (what md4c parses) → rows. */
#ifndef UI_MARKDOWN_BLOCKS_H
#define UI_MARKDOWN_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/term/rows.h"
#include "ui/text/wrap.h"

struct markdown_look {
    size_t width;                /* at least 1 */
    const struct styled *prefix; /* before every row that has text; NULL: nothing */
    enum style style;            /* of plain text */
    bool keep_lines;             /* a line break in a paragraph stays one */
};

struct markdown_context {
    bool in_item;     /* no indented code: what looks like it is the inside of a list */
    unsigned ordinal; /* number for the first item, if it is an ordered list's; 0: the source's.
                       * Afterwards: the number that would follow, 0 if it is no ordered list */
};

/* Paragraphs, headings and lists are wrapped at this width on wider screens, with what stands before
 * them; code and tables have the whole width. */
enum { MARKDOWN_PROSE_COLUMNS = 100 };

/* Appends the rows. The text is one or more whole blocks; md4c's limits apply (nothing is lost: a
 * text that it refuses is laid out as it is). */
void markdown_blocks(struct rows *out, const char *text, size_t len,
                     const struct markdown_look *look, struct markdown_context *context);

#endif
