/* Notices of the engine change the state of the screen. */
#ifndef UI_NOTICES_H
#define UI_NOTICES_H

#include "ui/app/app.h"

/* The line for a NOTICE_TASKS; the caller frees. NULL: nothing has ended. */
char *notices_task(const struct notice *n);

/* The note that there is no model. */
const char *notices_offline(void);

/* Takes a page of older events (app_want_older()). */
app_answer notices_take_older;

/* Applies the notice and frees it. */
void notices_take(struct app *app, struct notice *n);

#endif
