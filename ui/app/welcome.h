/* The lines of a session in which nothing was said yet, and the hint of an empty message. What they
 * tell is asked from the engine and from the disk after the first frame. */
#ifndef UI_APP_WELCOME_H
#define UI_APP_WELCOME_H

#include "ui/app/app.h"

/* A session was opened: asks for what its lines tell, unless it has messages. */
void welcome_ask(struct app *app);
/* Learned items were proposed or decided on. */
void welcome_ask_inbox(struct app *app);

/* Appends the lines, the most important first, in at most so many rows. */
void welcome_rows(const struct app *app, int width, size_t room, struct rows *out);

/* The hint of an empty message, as much of it as has room. Until the first message of this
 * installation is sent, it tells of more than commands. The caller frees. */
char *welcome_hint(const struct app *app, int width);
/* A message was sent. The state directory remembers it. */
void welcome_sent(struct app *app);

#endif
