/* Rewinds of a conversation: it goes on from before a message of the user. */
#include <string.h>

#include "base/mem.h"
#include "session/conversation_private.h"
#include "store/event_log.h"

/* The history is another one. */
static void tell_change(struct conversation *c)
{
    c->last_cached = -1;
    conversation_project(c);
    tell_session(c, false);
}

bool converse_rewind(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_rewind_params *p = params;
    struct session_rewound *out = result;
    struct said said = {0};
    int64_t seq = p->seq;
    if (!conversation_is_live(c, e) || !conversation_need_history(c, e) ||
        (seq == 0 && !journal_turn(&c->journal, p->turn, &seq, e)) ||
        !event_log_said(c->store, c->journal.info.id, seq, &said, e))
        return false;
    out->seq = seq;
    out->text = said.text ? said.text : mem_strdup("");
    if (!journal_rewind(&c->journal, seq, e))
        return false;
    tell_change(c);
    return true;
}

bool converse_unrewind(struct conversation *c, const void *params, void *result, struct error *e)
{
    (void)params, (void)result;
    if (!conversation_is_live(c, e) || !conversation_need_history(c, e) ||
        !journal_unrewind(&c->journal, e))
        return false;
    tell_change(c);
    return true;
}
