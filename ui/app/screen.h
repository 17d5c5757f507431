/* Draws what of the screen is out of date: a title row, the transcript or a list over it, the
 * status line, the message that waits, the editor. */
#ifndef UI_SCREEN_H
#define UI_SCREEN_H

#include "ui/app/app.h"
#include "ui/app/layout.h"

/* A frame is drawn now: the summary that waits is announced, or opened if its time has come. */
void screen_advance_draft(struct app *app, int64_t now_ms);

/* One frame: draws the dirty parts and sends what changed. */
void screen_draw(struct app *app);

/* Of the last frame. */
int screen_body_rows(void);

/* The view at this place of the terminal, and the place within it. NULL: there is none; *row_in is
 * then the row within the transcript, -1 for none. */
struct view *screen_view_at(const struct app *app, int row, int col, int *row_in, int *col_in);

#endif
