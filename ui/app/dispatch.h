/* What a key does. */
#ifndef UI_DISPATCH_H
#define UI_DISPATCH_H

#include "ui/app/app.h"

/* What views ask for that keys do, too. Once, behind panes_init(). */
void dispatch_init(struct app *app);

/* Takes the key's text, if it has one. */
void dispatch_key(struct app *app, struct key *key);

/* Lets the person's own editor change the text; whether it was changed. */
bool dispatch_edit_outside(struct app *app, struct editor *editor);

/* Stops the turn with whatever it asks; the message that waits comes back. */
void dispatch_stop(struct app *app);

/* Ctrl-Z, also from outside: gives the terminal back until the program goes on. */
void dispatch_suspend(struct app *app);

#endif
