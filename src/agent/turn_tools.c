#include <stdlib.h>

#include "agent/turn.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

enum gate {
    GATE_OPEN,
    GATE_SHUT,   /* the call is faulty; the model is told why */
    GATE_DENIED, /* it is not allowed; likewise */
    GATE_STOPPED /* the turn ends, and the tool has not run */
};

static struct tool_context context_for(const struct agent *a, const struct tool *tool)
{
    return (struct tool_context){
        .max_output = (size_t)config_integer(a->config, CONFIG_TOOLS_MAX_OUTPUT),
        .deadline_ms = clock_mono_ms() + 1000 * config_integer(a->config, tool->timeout),
        .wakeup = a->wakeup,
    };
}

static bool goes_on(const struct run *r)
{
    return r->a->wakeup->go_on(r->a->wakeup->context);
}

static enum gate shut(struct buf *out, const char *reason)
{
    buf_addstr(out, reason);
    return GATE_SHUT;
}

static enum gate deny(struct buf *out, const char *reason)
{
    buf_addstr(out, reason);
    return GATE_DENIED;
}

static enum gate nobody_to_ask(const struct tool_call *call, struct buf *out)
{
    if (call->guarded)
        buf_addf(out,
                 "not allowed: %s is a place of keys or of tiro's own files, about which the user "
                 "is asked always, and nobody could be asked",
                 call->guarded);
    else
        buf_addf(out,
                 "not allowed: nobody could be asked; allow it with [tools] allow or --allow %s",
                 call->tool->spec.name);
    return GATE_DENIED;
}

/* An interrupt while the user is asked comes as a refusal, but is none. */
static enum gate ask(struct run *r, struct tool_call *call, const struct block *b,
                     const char *preview, struct buf *out)
{
    const struct agent *a = r->a;
    run_pause(r);
    enum approval answer =
        a->ask(a->context, call, b->id, b->text && *b->text ? b->text : "{}", preview);
    run_resume(r);
    if (!goes_on(r))
        return GATE_STOPPED;
    if (answer == APPROVAL_ASK)
        return nobody_to_ask(call, out);
    call->asked = answer == APPROVAL_ALLOW;
    return call->asked ? GATE_OPEN : deny(out, "the user declined this call");
}

static enum gate preview_and_ask(struct run *r, struct tool_call *call, const struct block *b,
                                 struct buf *out)
{
    const struct tool_context context = context_for(r->a, call->tool);
    struct buf preview = BUF_INIT;
    if (!r->a->ask)
        return nobody_to_ask(call, out);
    enum gate gate = tool_call_preview(call, &context, &preview)
                         ? ask(r, call, b, preview.data, out)
                         : shut(out, preview.data);
    buf_release(&preview);
    return gate;
}

static enum gate decide(struct run *r, struct tool_call *call, const struct block *b,
                        struct buf *out)
{
    if (!tool_offered(call->tool, r->a->offer))
        return deny(out, "not allowed: this tool is not offered here");
    bool guarded = tool_call_is_guarded(call);
    switch (approval_decide(r->a->policy, call->tool)) {
    case APPROVAL_ALLOW:
        if (!guarded)
            return GATE_OPEN;
        break;
    case APPROVAL_DENY:
        return deny(out, "not allowed: [tools] deny has this tool");
    case APPROVAL_ASK:
        break;
    }
    return preview_and_ask(r, call, b, out);
}

/* How a call went. */
struct ended {
    bool is_error, denied;
    int64_t duration_ms;
};

static void tell_result(struct run *r, const struct block *b, const struct ended *ended,
                        struct buf *result)
{
    struct event *ev = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = mem_strdup(b->id);
    ev->name = mem_strdup(b->name);
    ev->flag = ended->is_error;
    ev->denied = ended->denied;
    ev->text = buf_take(result);
    ev->number = ended->duration_ms;
    r->tool_calls++;
    run_emit(r, ev);
}

static const struct block *last_call(const struct response *response)
{
    size_t i = response->blocks.len;
    while (i > 0 && response->blocks.items[i - 1].type != BLOCK_TOOL_CALL)
        i--;
    return i > 0 ? &response->blocks.items[i - 1] : NULL;
}

/* A call that runs, for what it tells. */
struct running {
    struct run *run;
    const struct block *call;
};

static void tell_of_call(void *context, struct event *ev)
{
    const struct running *running = context;
    free(ev->id);
    ev->id = mem_strdup(running->call->id);
    run_emit(running->run, ev);
}

static bool execute(struct run *r, const struct tool_call *call, const struct block *b,
                    struct buf *result)
{
    struct running running = {.run = r, .call = b};
    struct tool_context context = context_for(r->a, call->tool);
    context.tell = tell_of_call;
    context.tell_context = &running;
    return tool_call_run(call, &context, result);
}

/* Those past the maximum have no result of their own: the model learns of them in the last. */
static void tell_of_refused_calls(const struct run *r, const struct block *b, struct buf *result)
{
    const struct response *response = &r->response;
    if (response->calls_refused && b == last_call(response))
        buf_addf(result,
                 "\n\n[The calls after this one were refused and are not in the conversation: an "
                 "answer may have %d tool calls. Make them in your next answers.]",
                 PROVIDER_MAX_CALLS);
}

static enum gate run_tool(struct run *r, const struct block *b)
{
    int64_t begun = run_elapsed_ms(r);
    enum gate gate = GATE_SHUT;
    struct ended ended = {.is_error = true};
    struct tool_call call = {0};
    struct buf result = BUF_INIT;
    if (tool_call_prepare(&call, r->a->tools, b->name, b->text, &result))
        gate = decide(r, &call, b, &result);
    if (gate == GATE_OPEN)
        ended.is_error = execute(r, &call, b, &result);
    tell_of_refused_calls(r, b, &result);
    ended.denied = gate == GATE_DENIED;
    ended.duration_ms = run_elapsed_ms(r) - begun;
    if (gate != GATE_STOPPED)
        tell_result(r, b, &ended, &result);
    tool_call_release(&call);
    buf_release(&result);
    return gate;
}

enum outcome run_tools(struct run *r)
{
    for (size_t i = 0; i < r->response.blocks.len && !r->lost; i++) {
        const struct block *b = &r->response.blocks.items[i];
        if (b->type != BLOCK_TOOL_CALL)
            continue;
        if (!run_has_budget(r))
            return OUTCOME_FAILED;
        bool ended = run_tool(r, b) != GATE_STOPPED;
        run_warn(r);
        /* Asked, not polled: the tool may have been woken by what stops us, and have drained it. */
        if (!ended || !goes_on(r))
            return run_stopped(r);
    }
    return OUTCOME_MORE;
}
