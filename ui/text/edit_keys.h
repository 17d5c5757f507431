/* Keys that edit a text, for the editor of messages and for the line of Ctrl-F. */
#ifndef UI_EDIT_KEYS_H
#define UI_EDIT_KEYS_H

#include <stdbool.h>

#include "ui/term/keymap.h"
#include "ui/text/editor.h"

/* Returns whether text or caret changed. Pastes are the caller's. */
bool edit_key(struct editor *e, enum action action, const struct key *key);

/* Keys that move in a text of many rows, of which `page` are seen. False if it is none of them. */
bool edit_text_move(struct editor *e, enum action action, int page);

#endif
