/* Rows of cells for people, aligned by columns of the terminal. */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>

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

/* An empty one with the columns of an array, which outlives it. */
#define GRID(array) ((struct grid){.columns = (array), .count = sizeof(array) / sizeof *(array)})

/* The next cell, cleaned; NULL is an empty one. */
void grid_add(struct grid *g, const char *text);

/* Writes a line for each row to standard output, none wider than that, and releases it. Two blanks
 * part the columns; one without any text is left out. What is cut ends with an ellipsis. */
void grid_print(struct grid *g);

#endif
