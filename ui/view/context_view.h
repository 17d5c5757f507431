/* The context screen (F4) and the detail of a compaction. The first shows the parts of the next
 * request with their tokens, and the messages that a compaction now would drop; the chosen, open
 * and visible parts stay so when another answer comes. The second shows an opened card of a
 * compaction: its outcome, the whole summary, the messages that were shortened, and those that were
 * dropped, page by page as the end of the listed ones comes near. */
#ifndef UI_CONTEXT_VIEW_H
#define UI_CONTEXT_VIEW_H

#include "chat/context.h"
#include "ui/view/view.h"

/* In the person's language. */
const char *context_kind_name(enum context_kind kind);

/* Asks at once, and again at the end of a turn; otherwise when the context has changed, at most
 * once a second. */
struct view *context_view_new(const struct view_host *host, const char *none);

/* `seq`: of the compaction_completed, which is asked for at once. */
struct view *compaction_detail_new(const struct view_host *host, int64_t seq);

#endif
