/* The person's message on its way: sent, waiting for the turn to end, sent again, or in place of
 * the last one (/edit), which goes with all that followed it. */
#ifndef UI_MESSAGE_H
#define UI_MESSAGE_H

#include "ui/app/app.h"

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

#endif
