/* Completion of what stands before the caret: /commands and their arguments, and @paths. */
#ifndef UI_COMPLETION_H
#define UI_COMPLETION_H

#include "ui/app/app.h"

/* From then on the popup follows what is edited. */
void completion_init(struct app *app);

/* After an edit: shows, changes or closes the popup of commands. */
void completion_follow(struct app *app);

/* Tab: completes what is certain, or shows what there is to choose from. */
void completion_start(struct app *app);

/* Whether there is something before the caret that may be one. */
bool completion_possible(const struct app *app);

/* A listing has come that Tab waits for. */
void completion_listed(struct app *app);

#endif
