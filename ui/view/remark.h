/* What a screen says in the row of its hints, in place of them, or in place of a list. */
#ifndef UI_REMARK_H
#define UI_REMARK_H

#include <stddef.h>

#include "ui/term/rows.h"

struct remark {
    char *text; /* clean; NULL: nothing is said */
    enum style style;
};
void remark_release(struct remark *r);

/* The text is copied and cleaned; NULL: nothing is said any more. */
void remark_set(struct remark *r, enum style style, const char *text);

/* Appends a row of exactly `columns`. */
void remark_row(struct rows *out, const char *text, enum style style, size_t columns);

/* Rows at the foot of a view of that height for a clean text of one line: as many as it needs, if that
 * leaves the rest enough, and not fewer than keys have there. NULL: keys. `from`: heights below that
 * have no foot. */
int remark_height(const char *text, size_t columns, int height, int from);

/* Appends that many rows of it, broken at words; what does not fit is cut in the last. Rows behind its
 * end are blank. */
void remark_rows(struct rows *out, const char *text, enum style style, size_t columns, int rows);

/* A foreign text within a question of yes or no: on one line, and not so long that the question is not
 * seen. The caller frees. */
char *remark_name(const char *text);

#endif
