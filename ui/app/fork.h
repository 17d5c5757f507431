/* /fork [N]: go on in a copy of the session, or of its beginning. */
#ifndef UI_FORK_H
#define UI_FORK_H

#include "ui/app/app.h"

void fork_run(struct app *app, const char *arguments);

/* Adds what may stand behind /fork and begins so. */
void fork_list(struct app *app, struct list *list, const char *prefix);

#endif
