/* Completion of the word before the caret: /commands and their arguments, @paths and corpora. */
#ifndef UI_COMPLETION_H
#define UI_COMPLETION_H

#include "ui/app/app.h"

/* After an edit: shows, changes or closes the popup of commands. */
void completion_follow(struct app *app);

/* Tab: completes a single candidate, or lists the candidates. */
void completion_start(struct app *app);

/* Whether the word before the caret can be completed. */
bool completion_possible(const struct app *app);

/* A listing has come that Tab waits for. */
void completion_listed(struct app *app);

#endif
