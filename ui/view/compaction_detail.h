/* An opened card of a compaction: what came of it, the whole summary, what was shortened, and the
 * messages that it dropped, page by page. More of them is asked for when the end of those that are
 * there comes near. */
#ifndef UI_COMPACTION_DETAIL_H
#define UI_COMPACTION_DETAIL_H

#include "ui/view/view.h"

/* `seq`: of the compaction_completed, which is asked for at once. */
struct view *compaction_detail_new(const struct view_host *host, int64_t seq);

#endif
