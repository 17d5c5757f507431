/* Learned memory on the screen: cards of noted items, /learned, /remember, /forget, and the
 * session's access to memory. */
#ifndef UI_CARDS_H
#define UI_CARDS_H

#include "ui/app/app.h"

/* Takes an event (`live`: it happens now). An item that is noted in the running turn becomes a
 * card; the keys for the newest are shown when the next call of the model starts and all are noted.
 */
void cards_event(struct app *app, const struct event *ev, bool live);

/* At the start: reports the number that waits. With a page of events: marks the decided items. */
void cards_begin(struct app *app);
void cards_page_came(struct app *app, const struct notice *n);

/* ACTION_LEARNED_ACCEPT keeps the newest card that waits; _EDIT rewords the newest card in the
 * editor; _REJECT drops it, also if it is used already. */
void cards_decide(struct app *app, enum action action);

/* The commands /remember, /learned, /forget and /memory. */
void cards_remember(struct app *app, const char *text);
void cards_show(struct app *app, const char *arguments);
void cards_forget(struct app *app, const char *arguments);
void cards_memory(struct app *app, const char *arguments);
void cards_recalled(struct app *app);

/* Cycles through write, read and off. */
void cards_next_access(struct app *app);
/* "off", "read", "write" or "on" (write); false: any other word. */
bool cards_access_of(const char *word, enum memory_access *access);

#endif
