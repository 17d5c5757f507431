/* Ctrl-F: a line to type what to look for, and the steps from match to match, round and round. */
#ifndef UI_FIND_H
#define UI_FIND_H

#include "ui/app/app.h"

/* Opens the line with this text, which is looked for at once if it is not empty. The text of before
 * comes back with Up. */
void find_open(struct app *app, const char *text);
void find_close(struct app *app);

/* Takes a key while the line is open. */
void find_key(struct app *app, enum action action, const struct key *key);

/* Appends how it stands: "2 of 7", "no match"; nothing before anything was looked for. False: it is
 * still counting, so that another frame is due. */
bool find_state(struct app *app, struct buf *out);

/* A page of older events has come: goes on in it. */
void find_page_came(struct app *app);

#endif
