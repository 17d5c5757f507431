/* A text that is edited on one row: a query, a title, the line of Ctrl-F. */
#ifndef UI_EDIT_LINE_H
#define UI_EDIT_LINE_H

#include "ui/term/rows.h"
#include "ui/text/editor.h"

/* Adds to the last row what fits `columns` of the text around its caret; a sign says that it goes
 * on to the left. Returns the columns that it took; *caret, from where it began, is less than
 * `columns` if there are any. */
size_t edit_line(struct rows *out, const struct editor *e, size_t columns, int *caret);

/* What a key does to it: nothing makes a second line of it, and it does not grow beyond `most`
 * bytes. ACTION_CLEAR empties one that is not empty. False: not its key. */
bool edit_line_key(struct editor *e, size_t most, enum action action, const struct key *key);

#endif
