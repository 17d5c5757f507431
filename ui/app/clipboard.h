/* Getting text out of the program: copying to a clipboard, and the conversation as bare text
 * (Alt-L), which the terminal's own selection takes whole.
 *
 * A copy goes to the first of these that is there: the terminal itself (OSC 52), tmux, the
 * clipboard programs of Wayland, X and macOS, else a file. A note says where it went. */
#ifndef UI_APP_CLIPBOARD_H
#define UI_APP_CLIPBOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"
#include "ui/app/app.h"
#include "ui/view/view.h"

/* NULL or "": there is nothing to copy, which is said, too. */
void clipboard_copy(struct app *app, const char *text);

/* Whether a terminal takes OSC 52, as far as its variables tell (NULL: not set) and its entry in
 * terminfo claims. No terminal answers it, so one that is known to ignore it counts as not able. */
bool clipboard_terminal_takes(const char *(*variable)(const char *name), bool claimed);

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
