/* Corpora as a tab of the pane of memory: what they are made of, documents and their passages,
 * files that could not be read, a search in all of them, and what the model was given to cite. */
#ifndef UI_CORPUS_VIEW_H
#define UI_CORPUS_VIEW_H

#include "ui/view/view.h"

struct view *corpus_view_new(const struct view_host *host);

/* As struct view_tab has it. "[2]" opens the passage that the model cites by that number
 * for the newest message for which it was given any; "[2]@417" the one before event 417. */
void corpus_view_show(struct view *view, const char *query);

#endif
