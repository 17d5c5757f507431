/* Learned memory as a tab of the pane of memory: the inbox of what waits for the person's word,
 * then what models are told, what was rejected, and what the logs say of tools and sessions. */
#ifndef UI_LEARNED_VIEW_H
#define UI_LEARNED_VIEW_H

#include "ui/view/view.h"

struct view *learned_view_new(const struct view_host *host);

/* As struct view_tab has it. */
void learned_view_show(struct view *view, const char *query);

#endif
