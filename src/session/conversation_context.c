#include "base/mem.h"
#include "compact/mode.h"
#include "session/conversation_private.h"

/* What stays beside the history is there after a compaction, too. */
static void foresee(struct context *out, const struct conversation *c)
{
    const struct history *h = &c->journal.history;
    const struct compact_mode *mode = c->compact.mode;
    const struct compact_limits limits = conversation_limits(c);
    const struct compact_input in = compact_input_of(h, &c->compact, &limits);
    struct compact_plan plan = {0};
    struct rebuild rebuild = {0};
    if (c->engine->compaction && compact_plan_make(mode, &in, &plan)) {
        compact_plan_rebuild(mode, &in, &plan, NULL, &rebuild);
        out->tokens_after = out->tokens - h->estimate + rebuild_estimate(&rebuild, in.estimates);
        rebuild_release(&rebuild);
    }
    struct context_part *messages = out->parts.items + out->parts.len - h->messages.len;
    for (size_t i = 0; i < plan.fates.len; i++)
        messages[i].goes = plan.fates.items[i] == FATE_GOES;
    compact_plan_release(&plan);
}

/* The parts are estimated; together they are what the meters show. Rounding loses nothing. */
static void fit_to_request(struct context *out, struct request_size size)
{
    const int64_t request = size.tokens;
    const int64_t estimate = out->tokens;
    int64_t seen = 0, given = 0;
    for (size_t i = 0; i < out->parts.len; i++) {
        struct context_part *p = &out->parts.items[i];
        seen += p->tokens;
        p->tokens = request_resized(request, estimate, seen) - given;
        given += p->tokens;
    }
    if (out->tokens_after >= 0)
        out->tokens_after = request_resized(request, estimate, out->tokens_after);
    out->tokens = request;
    out->estimated = size.estimated;
}

static void fill(struct context *out, struct conversation *c)
{
    struct agent agent = conversation_agent(c);
    out->last_input = c->journal.history.last_input;
    out->cached = c->last_cached;
    out->sent = c->journal.info.usage.input;
    out->received = c->journal.info.usage.output;
    out->window = c->backend.facts.window;
    out->threshold = conversation_threshold(c);
    out->mode = c->engine->compaction ? mem_strdup(c->compact.mode->name) : NULL;
    prompt_assemble(out, &agent);
    prompt_describe(out, &agent);
    foresee(out, c);
    fit_to_request(out, agent_request_size(&agent));
    conversation_agent_release(&agent);
}

bool run_context(struct conversation *c, const void *params, void *result, struct error *e)
{
    (void)params;
    if (c->doing == IDLE) {
        toolset_refresh(&c->tools);
        conversation_read_prompt(c);
        conversation_read_learned(c);
    }
    if (!conversation_need_backend(c, e) || !conversation_need_history(c, e))
        return false;
    fill(result, c);
    return true;
}
