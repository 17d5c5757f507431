#include "base/mem.h"
#include "compact/mode.h"
#include "session/conversation_private.h"

/* What stays beside the history is there after a compaction, too. */
static void foresee(struct context *c, const struct conversation *w)
{
    const struct history *h = &w->journal.history;
    const struct compact_mode *mode = w->compact.mode;
    const struct compact_limits limits = conversation_limits(w);
    const struct compact_input in = compact_input_of(h, &w->compact, &limits);
    struct compact_plan plan = {0};
    struct rebuild rebuild = {0};
    if (w->engine->compaction && compact_plan_make(mode, &in, &plan)) {
        compact_plan_rebuild(mode, &in, &plan, NULL, &rebuild);
        c->tokens_after = c->tokens - h->estimate + rebuild_estimate(&rebuild, in.estimates);
        rebuild_release(&rebuild);
    }
    struct context_part *messages = c->parts.items + c->parts.len - h->messages.len;
    for (size_t i = 0; i < plan.fates.len; i++)
        messages[i].goes = plan.fates.items[i] == FATE_GOES;
    compact_plan_release(&plan);
}

/* The parts are estimated; together they are what the meters show. Rounding loses nothing. */
static void fit_to_request(struct context *c, struct request_size size)
{
    const int64_t request = size.tokens;
    const int64_t estimate = c->tokens;
    int64_t seen = 0, given = 0;
    for (size_t i = 0; i < c->parts.len; i++) {
        struct context_part *p = &c->parts.items[i];
        seen += p->tokens;
        p->tokens = request_resized(request, estimate, seen) - given;
        given += p->tokens;
    }
    if (c->tokens_after >= 0)
        c->tokens_after = request_resized(request, estimate, c->tokens_after);
    c->tokens = request;
    c->estimated = size.estimated;
}

static void fill(struct context *c, struct conversation *w)
{
    struct agent agent = conversation_agent(w);
    c->last_input = w->journal.history.last_input;
    c->cached = w->last_cached;
    c->window = w->backend.facts.window;
    c->threshold = conversation_threshold(w);
    c->mode = w->engine->compaction ? mem_strdup(w->compact.mode->name) : NULL;
    prompt_assemble(c, &agent);
    prompt_describe(c, &agent);
    foresee(c, w);
    fit_to_request(c, agent_request_size(&agent));
    conversation_agent_release(&agent);
}

void do_context(struct conversation *w, struct command *c)
{
    struct error e = {0};
    if (w->doing == IDLE)
        toolset_refresh(&w->tools);
    if ((!w->backend.chosen && !conversation_choose(w, &e)) || !conversation_need_history(w, &e)) {
        tell_error(w, c, &e);
        return;
    }
    struct notice *n = notice_new(NOTICE_CONTEXT);
    fill(&n->context, w);
    tell(w, n);
}
