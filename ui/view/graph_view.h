/* The graph of facts as a tab of the pane of memory: its entities, found as one types, and each
 * with its observations and relations, along which one walks. */
#ifndef UI_GRAPH_VIEW_H
#define UI_GRAPH_VIEW_H

#include "ui/view/view.h"

struct view *graph_view_new(const struct view_host *host);

/* As struct view_tab has it. */
void graph_view_show(struct view *view, const char *query);

#endif
