/* Ctrl-F: a line for the text to find, and steps from match to match that wrap around. */
#ifndef UI_FIND_H
#define UI_FIND_H

#include "ui/app/app.h"

/* Once; the view stays in the stack. */
void find_init(struct app *app);

/* Opens the line with this text and searches for it if it is not empty. Up brings the former text
 * back. */
void find_open(struct app *app, const char *text);

/* Appends "2 of 7" or "no match"; nothing before a search. False: matches are still being counted,
 * so another frame is due. */
bool find_state(struct app *app, struct buf *out);

#endif
