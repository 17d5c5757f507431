/* Older events of the open session than the transcript holds: they are asked for a page at a time,
 * by whoever needs them, and all who wait for them go on when they have come. */
#ifndef UI_OLDER_H
#define UI_OLDER_H

#include "ui/app/app.h"

/* Asks for a page if the view needs it. */
void older_want_in_view(struct app *app);

/* The same whatever the view is at. Returns the oldest event that is held, 0 if there are no older
 * ones. */
int64_t older_want(struct app *app);

/* The transcript has more now: whoever waits for older events goes on. */
void older_came(struct app *app);

/* What was asked for is of no use any more. */
void older_forget(struct app *app);

#endif
