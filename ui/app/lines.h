/* Results of operations as lines, for the command line and for --plain. Each function appends clean
 * text to `out`. */
#ifndef UI_APP_LINES_H
#define UI_APP_LINES_H

#include "base/buf.h"
#include "chat/knowledge.h"

/* "FILE:12  HEADING" or "FILE, page 3  HEADING", and the text on the lines below. */
void lines_passage(struct buf *out, const struct corpus_passage *p);

/* Entities with their observations and where these come from, then relations. */
void lines_graph(struct buf *out, const struct graph_part *part);

#endif
