/* Ctrl-F: a line to type what to look for, and the steps from match to match. */
#ifndef UI_FIND_H
#define UI_FIND_H

#include "ui/app.h"

/* Opens the line; a text that is not empty is looked for at once. */
void find_open(struct app *app, const char *text);
void find_close(struct app *app);

/* Takes a key while the line is open. */
void find_key(struct app *app, enum action action, const struct key *key);

/* A page of older events has come: goes on in it. */
void find_page_came(struct app *app);

#endif
