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

static bool goes_on(const struct turn *t)
{
    return t->a->wakeup->go_on(t->a->wakeup->context);
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
static enum gate ask(struct turn *t, struct tool_call *call, const struct block *b,
                     const char *preview, struct buf *out)
{
    const struct agent *a = t->a;
    turn_pause(t);
    enum approval_verdict answer =
        a->ask(a->context, call, b->id, b->text && *b->text ? b->text : "{}", preview);
    turn_resume(t);
    if (!goes_on(t))
        return GATE_STOPPED;
    if (answer == APPROVAL_ASK)
        return nobody_to_ask(call, out);
    call->asked = answer == APPROVAL_ALLOW;
    return call->asked ? GATE_OPEN : deny(out, "the user declined this call");
}

static enum gate preview_and_ask(struct turn *t, struct tool_call *call, const struct block *b,
                                 struct buf *out)
{
    const struct tool_context context = context_for(t->a, call->tool);
    struct buf preview = BUF_INIT;
    if (!t->a->ask)
        return nobody_to_ask(call, out);
    enum gate gate = tool_call_preview(call, &context, &preview)
                         ? ask(t, call, b, preview.data, out)
                         : shut(out, preview.data);
    buf_release(&preview);
    return gate;
}

/* What was shown was not asked about: the tool changes the file as it is then. */
static void show_change(struct turn *t, struct tool_call *call, const struct block *b)
{
    const struct tool_context context = context_for(t->a, call->tool);
    struct buf preview = BUF_INIT;
    if (!t->a->show || call->tool->class != TOOL_WRITE || !call->tool->preview)
        return;
    if (tool_call_preview(call, &context, &preview))
        t->a->show(t->a->context, b->id, preview.data);
    tool_sight_release(&call->sight);
    buf_release(&preview);
}

static enum gate decide(struct turn *t, struct tool_call *call, const struct block *b,
                        struct buf *out)
{
    if (!tool_offered(call->tool, t->a->offer))
        return deny(out, "not allowed: this tool is not offered here");
    bool guarded = tool_call_is_guarded(call);
    char *grant = tool_call_grant(call);
    enum approval_verdict verdict = approval_decide(t->a->policy, call->tool, grant);
    free(grant);
    switch (verdict) {
    case APPROVAL_ALLOW:
        if (guarded)
            break;
        show_change(t, call, b);
        return GATE_OPEN;
    case APPROVAL_DENY:
        return deny(out, "not allowed: [tools] deny has this tool");
    case APPROVAL_ASK:
        break;
    }
    return preview_and_ask(t, call, b, out);
}

/* How a call went. */
struct ended {
    bool is_error, denied;
    int64_t duration_ms;
};

static void tell_result(struct turn *t, const struct block *b, const struct ended *ended,
                        struct buf *result)
{
    struct event *ev = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = mem_strdup(b->id);
    ev->name = mem_strdup(b->name);
    ev->flag = ended->is_error;
    ev->denied = ended->denied;
    ev->text = buf_take(result);
    ev->number = ended->duration_ms;
    t->tool_calls++;
    turn_emit(t, ev);
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
    struct turn *turn;
    const struct block *call;
};

static void tell_of_call(void *context, struct event *ev)
{
    const struct running *running = context;
    free(ev->id);
    ev->id = mem_strdup(running->call->id);
    turn_emit(running->turn, ev);
}

static bool execute(struct turn *t, const struct tool_call *call, const struct block *b,
                    struct buf *result)
{
    struct running running = {.turn = t, .call = b};
    struct tool_context context = context_for(t->a, call->tool);
    context.tell = tell_of_call;
    context.tell_context = &running;
    return tool_call_run(call, &context, result);
}

/* Those past the maximum have no result of their own: the model learns of them in the last. */
static void tell_of_refused_calls(const struct turn *t, const struct block *b, struct buf *result)
{
    const struct response *response = &t->response;
    if (response->calls_refused && b == last_call(response))
        buf_addf(result,
                 "\n\n[The calls after this one were refused and are not in the conversation: an "
                 "answer may have %d tool calls. Make them in your next answers.]",
                 PROVIDER_MAX_CALLS);
}

static enum gate run_tool(struct turn *t, const struct block *b)
{
    int64_t begun = turn_elapsed_ms(t);
    enum gate gate = GATE_SHUT;
    struct ended ended = {.is_error = true};
    struct tool_call call = {0};
    struct buf result = BUF_INIT;
    if (tool_call_prepare(&call, t->a->tools, b->name, b->text, &result))
        gate = decide(t, &call, b, &result);
    if (gate == GATE_OPEN)
        ended.is_error = execute(t, &call, b, &result);
    tell_of_refused_calls(t, b, &result);
    ended.denied = gate == GATE_DENIED;
    ended.duration_ms = turn_elapsed_ms(t) - begun;
    if (gate != GATE_STOPPED)
        tell_result(t, b, &ended, &result);
    tool_call_release(&call);
    buf_release(&result);
    return gate;
}

enum outcome turn_run_tools(struct turn *t)
{
    for (size_t i = 0; i < t->response.blocks.len && !t->lost; i++) {
        const struct block *b = &t->response.blocks.items[i];
        if (b->type != BLOCK_TOOL_CALL)
            continue;
        if (!turn_has_budget(t))
            return OUTCOME_FAILED;
        bool ended = run_tool(t, b) != GATE_STOPPED;
        turn_warn(t);
        /* Asked, not polled: the tool may have been woken by what stops us, and have drained it. */
        if (!ended || !goes_on(t))
            return turn_stopped(t);
    }
    return OUTCOME_MORE;
}
