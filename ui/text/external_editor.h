/* Writing in the person's own editor ($VISUAL, $EDITOR, vi). */
#ifndef UI_EXTERNAL_EDITOR_H
#define UI_EXTERNAL_EDITOR_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Hands the terminal over, lets `text` be edited in a file of mode 0600 that is removed afterwards,
 * and fills `out` with what came of it. Waits for the editor. False, and nothing lost, if there is
 * no editor or it failed. The terminal must be suspended. */
bool external_editor_run(const char *text, struct buf *out, struct error *e);

/* The same of a file that is there, at this line (0: the editor's own); it stays. */
bool external_editor_open(const char *path, int64_t line, struct error *e);

#endif
