/* Completion of the word before the caret: /commands and their arguments, @files, @corpus:NAME and
 * @skill:NAME. */
#ifndef UI_COMPLETION_H
#define UI_COMPLETION_H

#include "ui/app/app.h"

/* After an edit: shows, changes or closes the popup of commands or of what can be mentioned. */
void completion_follow(struct app *app);

/* Tab: completes a single candidate, or lists the candidates. False: the word before the caret
 * cannot be completed. */
bool completion_start(struct app *app);

/* Asks for the skills and commands that can be opened, which become commands. */
void completion_ask_skills(struct app *app);

/* Takes the answer to session/list as the last listing. */
app_answer completion_take_sessions;

/* A listing has come that Tab or the popup waits for. */
void completion_listed(struct app *app);

#endif
