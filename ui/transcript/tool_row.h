/* A tool call as rows: one line, or that line with the arguments and the result below. */
#ifndef UI_TOOL_ROW_H
#define UI_TOOL_ROW_H

#include <stdbool.h>

#include "ui/term/rows.h"
#include "ui/transcript/fold.h"

enum { TOOL_ROWS_MAX = 200 }; /* of an open result; a row says how many lines more there are */

void tool_rows(struct rows *out, const struct item *call, int width, bool open);

#endif
