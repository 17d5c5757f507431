/* The views that a key or a command opens, and what the surface does for a view. */
#ifndef UI_PANES_H
#define UI_PANES_H

#include "ui/app/app.h"

/* Once, before anything is opened. */
void panes_init(struct app *app);

/* In the place of what stands over the transcript. */
void panes_show(struct app *app, struct view *v);

/* Opens the view of that action, with what is to be looked for in it or "". False: there is none.
 */
bool panes_open(struct app *app, enum action action, const char *query);

/* The first page of a session has come: what was to be found in it is looked for. */
void panes_page_came(struct app *app);
void panes_forget_find(struct app *app);

#endif
