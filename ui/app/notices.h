/* What the engine tells becomes what the screen shows. */
#ifndef UI_NOTICES_H
#define UI_NOTICES_H

#include "ui/app/app.h"

/* What is said where there is no model. */
const char *notices_offline(void);

void notices_init(struct app *app);

/* Takes the notice. */
void notices_take(struct app *app, struct notice *n);

#endif
