/* Histories of other agents: /import, and how far it is. */
#ifndef UI_APP_IMPORTS_H
#define UI_APP_IMPORTS_H

#include "session/import_operations.h"
#include "ui/app/app.h"

/* "3 conversations, 40 messages from Claude Code, Codex.", followed by `find`; or that nothing is
 * new. The caller frees. */
char *imports_told(const struct import_report *r, const char *find);

/* /import: `path` "": the places of the chosen sources. */
void imports_run(struct app *app, const char *path);
/* NOTICE_IMPORT_STATE. */
void imports_take_state(struct app *app, const struct notice *n);
/* Stops it, with a note; false: nothing is imported. */
bool imports_stop(struct app *app);

#endif
