/* The text of a paragraph, a heading or a cell, with what stands in it: emphasis, code, links,
 * entities. */
#ifndef UI_MARKDOWN_PRIVATE_H
#define UI_MARKDOWN_PRIVATE_H

#include <md4c.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"
#include "ui/term/rows.h"
#include "ui/text/wrap.h"

struct markdown_leaf {
    struct styled line;                        /* what was read so far */
    enum style style;                          /* of plain text */
    bool keep_lines;                           /* a line break stays one */
    bool one_line;                             /* … and none does, whatever its kind */
    unsigned bold, italic, strike, code, link; /* how many such spans are open */
    bool underline;                            /* all of it */
    VEC(size_t) link_starts;
    const char *source, *source_end; /* what md4c reads; borrowed */
};

void markdown_leaf_init(struct markdown_leaf *leaf, enum style style, bool keep_lines);
void markdown_leaf_release(struct markdown_leaf *leaf);

/* An empty one, which is no cell's (one_line). */
void markdown_leaf_begin(struct markdown_leaf *leaf, enum style style);

/* md4c's callbacks. */
void markdown_leaf_text(struct markdown_leaf *leaf, MD_TEXTTYPE type, const char *text, size_t len);
void markdown_leaf_enter(struct markdown_leaf *leaf, MD_SPANTYPE type, const void *detail);
void markdown_leaf_leave(struct markdown_leaf *leaf, MD_SPANTYPE type, const void *detail);

/* Appends the character of "&amp;", "&#8212;" or "&#x2014;", else the text as it is. The result is
 * not cleaned: a number may name any character. */
void markdown_entity(struct buf *out, const char *text, size_t len);

/* A table: cells in, rows out, its columns fitted to the width. */

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

void markdown_table_init(struct table *t, size_t columns);
void markdown_table_release(struct table *t);

/* Takes the text and leaves it empty. Tabs and newlines become spaces. */
void markdown_table_add(struct table *t, struct styled *text, enum cell_align align);

/* Shares `room` columns out: each gets what it wants if that fits, else the widest give. False,
 * if less than a few columns would be left for one that wants more. */
bool markdown_table_fit(const size_t *wanted, size_t *widths, size_t columns, size_t room);

/* A grid, or "head: cell" lines where that is too narrow. */
void markdown_table_rows(struct rows *out, const struct table *t, size_t width,
                         const struct styled *first, const struct styled *rest);

#endif
