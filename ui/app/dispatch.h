/* Keys: each runs the action that it is bound to, or is typed into a view or the editor. */
#ifndef UI_DISPATCH_H
#define UI_DISPATCH_H

#include "ui/app/app.h"

/* Sets up the views and their host. Once, after app_init(). */
void dispatch_init(struct app *app);

/* Takes the key's text, if it has one. */
void dispatch_key(struct app *app, struct key *key);

/* Ctrl-Z or SIGTSTP: gives the terminal back until the program is continued. */
void dispatch_suspend(struct app *app);

#endif
