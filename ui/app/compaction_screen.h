/* An opened card of a compaction within the surface: it is opened, gets keys and notices, and is
 * left, also for the place of a message in the transcript. */
#ifndef UI_COMPACTION_SCREEN_H
#define UI_COMPACTION_SCREEN_H

#include "ui/app/app.h"

/* `seq`: of its compaction_completed. */
void compaction_screen_open(struct app *app, int64_t seq);
void compaction_screen_close(struct app *app);

/* Only while it is open. */
void compaction_screen_key(struct app *app, enum action action, const struct key *key);
void compaction_screen_click(struct app *app, int row); /* of the body */

/* Fine while it is closed: NOTICE_DROPPED has come; whether an ERROR, with the words for it, was
 * the view's. */
void compaction_screen_take(struct app *app, const struct notice *n);
bool compaction_screen_failed(struct app *app, const struct notice *n, const char *words);

#endif
