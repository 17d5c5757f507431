/* The terminal surface: takes the terminal, runs the conversation, gives the terminal back. */
#ifndef UI_UI_H
#define UI_UI_H

#include <stdbool.h>

#include "base/err.h"
#include "ui/app/options.h"

/* Returns the program's exit status: 0, or 128 + the signal that ended it. False-like failures (no
 * usable terminal) are 1 with `e` filled in. */
int ui_run(const struct ui_options *options, struct error *e);

#endif
