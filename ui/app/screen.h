/* Layout and drawing of the screen: a title row, the transcript or views over it, the status line,
 * the waiting message, the editor. Only parts that are out of date are drawn. */
#ifndef UI_APP_SCREEN_H
#define UI_APP_SCREEN_H

#include <stdbool.h>

#include "ui/app/app.h"

#define SCREEN_MIN_ROWS 10
#define SCREEN_MIN_COLS 40

/* Compared with memcmp(): members without padding. */
struct layout {
    int rows, cols;
    int body_top, body_rows;
    int body_cols; /* of the transcript */
    int pane_cols; /* of the memory pane right of it, behind a rule; 0: it is not there */
    int status_row;
    int waiting_row; /* -1: none */
    int editor_top, editor_rows;
};

/* The editor gets up to a third of the rows; in a review, where a summary takes its place, up to
 * two thirds. The memory pane has so many columns beside the transcript; 0: it is not there. */
struct layout layout_make(int rows, int cols, int pane_cols, int editor_rows_wanted, bool review,
                          bool waiting);

/* Columns that the memory pane takes of so many, without the rule before it; 0: it stands over the
 * transcript. */
enum { PANE_BESIDE = 100 /* columns, from which on there is room */ };
int layout_pane_columns(int cols);

/* Only a note about the size fits. */
bool layout_is_too_small(int rows, int cols);

/* Before a frame: announces a draft summary that waits, or opens it when it is due. */
void screen_advance_draft(struct app *app, int64_t now_ms);

/* Draws one frame: the dirty parts. */
void screen_draw(struct app *app);

/* The rows of the transcript in the last frame. */
int screen_body_rows(void);

/* The view at this position of the terminal, and the position within it. NULL: there is none;
 * *row_in is then the row within the transcript, -1 outside of it. */
struct view *screen_view_at(const struct app *app, int row, int col, int *row_in, int *col_in);

#endif
