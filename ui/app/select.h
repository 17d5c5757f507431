/* Alt-Up, Alt-Down: moving over the messages of the transcript. A letter copies, edits, forks,
 * rewinds to or pins the selected one. */
#ifndef UI_SELECT_H
#define UI_SELECT_H

#include "ui/app/app.h"

/* Once; the view stays in the stack. */
void select_init(struct app *app);

/* Selects the next older or newer message. */
void select_step(struct app *app, bool older);

/* A row with the keys, or with what the last one did, in the place of the status line. Borrowed
 * until the next call. */
const struct rows *select_foot(struct app *app, int columns);

#endif
