/* The context screen (F4): what the next request would carry, part by part, with what each takes;
 * what a compaction now would drop; and what can be done about it. What is chosen, open and in view
 * stays when another answer comes. */
#ifndef UI_CONTEXT_VIEW_H
#define UI_CONTEXT_VIEW_H

#include "chat/context.h"
#include "ui/view/view.h"

/* In the person's language. */
const char *context_kind_name(enum context_kind kind);

/* Asks at once, and again at the end of a turn; otherwise when what it shows is out of date, at
 * most once a second. */
struct view *context_view_new(const struct view_host *host, const char *none);

#endif
