/* From something that was made of a message to that message in the transcript. */
#ifndef UI_JUMP_H
#define UI_JUMP_H

#include "ui/app/app.h"

/* Older pages are asked for until the message's event is among them. */
void jump_to(struct app *app, int64_t seq);
void jump_to_place(struct app *app, const struct transcript_place *place);
void jump_page_came(struct app *app);
void jump_forget(struct app *app);

#endif
