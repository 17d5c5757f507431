/* A list over the transcript, whose rows are filtered by typing. Used for help, commands, models,
 * earlier messages and completion. No curses. */
#ifndef UI_LIST_H
#define UI_LIST_H

#include "ui/view/view.h"

/* PICK: j k g G n N move until a filter is begun (by "/" or another letter).
 * TYPE: every character filters.
 * READ: as TYPE, but nothing is selected; the keys scroll, and so does a space before a filter.
 * POPUP: no title and no filter; characters are not the list's. */
enum list_mode { LIST_PICK, LIST_TYPE, LIST_READ, LIST_POPUP };

struct list;

struct list *list_new(enum list_mode mode, const char *title);
void list_free(struct list *l); /* NULL is fine */

/* Empties the rows; filter and mode stay. */
void list_clear(struct list *l);

/* Label and detail are copied and cleaned, `value` is copied: the choice returns it. `detail` and
 * `value` may be NULL; a row without a value is a heading, which cannot be chosen. */
void list_add(struct list *l, const char *label, const char *detail, const char *value);

/* As list_add(), with a key at the right end of the row, where it has the room. */
void list_add_key(struct list *l, const char *label, const char *detail, const char *value,
                  const char *key);

/* Adds a row whose value is its label, if that begins with `word`. */
void list_add_match(struct list *l, const char *word, const char *label, const char *detail);

/* The text in place of rows ("loading"). */
void list_set_empty(struct list *l, const char *text);

void list_filter(struct list *l, const char *text);
size_t list_count(const struct list *l); /* rows that pass the filter */

/* The value of the selected row; NULL: there is none. */
const char *list_value(const struct list *l);

/* Selects the row of that value; NULL or a value that no shown row has: nothing changes. */
void list_mark(struct list *l, const char *value);

enum list_result { LIST_STAYS, LIST_CHOSEN, LIST_CLOSED, LIST_NOT_MINE };
enum list_result list_key(struct list *l, enum action action, const struct key *key);

/* A click on a row of what list_rows() returned last: selects it. False if there is none. */
bool list_click(struct list *l, int row);

/* The rows to show, at most `height` (a title row included), none wider than `width`. Borrowed
 * until the next call. */
const struct rows *list_rows(struct list *l, int width, int height);

/* Where the filter's caret is in those rows; false while nothing can be typed. */
bool list_caret(const struct list *l, int *row, int *col);

/* The list as a view: a row is chosen, or the list is left. A popup (LIST_POPUP) leaves other keys
 * to the message. The subject finds the list again, to fill it later. */
enum list_subject {
    LIST_HELP,
    LIST_PALETTE,
    LIST_HISTORY,
    LIST_MODELS,
    LIST_EFFORTS,
    LIST_THEMES,
    LIST_CONFIG,
    LIST_REPORT,
    LIST_IMPORTS,
    LIST_COMPLETION
};

struct list_view_host {
    /* Gets the value of the chosen row, once the list is closed. NULL: nothing can be chosen. */
    void (*chosen)(struct app *app, const char *value);
    void (*left)(struct app *app); /* it was closed without a choice */
    bool sends;                    /* a popup's row that Enter chooses is sent at once */
};

/* Takes the list. */
struct view *list_view_new(const struct view_host *host, enum list_subject subject,
                           struct list *list, const struct list_view_host *to);

/* The list, if such a view is open and has that subject; NULL otherwise. */
struct list *list_view_find(const struct views *s, enum list_subject subject);

#endif
