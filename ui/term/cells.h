/* Graphemes that terminals disagree about, and where on the screen they stand. A family of emoji is
 * as wide as its members for wcwidth() and for us, and two columns for many a terminal. So curses
 * gets blanks in its place, and the whole of it is written over them, at the place where it begins:
 * whatever comes behind it stands where it should. */
#ifndef UI_CELLS_H
#define UI_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct cluster {
    int col, cols;
    unsigned long attrs; /* the terminal's */
    char *text;
};

struct cluster_row {
    VEC(struct cluster) list;
    bool due; /* to be written: one was put since */
};

struct clusters {
    struct cluster_row *rows;
    int count;
};

/* Whether a clean grapheme has to be written as a whole: emoji of several characters, and more
 * marks than a cell of curses holds. */
bool cluster_is(const char *grapheme, size_t len);

/* Forgets all of them; from now on so many rows. 0 frees. */
void clusters_reset(struct clusters *c, int rows);

/* Copies the text. What stood there is dropped. */
void clusters_put(struct clusters *c, int row, const struct cluster *cluster);

/* Something else is written there. */
void clusters_drop(struct clusters *c, int row, int col, int cols);

/* Which cells of the screen lead to which address, as they should and as the terminal has it.
 * curses knows no links, so what it has drawn is drawn once more where this says so. */

struct link_cells {
    int rows, cols;
    uint16_t *wanted, *shown; /* a number for each cell; 0: no link */
    VEC(char *) addresses;    /* by number from 1; NULL: free */
};

/* For a screen of this size, on which nothing leads anywhere. 0, 0 frees. */
void link_cells_resize(struct link_cells *l, int rows, int cols);

/* Nothing is to lead anywhere. */
void link_cells_erase(struct link_cells *l);

/* The number of an address, clean as by ui/term/link.h; NULL: 0. Good until the next call with
 * another. */
uint16_t link_cells_number(struct link_cells *l, const char *address);
const char *link_cells_address(const struct link_cells *l, uint16_t number);

void link_cells_put(struct link_cells *l, int row, int col, int cols, uint16_t number);

/* Whether any cell leads somewhere, or should. */
bool link_cells_any(const struct link_cells *l);

/* Cells of a row to draw again, one after the other and all with the same number. */
struct link_run {
    int col, cols;
    uint16_t number;
};

/* The next run from `col` on; false: none. `redrawn`: curses has just drawn in this row. */
bool link_cells_next(const struct link_cells *l, int row, int col, bool redrawn,
                     struct link_run *out);

/* Nothing in the row leads anywhere on the terminal any more; whether something did. */
bool link_cells_forget(struct link_cells *l, int row);

/* The row is on the terminal as it should be. */
void link_cells_done(struct link_cells *l, int row);

#endif
