/* What moves in a list or in a text: the keys, the same in all of them, and where they lead. */
#ifndef UI_MOVES_H
#define UI_MOVES_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/term/keymap.h"

enum {
    MOVES_ALL = 1 << 30, /* more rows than there are: to the end */
    MOVES_WHEEL = 3
};

/* Rows down, negative: up; 0: it does not move. `page` and `wheel`: what one of them is. */
long moves_by_action(enum action action, long page, long wheel);

/* The same of vi's letters, j k g G, and of Emacs' keys, Ctrl-N and Ctrl-P. */
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
