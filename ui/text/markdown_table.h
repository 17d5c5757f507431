/* A table: cells in, rows out, its columns fitted to the width. */
#ifndef UI_MARKDOWN_TABLE_H
#define UI_MARKDOWN_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/term/rows.h"
#include "ui/text/wrap.h"

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
