/* The text being written: a buffer, a caret on a grapheme border, undo, a kill ring. No curses. */
#ifndef UI_EDITOR_H
#define UI_EDITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/term/keymap.h"
#include "ui/term/rows.h"

struct editor;

struct editor *editor_new(void);
void editor_free(struct editor *e);

const char *editor_text(const struct editor *e); /* never NULL; borrowed until the next edit */
size_t editor_len(const struct editor *e);
size_t editor_caret(const struct editor *e); /* byte offset */
void editor_set_caret(struct editor *e,
                      size_t pos); /* near it, where that is no border or beyond the end */

/* Replaces everything (one undo step), caret at the end. NULL is "". */
void editor_set(struct editor *e, const char *text);

/* Begins anew with this text (NULL: none), which cannot be undone; caret at the beginning. What was
 * cut and sent before is kept. */
void editor_start(struct editor *e, const char *text);

/* Inserts at the caret. Typed characters of one word are one undo step; a paste is one. The text is
 * cleaned (UTF8_MULTILINE, tabs stay). */
void editor_insert(struct editor *e, const char *text, size_t len);
void editor_paste(struct editor *e, const char *text, size_t len);

/* Replaces bytes [from, to) (completion); caret after it. */
void editor_replace(struct editor *e, size_t from, size_t to, const char *text);

/* What an action means in a text. Returns whether text or caret changed; false on the first row for
 * ACTION_UP and on the last for ACTION_DOWN, so that the caller turns to history. */
bool editor_do(struct editor *e, enum action action);

/* The same of a key, which may be a character to be typed; ACTION_UP and ACTION_DOWN are the
 * caller's, and so are pastes. */
bool editor_take_key(struct editor *e, enum action action, const struct key *key);

/* Keys that move in a text of many rows, of which `page` are seen. False if it is none of them. */
bool editor_move(struct editor *e, enum action action, int page);

/* Wraps for a width of at least 1 and returns the number of rows (at least 1). Rows [*top, *top +
 * height) hold the caret; `caret_row` is within them, from 0. Only these have their text in `rows`;
 * the others are there, empty. All is valid until the next call of anything here. */
struct editor_view {
    const struct rows *rows;
    size_t row_count;
    size_t top;
    int caret_row, caret_col;
};
struct editor_view editor_layout(struct editor *e, int width, int height);

/* Input history, newest last. Adding an empty text or a repeat of the newest does nothing. */
void editor_history_add(struct editor *e, const char *text);
void editor_history_load(struct editor *e, char *const *newest_first, size_t count);
bool editor_history_older(struct editor *e); /* keeps what was being written */
bool editor_history_newer(struct editor *e);
size_t editor_history_count(const struct editor *e);
const char *editor_history_at(const struct editor *e, size_t index_from_newest);

/* A text that is edited on one row: a query, a title, the line of Ctrl-F. */

/* Adds to the last row what fits `columns` of the text around its caret; a sign says that it goes
 * on to the left. Returns the columns that it took; *caret, from where it began, is less than
 * `columns` if there are any. */
size_t edit_line(struct rows *out, const struct editor *e, size_t columns, int *caret);

/* What a key does to it: nothing makes a second line of it, and it does not grow beyond `most`
 * bytes. ACTION_CLEAR empties one that is not empty. False: not its key. */
bool edit_line_key(struct editor *e, size_t most, enum action action, const struct key *key);

#endif
