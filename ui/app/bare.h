/* The conversation as bare text (Alt-L): sources in place of rows, nothing beside them, and the
 * terminal breaks the lines itself, so that its own selection takes them whole. */
#ifndef UI_BARE_H
#define UI_BARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"
#include "ui/view/view.h"

/* A text as a terminal of that width breaks it, and the part of it that is in view. */
struct bare {
    struct view view;
    struct buf text;
    VEC(size_t) rows; /* where each begins */
    int width, height;
    size_t top; /* the first row in view */
};

/* Of a clean text. The row that has byte `at` is the first in view, once its size is known. */
void bare_init(struct bare *b, const struct buf *text, size_t at);
void bare_release(struct bare *b);

void bare_resize(struct bare *b, int width, int height);
void bare_scroll(struct bare *b, long rows); /* positive: towards the end */

/* What is in view; borrowed. */
const char *bare_view(const struct bare *b, size_t *len);

/* --- on the screen --- */

/* Any key that does not scroll closes it. */
void bare_open(struct app *app);
void bare_draw(struct view *view);

#endif
