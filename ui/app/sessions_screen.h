/* F3 within the surface: the sessions screen is opened, gets keys and notices, and what it chose
 * happens. */
#ifndef UI_SESSIONS_SCREEN_H
#define UI_SESSIONS_SCREEN_H

#include "ui/app/app.h"

void sessions_screen_open(struct app *app, const char *query);
void sessions_screen_close(struct app *app);

/* Only while it is open. */
void sessions_screen_key(struct app *app, enum action action, const struct key *key);
void sessions_screen_click(struct app *app, int row, int col); /* of the body */

/* Whether the notice (LIST, SEARCH, PREVIEW; DONE; an ERROR with the words for it) was the
 * screen's. Fine while it is closed. */
bool sessions_screen_answer(struct app *app, struct notice *n);
bool sessions_screen_done(struct app *app, const struct notice *n);
bool sessions_screen_failed(struct app *app, const struct notice *n, const char *words);

/* Another session is open, or the open one has changed; its first page has come. */
void sessions_screen_session(struct app *app, bool opened);
void sessions_screen_page(struct app *app);

#endif
