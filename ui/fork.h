/* /fork N: turns counted as a person does, from the first message on. Where older ones are not on
 * the screen yet, they are asked for first. */
#ifndef UI_FORK_H
#define UI_FORK_H

#include "ui/app.h"

void fork_run(struct app *app, const char *arguments);

/* Adds the turns whose number begins so, newest first. */
void fork_list_turns(struct app *app, struct list *list, const char *prefix);

/* Older events have come. */
void fork_page_came(struct app *app);

/* They will not come, or are of no use any more. */
void fork_forget(struct app *app);

#endif
