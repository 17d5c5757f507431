/* Editing in the user's own editor ($VISUAL, $EDITOR, vi). */
#ifndef UI_EXTERNAL_EDITOR_H
#define UI_EXTERNAL_EDITOR_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Edits `text` in a file of mode 0600, which is removed afterwards, and fills `out` with the
 * result. Waits for the editor. False if it cannot be started or failed. The terminal must be
 * suspended. */
bool external_editor_run(const char *text, struct buf *out, struct error *e);

/* Edits an existing file, which stays, from this line on (0: where the editor begins). */
bool external_editor_open(const char *path, int64_t line, struct error *e);

#endif
