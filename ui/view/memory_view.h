/* F2: the memory pane as a view, with memory and what else tiro knows as tabs. It stands beside the
 * transcript where there is room, otherwise over it while it has the keyboard. When it is left,
 * what was typed and changed in it stays. */
#ifndef UI_MEMORY_VIEW_H
#define UI_MEMORY_VIEW_H

#include "ui/view/view.h"

struct view *memory_view_new(const struct view_host *host);

/* Query "": none; but an entry that is being changed is shown again. Without a memory the surface
 * says so. */
void memory_view_open(struct view *view, const char *query);
/* The tab of that name; without one that is offered, nothing happens and it is false. */
bool memory_view_open_tab(struct view *view, const char *name, const char *query);
void memory_view_open_session(struct view *view);         /* what the open session dropped */
void memory_view_return(struct view *view, bool focused); /* as it was left */
void memory_view_to_hits(struct view *view);              /* the keys, if it is open */
void memory_view_toggle(struct view *view);

bool memory_view_is_open(const struct view *view);
bool memory_view_focused(const struct view *view); /* it has the keyboard */

/* Keys go to the pane beside the transcript, or to the message. False: there is none. */
bool memory_view_focus(struct view *view, bool focused);

/* What the transcript shows is to be seen, and keys are to go there. */
void memory_view_uncover(struct view *view);

/* Shows that message: of the open session, or of another one, which is opened read-only. */
void memory_view_show_message(struct view *view, const char *session_id, int64_t seq);

/* Says it where the hits are. */
void memory_view_say(struct view *view, const char *text);

/* A message is not there that was to be shown. */
void memory_view_missed(struct view *view);

#endif
