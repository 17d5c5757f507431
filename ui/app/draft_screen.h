/* The review of a summary within the surface: it is fed, gets keys, and its answer is sent. */
#ifndef UI_DRAFT_SCREEN_H
#define UI_DRAFT_SCREEN_H

#include "ui/app/app.h"

/* NOTICE_DRAFT has come. */
void draft_screen_take(struct app *app, const struct notice *n);

/* Nobody waits for an answer any more; what was being written comes back. */
void draft_screen_close(struct app *app);

/* True if the review took the key. */
bool draft_screen_key(struct app *app, enum action action, const struct key *key);

/* When it is to be opened; 0: not before something else happens. */
int64_t draft_screen_due(const struct app *app);

/* A frame is drawn now. */
void draft_screen_advance(struct app *app, int64_t now_ms);

#endif
