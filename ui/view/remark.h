/* What a screen says in the row of its hints, in place of them. */
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

#endif
