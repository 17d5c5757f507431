#include "session/open_run.h"

#include <limits.h>

#include "store/event_log.h"

enum { GROWTH = 8 };

enum border { BORDER_NONE, BORDER_BEGIN, BORDER_END };

/* The last one in the list, and where. */
static enum border last_border(const struct event_list *l, int64_t *seq)
{
    static const enum border borders[EVENT_TYPE_COUNT] = {
        [EVENT_TURN_STARTED] = BORDER_BEGIN,
        [EVENT_TURN_COMPLETED] = BORDER_END,
        [EVENT_TURN_FAILED] = BORDER_END,
        [EVENT_INTERRUPTED] = BORDER_END,
    };
    for (size_t i = l->items.len; i-- > 0;) {
        const struct event *ev = l->items.items[i];
        *seq = ev->seq;
        if (event_between_turns(ev))
            return BORDER_END;
        if (borders[ev->type] != BORDER_NONE)
            return borders[ev->type];
    }
    return BORDER_NONE;
}

bool open_run_find(struct store *s, const char *session_id, int64_t seq, int64_t *begin,
                   struct error *e)
{
    enum border border = BORDER_NONE;
    bool more = true;
    int limit = 1;
    while (border == BORDER_NONE && more) {
        struct event_list tail;
        if (!event_log_tail(s, session_id, seq + 1, limit, 0, &tail, &more, e))
            return false;
        more = more && limit <= INT_MAX / GROWTH;
        limit = more ? limit * GROWTH : limit;
        border = last_border(&tail, begin);
        event_list_release(&tail);
    }
    if (border != BORDER_BEGIN)
        *begin = 0;
    return true;
}
