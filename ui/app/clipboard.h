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

/* Copies the text. NULL or "": a note says that there is nothing to copy. */
void clipboard_copy(struct app *app, const char *text);

/* Takes the image on the clipboard of Wayland or X: an errand keeps it in a file, which the message
 * mentions then (attach_clipboard_file()). A note says what is missing. */
void clipboard_paste_image(struct app *app);

/* Whether a terminal takes OSC 52, by its environment variables (NULL: not set) and by the claim of
 * its terminfo entry. No terminal answers OSC 52, so the ones known to ignore it are listed. */
bool clipboard_terminal_takes(char *(*variable)(const char *name), bool claimed);

/* A text as a terminal of that width breaks it, and the part of it that is in view. */
struct bare {
    struct view view;
    struct buf text;
    VEC(size_t) rows; /* where each begins */
    int width, height;
    size_t top; /* the first row in view */
};

/* Takes a copy of the clean text, as a terminal of this character set shows it. The row with byte
 * `at` is the first in view after the resize. */
void bare_init(struct bare *b, const struct buf *text, size_t at);
void bare_release(struct bare *b);

void bare_resize(struct bare *b, int width, int height);
void bare_scroll(struct bare *b, long rows); /* positive: towards the end */

/* The text in view; borrowed. */
const char *bare_view(const struct bare *b, size_t *len);

/* --- on the screen --- */

/* Any key that does not scroll closes it. */
void bare_open(struct app *app);
void bare_draw(struct view *view);

#endif
