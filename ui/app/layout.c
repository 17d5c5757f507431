#include "ui/app/layout.h"

enum { PANE_SHARE = 40 /* percent of the width */ };

bool layout_is_too_small(int rows, int cols)
{
    return rows < SCREEN_MIN_ROWS || cols < SCREEN_MIN_COLS;
}

static struct layout place(int rows, int cols, int editor_rows_wanted, int most, bool waiting)
{
    struct layout l = {
        .rows = rows, .cols = cols, .waiting_row = -1, .body_top = 1, .body_cols = cols};
    l.too_small = layout_is_too_small(rows, cols);
    most = most > 1 ? most : 1;
    l.editor_rows = editor_rows_wanted < most ? editor_rows_wanted : most;
    if (l.editor_rows < 1)
        l.editor_rows = 1;
    l.editor_top = rows - l.editor_rows;
    if (waiting)
        l.waiting_row = l.editor_top - 1;
    l.status_row = l.editor_top - 1 - waiting;
    l.body_rows = l.status_row - l.body_top;
    if (l.body_rows < 1)
        l.body_rows = 1;
    return l;
}

struct layout layout_make(int rows, int cols, int editor_rows_wanted, bool waiting)
{
    return place(rows, cols, editor_rows_wanted, rows / 3, waiting);
}

struct layout layout_review(int rows, int cols, int rows_wanted, bool waiting)
{
    return place(rows, cols, rows_wanted, rows * 2 / 3, waiting);
}

void layout_add_pane(struct layout *l, int columns)
{
    l->pane_cols = columns;
    l->body_cols = columns > 0 ? l->cols - columns - 1 : l->cols;
}

bool layout_equal(const struct layout *a, const struct layout *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->body_top == b->body_top &&
           a->body_rows == b->body_rows && a->body_cols == b->body_cols &&
           a->pane_cols == b->pane_cols && a->status_row == b->status_row &&
           a->waiting_row == b->waiting_row && a->editor_top == b->editor_top &&
           a->editor_rows == b->editor_rows && a->too_small == b->too_small;
}

int layout_pane_columns(int cols)
{
    return cols >= PANE_BESIDE ? cols * PANE_SHARE / 100 : 0;
}
