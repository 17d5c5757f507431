/* Which cells of the screen lead to which address, as they should and as the terminal has it. curses
 * knows no links, so what it has drawn is drawn once more where this says so. */
#ifndef UI_LINK_CELLS_H
#define UI_LINK_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

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
