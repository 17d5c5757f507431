/* Turns of the open session: sending, repeating and replacing a message, turns by their number
 * (/fork, /pin), jumps to a message and the way back from them. */
#ifndef UI_APP_TURNS_H
#define UI_APP_TURNS_H

#include "ui/app/app.h"

struct turn_found {
    size_t number, count; /* the one that was asked for; how many there are */
    int64_t seq;          /* of its message; 0: there is no such turn */
    int64_t last;         /* of its last event */
};

/* False: the text is no number from 1 on. */
bool turns_number(const char *text, size_t *number);

/* The turn among those that the transcript holds; it has all of them from the first on. */
struct turn_found turns_held(const struct transcript *t, size_t number);

/* Calls back now or when all is here. */
void turns_find(struct app *app, size_t number,
                void (*take)(struct app *app, const struct turn_found *found));

/* Adds the turns whose number begins so, newest first. */
void turns_list(struct app *app, struct list *list, const char *prefix);

/* Older events have come. True if a list waits for them, and all are here. */
bool turns_page_came(struct app *app);

/* They will not come, or are of no use any more. */
void turns_forget(struct app *app);

/* Older pages are asked for until the message's event is among them. */
void jump_to(struct app *app, int64_t seq);
void jump_to_place(struct app *app, const struct transcript_place *place);
void jump_page_came(struct app *app);
void jump_forget(struct app *app);

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

/* Sends the text, or keeps it waiting while a turn runs. */
void message_send(struct app *app, const char *text);

/* Sends the last one again. */
void message_retry(struct app *app);

/* /edit: the last one comes into the editor. Says so if there is none, or not now. */
void message_edit(struct app *app);

/* The last message stays as it is, and what is written is a new one. */
void message_keep(struct app *app);

/* Sends the text in its place. While a turn runs the text comes back into the editor. */
void message_replace(struct app *app, const char *text);

void fork_run(struct app *app, const char *arguments);

/* Adds what may stand behind /fork and begins so. */
void fork_list(struct app *app, struct list *list, const char *prefix);

void pin_run(struct app *app, const char *arguments);
void unpin_run(struct app *app, const char *arguments);

#endif
