/* The views that a key or a command opens, and the functions of their host. */
#ifndef UI_PANES_H
#define UI_PANES_H

#include "ui/app/app.h"

/* Once, before anything is opened; dispatch_init() calls it and completes the views' host. */
void panes_init(struct app *app);

/* Opens the view in place of the one over the transcript. */
void panes_show(struct app *app, struct view *v);

/* Opens the view of that action with a query or "". False: the action opens no view. */
bool panes_open(struct app *app, enum action action, const char *query);

#endif
