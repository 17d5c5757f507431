/* What is copied goes to the first of these that is there: the terminal itself (OSC 52), tmux, the
 * clipboard programs of Wayland, X and macOS, else a file. What became of it is said. */
#ifndef UI_CLIPBOARD_H
#define UI_CLIPBOARD_H

#include <stdbool.h>

#include "ui/app/app.h"

/* NULL or "": there is nothing to copy, which is said, too. */
void clipboard_copy(struct app *app, const char *text);

/* Whether a terminal takes OSC 52, as far as its variables tell (NULL: not set) and its entry in
 * terminfo claims. No terminal answers it, so one that is known to ignore it counts as not able. */
bool clipboard_terminal_takes(const char *(*variable)(const char *name), bool claimed);

#endif
