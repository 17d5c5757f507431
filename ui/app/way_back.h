/* Where one was before a jump to a message, here or in another session: Esc goes back there, the
 * last jump first. Sending a message, or opening a session in any other way, ends that. */
#ifndef UI_WAY_BACK_H
#define UI_WAY_BACK_H

#include "ui/app/app.h"

/* Before a jump within the open session; before another one is asked for, by its id. */
void way_back_mark(struct app *app);
void way_back_leave(struct app *app, const char *id);

bool way_back_known(const struct app *app);

/* False: there is no way back. */
bool way_back_go(struct app *app);

void way_back_forget(struct app *app);

/* A session is about to be shown; its message stands in the editor; its newest page has come; it
 * cannot be opened. */
void way_back_session(struct app *app, const char *id);
void way_back_draft(struct app *app);
void way_back_page(struct app *app);
void way_back_refused(struct app *app);

#endif
