/* Ctrl-F: a line to type what to look for, and the steps from match to match, round and round. */
#ifndef UI_FIND_H
#define UI_FIND_H

#include "ui/app/app.h"

/* Once; it stays in the stack. */
void find_init(struct app *app);

/* Opens the line with this text, which is looked for at once if it is not empty. The text of before
 * comes back with Up. */
void find_open(struct app *app, const char *text);

/* Appends how it stands: "2 of 7", "no match"; nothing before anything was looked for. False: it is
 * still counting, so that another frame is due. */
bool find_state(struct app *app, struct buf *out);

#endif
