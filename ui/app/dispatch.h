/* Keys: each runs the action that it is bound to, or is typed into a view or the editor. */
#ifndef UI_DISPATCH_H
#define UI_DISPATCH_H

#include "ui/app/app.h"

/* Sets functions of the views' host. Once, after panes_init(). */
void dispatch_init(struct app *app);

/* Takes the key's text, if it has one. */
void dispatch_key(struct app *app, struct key *key);

/* Edits the text in the person's own editor; false, with a note, if that fails. */
bool dispatch_edit_outside(struct app *app, struct editor *editor);

/* Stops the turn and closes its questions; the waiting message returns to the editor. */
void dispatch_stop(struct app *app);

/* Ctrl-Z or SIGTSTP: gives the terminal back until the program is continued. */
void dispatch_suspend(struct app *app);

#endif
