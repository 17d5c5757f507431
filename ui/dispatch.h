/* What a key does. */
#ifndef UI_DISPATCH_H
#define UI_DISPATCH_H

#include "ui/app.h"

/* Takes the key's text, if it has one. */
void dispatch_key(struct app *app, struct key *key);

/* Ctrl-Z, also from outside: gives the terminal back until the program goes on. */
void dispatch_suspend(struct app *app);

#endif
