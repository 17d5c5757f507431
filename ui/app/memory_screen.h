/* F2 within the surface: the memory pane is opened, gets keys and notices, and is left. From
 * MEMORY_BESIDE columns on it stands beside the transcript, below that over it while keys are its
 * own. A pane that is left keeps what was typed and changed in it. */
#ifndef UI_MEMORY_SCREEN_H
#define UI_MEMORY_SCREEN_H

#include "ui/app/app.h"

enum { MEMORY_BESIDE = 100 };

/* Columns that it takes of so many, without the rule before it; 0: it stands over the rest. */
int memory_screen_columns(int cols);

/* Query "": none; but an entry that is being changed is shown again. Without a memory a note says
 * so. */
void memory_screen_open(struct app *app, const char *query);
void memory_screen_open_session(struct app *app); /* what the open session dropped */
void memory_screen_return(struct app *app, bool focused); /* as it was left */
void memory_screen_to_hits(struct app *app);      /* the keys, if it is open */
void memory_screen_toggle(struct app *app);
void memory_screen_close(struct app *app);
void memory_screen_free(struct app *app);

bool memory_screen_covers(const struct app *app);  /* it is open, over the transcript */
bool memory_screen_focused(const struct app *app); /* keys are its own */

/* What the transcript shows is to be seen, and keys are to go there. */
void memory_screen_uncover(struct app *app);

/* Keys go to the pane beside the transcript, or to the message. False: there is none. */
bool memory_screen_focus(struct app *app, bool focused);

/* False if it is not focused, or has no use for the key. */
bool memory_screen_key(struct app *app, enum action action, const struct key *key);
void memory_screen_click(struct app *app, int row); /* of the body */
void memory_screen_wheel(struct app *app, enum action action, const struct key *key);

/* Only while it is open. */
int64_t memory_screen_due(const struct app *app); /* memory_pane_due(); 0: never */
const struct rows *memory_screen_rows(struct app *app, int width, int height);
bool memory_screen_caret(const struct app *app, int *row, int *col);

/* Fine while it is closed: MEMORY, MEMORY_ENTRY or MEMORY_STATE has come; an event, live or of a
 * page; another session is open; its first page has come; whether a DONE, or an ERROR with the
 * words for it, was the pane's; a message is not there that was to be shown. */
void memory_screen_take(struct app *app, struct notice *n);
void memory_screen_event(struct app *app, const struct event *ev, bool live);
void memory_screen_session(struct app *app);
void memory_screen_page(struct app *app);
bool memory_screen_done(struct app *app, const struct notice *n);
bool memory_screen_failed(struct app *app, const struct notice *n, const char *words);
void memory_screen_missed(struct app *app);

#endif
