#include <stdlib.h>

#include "session/journal_private.h"
#include "session/notice.h"

enum { MOST_WAITING = 512 }; /* notices that a surface may be behind before deltas are joined */

static void push(struct journal *j, struct event *ev)
{
    struct notice *n = notice_new(NOTICE_EVENT);
    n->event = ev;
    notice_name_session(n, ev->session_id);
    if (event_is_delta(ev->type)) /* enough with the next frame */
        mailbox_push_lazily(j->notices, n);
    else
        mailbox_push(j->notices, n);
}

void journal_show_held(struct journal *j)
{
    struct event *ev = j->held;
    if (!ev)
        return;
    j->held = NULL;
    ev->text = buf_take(&j->held_text);
    push(j, ev);
}

static void hold(struct journal *j, struct event *ev)
{
    buf_addstr(&j->held_text, ev->text);
    if (j->held) {
        event_free(ev);
        return;
    }
    free(ev->text);
    ev->text = NULL;
    j->held = ev;
}

bool journal_joins_held(const struct journal *j, const struct event *ev)
{
    const struct event *held = j->held;
    return held && held->type == ev->type && held->count == ev->count && held->limit == ev->limit;
}

void journal_drop_held(struct journal *j)
{
    event_free(j->held);
    j->held = NULL;
    buf_release(&j->held_text);
}

void journal_show(struct journal *j, struct event *ev)
{
    if (!journal_joins_held(j, ev))
        journal_show_held(j);
    bool behind = event_is_delta(ev->type) && mailbox_len(j->notices) >= MOST_WAITING;
    if (!behind && !j->held) {
        push(j, ev);
        return;
    }
    hold(j, ev);
    if (!behind)
        journal_show_held(j);
}
