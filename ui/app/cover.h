/* What covers the transcript: the sessions (F3), the context (F4) or an opened card. At most one
 * does. The memory pane, where it stands over the transcript, is below them. */
#ifndef UI_COVER_H
#define UI_COVER_H

#include "ui/app/app.h"

bool cover_open(const struct app *app);
void cover_close(struct app *app);

/* Only while one is open. */
void cover_key(struct app *app, enum action action, const struct key *key);
void cover_click(struct app *app, int row, int col); /* of the body */
const struct rows *cover_rows(struct app *app, int width, int height);

/* Where the caret is in those rows; false: it has none. */
bool cover_caret(const struct app *app, int *row, int *col);

#endif
