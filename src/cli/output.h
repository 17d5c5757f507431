/* Standard output of commands that list or tell: cleaned where it is a terminal, as it is
 * elsewhere. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"

struct output {
    bool terminal;
    struct buf line; /* that is not whole yet */
};

void output_init(struct output *o);

/* Bytes may end anywhere, also inside a character. False when standard output takes no more. */
bool output_write(struct output *o, const char *bytes, size_t len);

/* Writes what is left, and releases. */
bool output_end(struct output *o);

/* A whole text. */
void output_text(const char *text);

/* Frees the tree. */
void output_json(struct json *v);

/* Whether a file may be written that is to be new, unless it may be replaced; else FILE_ERROR. */
bool output_may_write(const char *path, bool replace, struct error *e);

/* Columns of the terminal; without one a line is as long as it is. */
size_t output_width(void);

/* "2026-03-09 14:05" of the local time. */
void output_time(struct buf *out, int64_t wall_ms);

/* The end of a session's id, which tells sessions apart: the id begins with the time. Points into
 * it. */
const char *output_short_id(const char *id);

/* Where a line of `width` columns has to begin so that what matched stands in its middle. */
size_t output_start(const char *text, size_t match, size_t width);

/* --- rows of cells for people, aligned by columns of the terminal --- */

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
