/* Where one was before a jump to a message, here or in another session: Esc goes back there, the
 * last jump first. Sending a message, or opening a session in any other way, ends that. */
#ifndef UI_WAY_BACK_H
#define UI_WAY_BACK_H

#include <stdbool.h>

#include "base/uuid.h"
#include "base/vec.h"
#include "ui/transcript/transcript.h"

struct app;

struct place_left {
    char session[UUID_LEN + 1];
    bool read_only;
    bool blank; /* nothing was said or written in it, so there is nothing to open again */
    struct transcript_place view;
    size_t caret; /* of the message */
    bool memory, memory_focused;
};

struct way_back {
    VEC(struct place_left) places; /* the newest last */
    /* Another session was asked for, and is not there yet. */
    enum { WAY_STAYS, WAY_OUT, WAY_HOME } moving;
    struct place_left left; /* OUT: where one was; HOME: where one goes */
    char to[UUID_LEN + 1];  /* of OUT */
};

/* Before a jump within the open session; before another one is asked for, by its id. */
void way_back_mark(struct app *app);
void way_back_leave(struct app *app, const char *id);

bool way_back_known(const struct app *app);

/* False: there is no way back. */
bool way_back_go(struct app *app);

void way_back_forget(struct app *app);
void way_back_release(struct way_back *w);

/* A session is about to be shown; its message stands in the editor; its newest page has come; it
 * cannot be opened. */
void way_back_session(struct app *app, const char *id);
void way_back_draft(struct app *app);
void way_back_page(struct app *app);
void way_back_refused(struct app *app);

#endif
