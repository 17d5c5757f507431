/* The graph of facts as a tab of the pane of memory: its entities, found as one types, and each
 * with its observations and relations, along which one walks. */
#ifndef UI_TABS_H
#define UI_TABS_H

#include "ui/view/view.h"

struct view *graph_view_new(const struct view_host *host);

/* As struct view_tab has it. */
void graph_view_show(struct view *view, const char *query);

/* Learned memory as a tab of the pane of memory: the inbox of what waits for the person's word,
 * then what models are told, what was rejected, and what the logs say of tools and sessions. */

struct view *learned_view_new(const struct view_host *host);

/* As struct view_tab has it. */
void learned_view_show(struct view *view, const char *query);

/* Corpora as a tab of the pane of memory: what they are made of, documents and their passages,
 * files that could not be read, a search in all of them, and what the model was given to cite. */

struct view *corpus_view_new(const struct view_host *host);

/* As struct view_tab has it. "[2]" opens the passage that the model cites by that number
 * for the newest message for which it was given any; "[2]@417" the one before event 417. */
void corpus_view_show(struct view *view, const char *query);

#endif
