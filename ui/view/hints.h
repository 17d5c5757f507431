/* The foot of a view: keys with their effects ("Enter open  Esc close"), or a message in their
 * place; and the keys that move in a list or a text. */
#ifndef UI_HINTS_H
#define UI_HINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/term/keymap.h"
#include "ui/term/rows.h"

struct hint {
    enum action action; /* ACTION_NONE: `keys` names them */
    const char *keys;
    /* For gettext: the word in the row, and behind a '|' the sentence in the help where the word
     * alone does not say enough. No word: only the help has it. */
    const char *text;
};

/* Keys that do the same in many places. Only the help has them. */
enum {
    COMMON_WHEEL = 1,
    COMMON_MOVE = 2 | COMMON_WHEEL, /* arrows, pages, the ends */
    COMMON_VI = 4,
    COMMON_EMACS = 8,
    COMMON_SPACE = 16,  /* a page down */
    COMMON_UNFOLD = 32, /* ACTION_TOGGLE as Enter */
    COMMON_CLOSE = 64,  /* ACTION_CLEAR */
    COMMON_WRITE = 128, /* letters, and the keys that edit a line */
    COMMON_BACK = 256,  /* in a tab of the memory pane: up, down as Esc and Enter */
    COMMON_TABS = 512,  /* of the memory pane */
    COMMON_OUTLINE =
        COMMON_MOVE | COMMON_VI | COMMON_EMACS | COMMON_SPACE | COMMON_UNFOLD | COMMON_CLOSE,
    COMMON_TAB = COMMON_OUTLINE | COMMON_BACK | COMMON_TABS
};

struct hint_table {
    const struct hint *hints;
    size_t count;
    unsigned common;               /* of these */
    const struct hint_table *also; /* keys that work here, too; only the help has them */
};
#define HINTS(array, common)                                                                       \
    ((struct hint_table){(array), sizeof(array) / sizeof *(array), (common), NULL})

/* Adds so many rows of exactly `width` columns. The most important hints come first: those without
 * room are left out. */
void hints_rows(struct rows *out, const struct keymap *keymap, struct hint_table table,
                size_t width, int rows);

/* One of several such rows (NULL: it is only measured): hints without room go to the next row; in
 * the last they are left out. Returns the number of hints that are done. */
size_t hints_part(struct rows *out, const struct keymap *keymap, const struct hint *hints,
                  size_t count, size_t width, bool last);

/* The keys of a pane beside the message, while the message has the keyboard. */
extern const struct hint_table hints_elsewhere;

/* From now on `take` gets each hint of the rows that are made, also those without room: its keys,
 * and its sentence or word; then common keys that no hint named. NULL: no longer. */
typedef void hint_taker(void *context, const char *keys, const char *text);
void hints_collect(hint_taker *take, void *context);

/* A key as the answer to a question of yes or no; a key that closes means no. */
enum hint_answer { HINT_NO_ANSWER, HINT_YES, HINT_NO };
enum hint_answer hint_answer(enum action action, const struct key *key);

/* A message in place of the keys, or of a list. */

struct remark {
    char *text; /* clean, owned; NULL: none */
    enum style style;
};

/* The text is copied and cleaned; NULL: no message. */
void remark_set(struct remark *r, enum style style, const char *text);

/* Appends a row of exactly `columns`. */
void remark_row(struct rows *out, const char *text, enum style style, size_t columns);

/* Rows at the foot of a view of that height for a clean text of one line: as many as it needs, if
 * that leaves the rest enough, and not fewer than keys have there. NULL: keys. `from`: heights
 * below that have no foot. */
int remark_height(const char *text, size_t columns, int height, int from);

/* Rows that a clean text of one line takes, at most `most`. */
int remark_lines(const char *text, size_t columns, int most);

/* Appends that many rows of it, broken at words and cut in the last; rows behind its end are blank.
 * Returns its end, from the first of these rows on. */
struct remark_end {
    int row, col;
};
struct remark_end remark_rows(struct rows *out, const char *text, enum style style, size_t columns,
                              int rows);

/* A foreign text within a question of yes or no: on one line, and so short that the question is
 * seen. The caller frees. */
char *remark_name(const char *text);

/* The keys that move, the same in all lists and texts. */

enum {
    MOVES_ALL = 1 << 30, /* more rows than there are: to the end */
    MOVES_WHEEL = 3
};

/* Rows down, negative: up; 0: the action does not move. `page` and `wheel`: their rows. */
long moves_by_action(enum action action, long page, long wheel);

/* As moves_by_action(), for vi's letters (j k g G) and for Emacs' keys (Ctrl-N, Ctrl-P). */
long moves_by_letter(const struct key *key);
long moves_by_control(const struct key *key);

/* Whether it is this letter, without Ctrl or Alt. */
bool moves_is_letter(const struct key *key, char letter);

/* The nearest of so many rows; 0 where there are none. */
size_t moves_within(long to, size_t count);

/* The first row in view of `count`, where `rows` have room: from `top` on so far that those `from`
 * … `to` are in view, and no room is left below the last. */
size_t moves_keep_in_view(size_t top, size_t from, size_t to, size_t count, size_t rows);

#endif
