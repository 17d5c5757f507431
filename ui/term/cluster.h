/* Graphemes that terminals disagree about, and where on the screen they stand. A family of emoji is
 * as wide as its members for wcwidth() and for us, and two columns for many a terminal. So curses
 * gets blanks in its place, and the whole of it is written over them, at the place where it begins:
 * whatever comes behind it stands where it should. */
#ifndef UI_CLUSTER_H
#define UI_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
