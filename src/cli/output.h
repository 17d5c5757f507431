/* Standard output of commands that list or show: cleaned if it is a terminal, else unchanged. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"

struct output {
    bool terminal;
    struct buf line; /* the last one, without its newline yet */
};

void output_init(struct output *o);

/* The bytes may end inside a character. False when standard output cannot be written. */
bool output_write(struct output *o, const char *bytes, size_t len);

/* Writes the rest of the line, and releases. */
bool output_end(struct output *o);

/* Writes a whole text. */
void output_text(const char *text);

/* Writes the tree, indented, and frees it. */
void output_json(struct json *v);

/* FILE_ERROR when the file exists, unless it may be replaced. */
bool output_may_write(const char *path, bool replace, struct error *e);

/* Columns of the terminal; a large number if standard output is none. */
size_t output_width(void);

/* The byte at which a line of `width` columns begins so that the match is in its middle. */
size_t output_start(const char *text, size_t match, size_t width);

/* --- rows of cells for people, aligned by columns of the terminal --- */

struct grid_column {
    size_t max;    /* columns of its widest cell; 0: any */
    size_t shrink; /* least columns when rows are too wide; 0: the column is never cut */
    bool first;    /* cut before the others, which are cut from left to right */
    bool right;    /* aligned to the right */
};

struct grid {
    const struct grid_column *columns;
    size_t count;
    VEC(char *) cells; /* row by row */
};

/* An empty grid. The array of columns outlives it. */
#define GRID(array) ((struct grid){.columns = (array), .count = sizeof(array) / sizeof *(array)})

/* The next cell, cleaned; NULL is an empty one. */
void grid_add(struct grid *g, const char *text);

/* Writes a line for each row to standard output, cut to its width, and releases the grid. Two
 * blanks separate the columns; a column without any text is left out. A cut text ends with an
 * ellipsis. */
void grid_print(struct grid *g);

#endif
