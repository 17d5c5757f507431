/* /edit: the last message comes into the editor, and what is sent then takes its place, with all
 * that followed it. */
#ifndef UI_REPLACE_H
#define UI_REPLACE_H

#include "ui/app/app.h"

/* Begins; says so if there is nothing to replace, or not now. */
void replace_begin(struct app *app);

/* The last message stays as it is, and what is written is a new one. */
void replace_forget(struct app *app);

/* Sends the text in its place. While a turn runs the text comes back into the editor. */
void replace_send(struct app *app, const char *text);

#endif
