/* Shared by the files of Markdown: markdown.c cuts a text into pieces, markdown_blocks.c makes rows
 * of blocks, markdown_spans.c has their texts and tables. Tests may include it. */
#ifndef UI_MARKDOWN_PRIVATE_H
#define UI_MARKDOWN_PRIVATE_H

#include <md4c.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"
#include "ui/term/rows.h"
#include "ui/text/markdown.h"
#include "ui/text/wrap.h"

struct markdown_context {
    bool in_item;     /* no indented code: the text is the inside of a list item */
    unsigned ordinal; /* number for the first item, if it is an ordered list's; 0: the source's.
                       * Afterwards: the number that would follow, 0 if it is no ordered list */
};

/* Appends the rows of one or more whole blocks. A text that md4c refuses for its limits is laid out
 * as it is. */
void markdown_blocks(struct rows *out, const char *text, size_t len,
                     const struct markdown_look *look, struct markdown_context *context);

/* The text of a paragraph, a heading or a cell, with emphasis, code, links and entities. */
struct markdown_leaf {
    struct styled line;                        /* what was read so far */
    enum style style;                          /* of plain text */
    bool keep_lines;                           /* a soft line break stays one */
    bool one_line;                             /* every line break becomes a blank */
    unsigned bold, italic, strike, code, link; /* how many such spans are open */
    bool underline;                            /* all of it */
    VEC(size_t) link_starts;
    const char *source, *source_end; /* what md4c reads; borrowed */
};

/* Empties it; one_line is off. */
void markdown_leaf_begin(struct markdown_leaf *leaf, enum style style);

/* md4c's callbacks, whose context begins with a struct markdown_leaf. */
int markdown_add_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE len, void *leaf);
int markdown_enter_span(MD_SPANTYPE type, void *detail, void *leaf);
int markdown_leave_span(MD_SPANTYPE type, void *detail, void *leaf);

/* Appends the character of "&amp;", "&#8212;" or "&#x2014;", else the text as it is. The result is
 * not cleaned: a number may name any character. */
void markdown_entity(struct buf *out, const char *text, size_t len);

enum cell_align { CELL_LEFT, CELL_CENTER, CELL_RIGHT };

struct cell {
    struct styled text;
    enum cell_align align;
};

/* The first `columns` cells are the head; every row has `columns` cells. */
struct table {
    size_t columns;
    VEC(struct cell) cells;
};

void markdown_table_release(struct table *t);

/* Takes the text and leaves it empty. Tabs and newlines become spaces. */
void markdown_table_add(struct table *t, struct styled *text, enum cell_align align);

/* Divides `room` columns: each gets the wanted width if all fit, else the widest are cut. False if
 * one would get less than a few columns. */
bool markdown_table_fit(const size_t *wanted, size_t *widths, size_t columns, size_t room);

/* Adds a grid, or "head: cell" lines where a grid is too wide. */
void markdown_table_rows(struct rows *out, const struct table *t, size_t width,
                         const struct styled *first, const struct styled *rest);

#endif
