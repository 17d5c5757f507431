/* The quiet lines of a session in which nothing was said yet. */
#ifndef UI_WELCOME_H
#define UI_WELCOME_H

#include "ui/term/keymap.h"
#include "ui/term/rows.h"

void welcome_rows(const struct keymap *keymap, int width, struct rows *out);

#endif
