/* What F1 shows, made from the tables of actions and commands. */
#ifndef UI_HELP_H
#define UI_HELP_H

#include "ui/term/keymap.h"
#include "ui/view/list.h"
#include "ui/view/view.h"

/* `kept`: sessions are. */
/* `focus`: the view that has the keyboard, whose keys come first; NULL: none. */
void help_fill(struct list *list, const struct keymap *keymap, struct view *focus, bool kept);

#endif
