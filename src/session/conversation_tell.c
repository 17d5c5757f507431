#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "chat/usage.h"
#include "session/conversation_private.h"

/* Surfaces do not see provider/. */
static_assert((int)PROVIDER_BY_OPTION == (int)CHOICE_OPTION &&
                  (int)PROVIDER_BY_CONFIG == (int)CHOICE_CONFIG &&
                  (int)PROVIDER_BY_ENVIRONMENT == (int)CHOICE_ENVIRONMENT &&
                  (int)PROVIDER_ANSWERED == (int)CHOICE_ANSWERED &&
                  (int)PROVIDER_FALLBACK == (int)CHOICE_FALLBACK,
              "a reason is a choice's");

void tell(struct conversation *c, struct notice *n)
{
    notice_name_session(n, c->journal.info.id);
    mailbox_push(c->engine->notices, n);
}

void tell_fault(struct conversation *c, const struct error *e)
{
    struct notice *n = notice_new(NOTICE_ERROR);
    log_line(LOG_ERROR, "%s: %s", err_info(e->code)->name, e->text);
    n->error = *e;
    tell(c, n);
}

/* Tokens count whether they were measured or estimated. */
struct budget_use conversation_spent(const struct conversation *c)
{
    const struct session_info *info = &c->journal.info;
    int64_t tokens = figure_sum(info->usage.input, info->usage.output);
    struct budget_use use = {{0}};
    use.used[BUDGET_TOKENS] = (double)figure_bounded(tokens, FIGURE_MAX);
    use.used[BUDGET_DURATION] = (double)info->run_ms / 1000;
    use.used[BUDGET_TOOL_CALLS] = (double)info->tool_calls;
    use.used[BUDGET_COST] = info->cost;
    return use;
}

static struct meters current_meters(struct conversation *c)
{
    const struct journal *j = &c->journal;
    struct meters m = {.request = conversation_request(c),
                       .window = c->backend.facts.window,
                       .threshold = conversation_threshold(c),
                       .compactions =
                           j->loaded ? (int)j->history.compaction.in_force.len : j->compactions,
                       .suspended = conversation_suspended(c),
                       .memory = c->engine->memory,
                       .access = c->access,
                       .total = j->info.usage,
                       .cost = j->info.cost,
                       .cost_partial = (j->loaded ? j->history.unpriced : j->unpriced) > 0};
    struct budget_use use = conversation_spent(c);
    enum budget_kind kind;
    if (budget_nearest(&c->budget, &use, &kind)) {
        m.budget = budget_kind_name(kind);
        m.budget_percent = budget_percent(&c->budget, &use, kind);
    }
    return m;
}

void tell_session(struct conversation *c, bool opened)
{
    struct notice *n = notice_new(NOTICE_SESSION);
    session_info_release(&n->info);
    n->info = session_info_clone(&c->journal.info);
    n->meters = current_meters(c);
    n->read_only = c->journal.read_only;
    n->flag = opened;
    if (!opened) {
        tell(c, n);
        return;
    }
    engine_note_session(c, c->journal.info.id);
    notice_name_session(n, c->journal.info.id);
    engine_tell_front(c, n);
}

void tell_provider(struct conversation *c)
{
    const struct choice *choice = &c->backend.choice;
    struct notice *n = notice_new(NOTICE_PROVIDER);
    n->provider = mem_strdup(choice->provider->name);
    n->model = mem_strdup(choice->model);
    n->detail = mem_strdup(choice->detail);
    n->reason = (enum provider_reason)choice->reason;
    if (choice->reason != CHOICE_FALLBACK)
        engine_note_backend(c, choice->provider->name, choice->model);
    n->meters = current_meters(c);
    tell(c, n);
}

void tell_busy(struct conversation *c, bool busy)
{
    struct notice *n = notice_new(NOTICE_BUSY);
    n->flag = busy;
    n->number = busy ? clock_mono_ms() - c->busy_since_ms : 0;
    tell(c, n);
}

void tell_page(struct conversation *c, struct event_list *tail, bool more)
{
    struct notice *n = notice_new(NOTICE_PAGE);
    n->flag = more;
    n->events.items = tail->items.items;
    n->events.len = tail->items.len;
    n->events.cap = tail->items.cap;
    tell(c, n);
}

static void tell_tail(struct conversation *c)
{
    struct event_list tail = {0};
    struct error e;
    bool more = false;
    if (!journal_tail(&c->journal, &tail, &more, &e))
        log_line(LOG_ERROR, "session %s: %s", c->journal.info.id, e.text);
    tell_page(c, &tail, more);
}

void tell_all(struct conversation *c)
{
    tell_session(c, true);
    tell_busy(c, true);
    if (!c->engine->options.serves)
        tell_tail(c);
    tell_provider(c);
    if (c->question.id && !c->question.answered)
        tell_question(c);
    if (c->review.draft && !c->review.answered)
        tell_draft(c);
}
