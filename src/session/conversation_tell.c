#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "chat/figure.h"
#include "session/conversation_private.h"

/* Surfaces do not see provider/. */
static_assert((int)PROVIDER_BY_OPTION == (int)CHOICE_OPTION &&
                  (int)PROVIDER_BY_CONFIG == (int)CHOICE_CONFIG &&
                  (int)PROVIDER_BY_ENVIRONMENT == (int)CHOICE_ENVIRONMENT &&
                  (int)PROVIDER_ANSWERED == (int)CHOICE_ANSWERED &&
                  (int)PROVIDER_FALLBACK == (int)CHOICE_FALLBACK,
              "a reason is a choice's");

void tell(struct conversation *w, struct notice *n)
{
    notice_name_session(n, w->journal.info.id);
    mailbox_push(w->engine->notices, n);
}

struct notice *error_notice(const struct command *c, const struct error *e)
{
    log_line(LOG_ERROR, "%s: %s", err_info(e->code)->name, e->text);
    return notice_fault(c, e);
}

void tell_error(struct conversation *w, const struct command *c, const struct error *e)
{
    tell(w, error_notice(c, e));
}

/* Tokens count whether they were measured or estimated. */
struct budget_use conversation_spent(const struct conversation *w)
{
    const struct session_info *info = &w->journal.info;
    int64_t tokens = figure_sum(info->usage.input, info->usage.output);
    struct budget_use use = {{0}};
    use.used[BUDGET_TOKENS] = (double)figure_bounded(tokens, FIGURE_MAX);
    use.used[BUDGET_DURATION] = (double)info->run_ms / 1000;
    use.used[BUDGET_TOOL_CALLS] = (double)info->tool_calls;
    use.used[BUDGET_COST] = info->cost;
    return use;
}

static struct meters current_meters(struct conversation *w)
{
    const struct journal *j = &w->journal;
    struct meters m = {.request = conversation_request(w),
                       .window = w->backend.facts.window,
                       .threshold = conversation_threshold(w),
                       .compactions =
                           j->loaded ? (int)j->history.compaction.in_force.len : j->compactions,
                       .suspended = conversation_suspended(w),
                       .memory = w->engine->memory,
                       .total = j->info.usage,
                       .cost = j->info.cost,
                       .cost_partial = (j->loaded ? j->history.unpriced : j->unpriced) > 0};
    struct budget_use use = conversation_spent(w);
    enum budget_kind kind;
    if (budget_nearest(&w->budget, &use, &kind)) {
        m.budget = budget_kind_name(kind);
        m.budget_percent = budget_percent(&w->budget, &use, kind);
    }
    return m;
}

void tell_session(struct conversation *w, bool opened)
{
    struct notice *n = notice_new(NOTICE_SESSION);
    session_info_release(&n->info);
    n->info = session_info_clone(&w->journal.info);
    n->meters = current_meters(w);
    n->read_only = w->journal.read_only;
    n->flag = opened;
    if (!opened) {
        tell(w, n);
        return;
    }
    engine_note_session(w, w->journal.info.id);
    notice_name_session(n, w->journal.info.id);
    engine_tell_front(w, n);
}

void tell_provider(struct conversation *w)
{
    const struct choice *choice = &w->backend.choice;
    struct notice *n = notice_new(NOTICE_PROVIDER);
    n->provider = mem_strdup(choice->provider->name);
    n->model = mem_strdup(choice->model);
    n->detail = mem_strdup(choice->detail);
    n->reason = (enum provider_reason)choice->reason;
    if (choice->reason != CHOICE_FALLBACK)
        engine_note_backend(w, choice->provider->name, choice->model);
    n->meters = current_meters(w);
    tell(w, n);
}

void tell_busy(struct conversation *w, bool busy)
{
    struct notice *n = notice_new(NOTICE_BUSY);
    n->flag = busy;
    n->number = busy ? clock_mono_ms() - w->busy_since_ms : 0;
    tell(w, n);
}

void tell_page(struct conversation *w, struct event_list *tail, bool more)
{
    struct notice *n = notice_new(NOTICE_PAGE);
    n->flag = more;
    n->events.items = tail->items.items;
    n->events.len = tail->items.len;
    n->events.cap = tail->items.cap;
    tell(w, n);
}

void tell_all(struct conversation *w)
{
    struct event_list tail = {0};
    struct error e;
    bool more = false;
    if (!journal_tail(&w->journal, &tail, &more, &e))
        log_line(LOG_ERROR, "session %s: %s", w->journal.info.id, e.text);
    tell_session(w, true);
    tell_busy(w, true);
    tell_page(w, &tail, more);
    tell_provider(w);
    if (w->question.id && !w->question.answered)
        tell_question(w);
    if (w->review.draft && !w->review.answered)
        tell_draft(w);
}

void tell_done(struct conversation *w, const struct command *c, const char *id)
{
    struct notice *n = notice_new(NOTICE_DONE);
    n->command = c->type;
    n->text = mem_strdup(id);
    n->number = c->number;
    tell(w, n);
}
