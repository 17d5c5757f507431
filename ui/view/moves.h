/* The keys that move in a list or in a text: the same in all of them. */
#ifndef UI_MOVES_H
#define UI_MOVES_H

#include <stdbool.h>

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

#endif
