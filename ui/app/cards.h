/* What the person is asked of learned memory: cards of what was noted, /learned, /remember and
 * /forget, and what the session may do with memory. */
#ifndef UI_CARDS_H
#define UI_CARDS_H

#include "ui/app/app.h"

/* Of a turn that runs now; and the keys for the newest, once all of the turn were noted. */
void cards_noted(struct app *app, const struct event *ev);
void cards_say_keys(struct app *app);

/* At the start: how many wait. With a page of events: what became of those in it. */
void cards_begin(struct app *app);
void cards_page_came(struct app *app, const struct notice *n);

/* That a model has made proposals, which wait in the pane. */
void cards_take_proposals(struct app *app, struct notice *n);

/* The newest card that waits is kept; the newest one is reworded in the editor, or rejected, which
 * takes back one that counts already. */
void cards_accept(struct app *app);
void cards_edit(struct app *app);
void cards_reject(struct app *app);

void cards_remember(struct app *app, const char *text);  /* /remember */
void cards_show(struct app *app, const char *arguments); /* /learned */
void cards_find(struct app *app, const char *query);     /* says how much of it /forget may mean */

/* write, read, off, and again */
void cards_next_access(struct app *app);
/* "off", "read", "write", or "on" for that; false: it is none of these. */
bool cards_access_of(const char *word, enum memory_access *access);
bool cards_set_access(struct app *app, const char *word);

#endif
