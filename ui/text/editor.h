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
size_t editor_caret(const struct editor *e);         /* byte offset */
void editor_set_caret(struct editor *e, size_t pos); /* the end if beyond it, else a border near */

/* Replaces everything (one undo step), caret at the end. NULL is "". */
void editor_set(struct editor *e, const char *text);

/* Begins anew with this text (NULL: none), which cannot be undone; caret at the beginning. Cuts and
 * the history stay. */
void editor_start(struct editor *e, const char *text);

/* Inserts at the caret. Typed characters of one word are one undo step; a paste is one. The text is
 * cleaned (UTF8_MULTILINE, tabs stay). */
void editor_insert(struct editor *e, const char *text, size_t len);
void editor_paste(struct editor *e, const char *text, size_t len);

/* The same; more than FOLD_LINES lines stand as "[pasted 120 lines]", one sign for the caret, for
 * deletions, cuts and undo. The functions of this header take and return the whole text all the
 * same, and places in it. editor_set() folds such a text again where it is part of the new one. */
void editor_paste_folded(struct editor *e, const char *text, size_t len);

/* Folds the lines between the first and the last if these are too many: a draft that an earlier run
 * of the program saved, of which nobody knows any more what was pasted. Nothing if this run has
 * folded a text. */
void editor_fold_draft(struct editor *e);

/* Puts the text in place of its sign that is at the caret or nearest before it, else of the first
 * one. False: nothing is folded. */
bool editor_unfold(struct editor *e);

/* Replaces bytes [from, to) (completion); caret after it. */
void editor_replace(struct editor *e, size_t from, size_t to, const char *text);

/* Performs an action. Returns whether text or caret changed; false on the first row for ACTION_UP
 * and on the last for ACTION_DOWN, so that the caller turns to history. */
bool editor_do(struct editor *e, enum action action);

/* The same for a key, which may be a typed character. The caller has ACTION_UP, ACTION_DOWN and
 * pastes. */
bool editor_take_key(struct editor *e, enum action action, const struct key *key);

/* Moves the caret by a key in a text of many rows, of which `page` are shown. False: the key does
 * not move. */
bool editor_move(struct editor *e, enum action action, int page);

/* Wraps for a width of at least 1 and returns the number of rows (at least 1). Rows [*top, *top +
 * height) hold the caret; `caret_row` is within them, from 0. Only these have their text in `rows`;
 * the others are there, empty. Valid until the next call of any function of the editor. */
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
bool editor_history_older(struct editor *e); /* keeps the unsent text */
bool editor_history_newer(struct editor *e);
/* NULL past the oldest. */
const char *editor_history_at(const struct editor *e, size_t index_from_newest);

/* A text that is edited on one row (a query, a title, the line of Ctrl-F): adds to the last row the
 * part around the caret that fits `columns`, after an ellipsis if it is cut at the left. Returns
 * the columns used; *caret, from their first, is less than `columns` if that is not 0. */
size_t edit_line(struct rows *out, const struct editor *e, size_t columns, int *caret);

/* Gives a key to a text on one row: it stays one line of at most `most` bytes, and ACTION_CLEAR
 * empties it. False: the key does nothing to the text. */
bool edit_line_key(struct editor *e, size_t most, enum action action, const struct key *key);

#endif
