/* Notices of the engine change the state of the screen. */
#ifndef UI_NOTICES_H
#define UI_NOTICES_H

#include "ui/app/app.h"

/* The note that there is no model. */
const char *notices_offline(void);

void notices_init(struct app *app);

/* Applies the notice and frees it. */
void notices_take(struct app *app, struct notice *n);

#endif
