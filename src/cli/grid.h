/* Rows of cells for people, aligned by columns of the terminal. */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"

struct grid_column {
    size_t max;    /* columns of its widest cell; 0: any */
    size_t shrink; /* may be cut down to this when rows are too wide; 0: never */
    bool first;    /* it is cut before the others; those follow from left to right */
    bool right;    /* aligned to the right */
};

struct grid {
    const struct grid_column *columns;
    size_t count;
    VEC(char *) cells; /* row by row */
};

/* `columns` is borrowed. */
void grid_init(struct grid *g, const struct grid_column *columns, size_t count);
void grid_release(struct grid *g);

/* The next cell, cleaned; NULL is an empty one. */
void grid_add(struct grid *g, const char *text);

/* Appends a line for each row, none wider than `width`. Two blanks part the columns; one without
 * any text is left out. What is cut ends with an ellipsis. */
void grid_write(const struct grid *g, size_t width, struct buf *out);

/* Writes it to standard output, as wide as that is, and releases it. */
void grid_print(struct grid *g);

#endif
