/* Cells that are drawn over those of curses: clusters and links.
 * Terminals disagree about the width of a cluster: a family of emoji is as wide as its members by
 * wcwidth(), and two columns wide in many terminals. So curses gets blanks in its place, and the
 * cluster is written over them where it begins: the text behind it stands in the right column.
 * curses knows no links, so the cells of a link are drawn once more between its start and end. */
#ifndef UI_CELLS_H
#define UI_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct cluster {
    int col, cols;
    unsigned long attrs; /* an attr_t of curses */
    char *text;
};

struct cluster_row {
    VEC(struct cluster) list;
    bool due; /* to be written: one was put since the last time */
};

struct clusters {
    struct cluster_row *rows;
    int count;
};

/* Whether a clean grapheme is a cluster: an emoji of several characters, or one with more marks
 * than a cell of curses holds. */
bool cluster_is(const char *grapheme, size_t len);

/* Forgets all clusters and sets the number of rows; 0 frees. */
void clusters_reset(struct clusters *c, int rows);

/* Drops the clusters that overlap these cells, where something else is written. */
void clusters_drop(struct clusters *c, int row, int col, int cols);

/* The link of each cell, as it should be and as the terminal has it. */
struct link_cells {
    int rows, cols;
    uint16_t *wanted, *shown; /* a number for each cell; 0: no link */
    VEC(char *) addresses;    /* by number from 1; NULL: free */
};

/* Sets the size and removes all links. 0, 0 frees. */
void link_cells_resize(struct link_cells *l, int rows, int cols);

/* The number of an address of link_clean(); NULL: 0. Valid until the next call with another. */
uint16_t link_cells_number(struct link_cells *l, const char *address);

void link_cells_put(struct link_cells *l, int row, int col, int cols, uint16_t number);

/* Whether any cell has a link or should have one. */
bool link_cells_any(const struct link_cells *l);

/* Cells of a row to draw again, one after the other and all with the same number. */
struct link_run {
    int col, cols;
    uint16_t number;
    const char *address; /* NULL: these cells have no link any more */
};

/* The next run from `col` on; false: none. `redrawn`: curses has just drawn in this row. */
bool link_cells_next(const struct link_cells *l, int row, int col, bool redrawn,
                     struct link_run *out);

/* Notes that the terminal shows no link in the row any more; true if it showed one. */
bool link_cells_forget(struct link_cells *l, int row);

/* Notes that the terminal shows the row as it should be. */
void link_cells_done(struct link_cells *l, int row);

#endif
