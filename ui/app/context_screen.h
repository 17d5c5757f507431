/* F4 within the surface: the context screen is opened, gets keys and notices, and is left. */
#ifndef UI_CONTEXT_SCREEN_H
#define UI_CONTEXT_SCREEN_H

#include "ui/app/app.h"

void context_screen_open(struct app *app);
void context_screen_close(struct app *app);

/* Only while it is open. */
void context_screen_key(struct app *app, enum action action, const struct key *key);
void context_screen_click(struct app *app, int row); /* of the body */

/* Fine while it is closed: NOTICE_CONTEXT has come; what it shows may be out of date; the turn has
 * ended; whether an ERROR, with the words for it, was the screen's. */
void context_screen_take(struct app *app, struct notice *n);
void context_screen_event(struct app *app, const struct event *ev);
void context_screen_changed(struct app *app);
void context_screen_idle(struct app *app);
bool context_screen_failed(struct app *app, const struct notice *n, const char *words);

/* When it asks again, on the monotonic clock; 0: not before something changes. */
int64_t context_screen_due(const struct app *app);
void context_screen_tick(struct app *app, int64_t now_ms);

#endif
