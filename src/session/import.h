/* Sessions out of a file: what export_session() wrote (JSON, JSON Lines), or a list of messages in
 * OpenAI's form (an array, or an object with "messages"). The text is somebody else's: it is checked
 * before anything is written, and what does not fit is named by its place ("messages[3].role",
 * "line 12"). One transaction: all or nothing. */
#ifndef SESSION_IMPORT_H
#define SESSION_IMPORT_H

#include "session/catalog.h"

/* Text longer than this is refused. */
#define IMPORT_MAX_BYTES ((size_t)256 * 1024 * 1024)

/* A session whose id is in the store gets a new one. `title` (may be NULL) names it when the text
 * has none; `directory` is where it is said to have been, when the text does not say. */
bool import_session(struct catalog *c, const char *text, size_t len, const char *title,
                    const char *directory, struct session_info *out, struct error *e);

#endif
