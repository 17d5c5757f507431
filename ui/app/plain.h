/* The surface for terminals that show one line after the other, and for screen readers: what the
 * screen shows is written as lines, what its keys do is typed as words. It asks the engine for the
 * same as the screen does. Input and output may be a pipe. */
#ifndef UI_PLAIN_H
#define UI_PLAIN_H

#include "ui/app/options.h"

/* Returns as ui_run(). The input's end leaves, when what runs has ended. */
int plain_run(const struct ui_options *options, struct error *e);

#endif
