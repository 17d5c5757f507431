/* `tiro doctor --recover`: a damaged database gives way to what can be read of it. */
#ifndef CLI_RESCUE_H
#define CLI_RESCUE_H

#include <stdbool.h>

#include "cli/diagnosis.h"

/* Whether somebody agreed or can be asked; USAGE if not. */
bool rescue_allowed(bool yes, struct error *e);

/* Asks unless `yes`, recovers with progress on a terminal, looks again. Does nothing where the
 * state is none to recover from. Returns the exit status: 0 unless something failed, which has been
 * reported then. */
int rescue(struct diagnosis *d, bool yes);

#endif
