/* /theme: a theme is taken, and kept for the next start. */
#ifndef UI_THEME_CHOICE_H
#define UI_THEME_CHOICE_H

#include "ui/app/app.h"

/* Says what came of it; a theme of an unknown name changes nothing. */
void theme_choose(struct app *app, const char *name);

#endif
