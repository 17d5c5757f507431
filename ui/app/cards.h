/* Learned memory on the screen: cards of noted items, /learned, /remember, /forget, and the
 * session's access to memory. */
#ifndef UI_CARDS_H
#define UI_CARDS_H

#include "ui/app/app.h"

/* An item was noted in the running turn. The keys for the newest are shown once all are noted. */
void cards_noted(struct app *app, const struct event *ev);
void cards_say_keys(struct app *app);

/* At the start: reports the number that waits. With a page of events: marks the decided items. */
void cards_begin(struct app *app);
void cards_page_came(struct app *app, const struct notice *n);

/* Reports proposals of a model, which wait in the pane. */
void cards_take_proposals(struct app *app, struct notice *n);

/* ACTION_LEARNED_ACCEPT keeps the newest card that waits; _EDIT rewords the newest card in the
 * editor; _REJECT drops it, also if it is used already. */
void cards_decide(struct app *app, enum action action);

/* The commands /remember, /learned, /forget and /memory. */
void cards_remember(struct app *app, const char *text);
void cards_show(struct app *app, const char *arguments);
void cards_forget(struct app *app, const char *arguments);
void cards_memory(struct app *app, const char *arguments);

/* Cycles through write, read and off. */
void cards_next_access(struct app *app);
/* "off", "read", "write" or "on" (write); false: any other word. */
bool cards_access_of(const char *word, enum memory_access *access);

#endif
