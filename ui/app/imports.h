/* Histories of other agents: /import, how far it is, and the offer of the first start, which is a
 * part of the welcome. Its answers are whole lines, so that no letter of a message is taken for
 * one. */
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

/* With an empty store and [import] sources = ask: looks whether there is something to offer. */
void imports_look(struct app *app);
bool imports_offered(const struct app *app);
/* Appends the offer, if there is one. */
void imports_rows(const struct app *app, int width, struct rows *out);
/* Takes the line of the editor for an answer to the offer; false: it is none. */
bool imports_answer(struct app *app, const char *line);

#endif
