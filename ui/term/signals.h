/* Signals as bytes in a pipe that the loop polls. Call from the UI thread only. */
#ifndef UI_SIGNALS_H
#define UI_SIGNALS_H

#include <stdbool.h>

#include "base/err.h"

/* Catches SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGTSTP and SIGCONT into the pipe, ignores SIGPIPE,
 * and lets fatal faults (SIGSEGV …) run `rescue` before they kill. `rescue` must be
 * async-signal-safe. */
bool signals_init(void (*rescue)(void), struct error *e);

/* Puts back what was before. */
void signals_release(void);

/* Readable while signals wait. */
int signals_fd(void);

/* The next signal that came, 0 if none. Repeats of one signal may come as one. */
int signals_next(void);

/* Stops the program as Ctrl-Z does, and returns when it goes on. */
void signals_stop(void);

#endif
