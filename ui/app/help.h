/* What F1 shows, made from the tables of actions and commands. */
#ifndef UI_HELP_H
#define UI_HELP_H

#include "ui/term/keymap.h"
#include "ui/view/list.h"

/* `kept`: sessions are. */
void help_fill(struct list *list, const struct keymap *keymap, bool kept);

#endif
