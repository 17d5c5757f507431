/* What each command does that begins with "/". One table makes the dispatch, the help, the palette
 * and the completion. */
#ifndef UI_COMMANDS_H
#define UI_COMMANDS_H

#include "ui/app/slash.h"

/* Runs it. False, with a note, if there is no such command, or if it lacks its argument or takes
 * none: the text stays in the editor. */
bool slash_run(struct app *app, const char *text);

#endif
