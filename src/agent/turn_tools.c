/* The tool calls of an answer: whether they may run, and their results. */
#include <stdlib.h>
#include <string.h>

#include "agent/turn.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"

enum gate {
    GATE_OPEN,
    GATE_SHUT,   /* the call is faulty; the result says why */
    GATE_DENIED, /* the call is not allowed; the result says why */
    GATE_STOPPED /* the turn ends, and the tool has not run */
};

enum { LEAST_FOUND = 400 /* bytes, enough to tell that hits were left out */ };
enum {
    SAME_FAILURES = 3,   /* of one call, which end the turn */
    TOLD_ARGUMENTS = 200 /* bytes, in the warning */
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
    else if (tool_call_bounds(call) == BOUNDS_WIDENED)
        buf_addstr(out,
                   "not allowed: the user is asked about each command that leaves the sandbox, "
                   "and nobody could be asked; call it without \"access\"");
    else
        buf_addf(out,
                 "not allowed: nobody could be asked; allow it with [tools] allow or --allow %s",
                 call->tool->spec.name);
    auto_free char *grant = tool_call_grant(call);
    if (grant && (*grant == '`' || strchr(grant, ' ')))
        buf_addf(out, ", or only %s with --allow '%s'", grant, grant);
    return GATE_DENIED;
}

static enum gate ask(struct turn *t, struct tool_call *call, const struct block *b, struct buf *out)
{
    const struct agent *a = t->a;
    const struct tool_context context = context_for(a, call->tool);
    AUTO(buf_release) struct buf preview = BUF_INIT;
    if (!a->ask)
        return nobody_to_ask(call, out);
    if (!tool_call_preview(call, &context, &preview)) {
        buf_addstr(out, preview.data);
        return GATE_SHUT;
    }
    turn_pause(t);
    enum approval_verdict answer =
        a->ask(a->context, call, b->id, b->text && *b->text ? b->text : "{}", preview.data);
    turn_resume(t);
    if (!goes_on(t)) /* an interrupt while the user is asked comes as a refusal, but is none */
        return GATE_STOPPED;
    if (answer == APPROVAL_ASK)
        return nobody_to_ask(call, out);
    call->asked = answer == APPROVAL_ALLOW;
    if (!call->asked && call->refusal)
        buf_addf(out, "The user said no: %s", call->refusal);
    else if (!call->asked)
        buf_addstr(out, "the user declined this call");
    return call->asked ? GATE_OPEN : GATE_DENIED;
}

static enum gate decide(struct turn *t, struct tool_call *call, const struct block *b,
                        struct hook_answer *hook, struct buf *out)
{
    const struct agent *a = t->a;
    if (!tool_offered(call->tool, a->offer))
        return deny(out, "not allowed: this tool is not offered here");
    bool guarded = tool_call_is_guarded(call);
    auto_free char *grant = tool_call_grant(call);
    enum approval_verdict verdict = approval_decide(a->policy, call->tool, grant);
    enum tool_bounds bounds = tool_call_bounds(call);
    if (verdict == APPROVAL_DENY)
        return deny(out, "not allowed: [tools] deny has this tool");
    if (verdict == APPROVAL_ASK && bounds == BOUNDS_HOLD && approval_spares_sandbox(a->policy))
        verdict = APPROVAL_ALLOW;
    if (!hooks_ask_tool(t, b, hook))
        return GATE_STOPPED;
    if (hook->verdict == HOOK_BLOCKS) {
        buf_addf(out, "not allowed: a hook of the user refused this call: %s", hook->reason);
        return GATE_DENIED;
    }
    if (hook->verdict == HOOK_ASKS)
        verdict = APPROVAL_ASK;
    if (hook->verdict == HOOK_ALLOWS && approval_asks_by_class(a->policy, call->tool))
        verdict = APPROVAL_ALLOW;
    if (verdict == APPROVAL_ASK || guarded || bounds == BOUNDS_WIDENED)
        return ask(t, call, b, out);
    return GATE_OPEN;
}

/* A call that runs, for the events of its tool. */
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

static void show_of_call(void *context, struct tool_output *output)
{
    const struct running *running = context;
    const struct agent *a = running->turn->a;
    output->call = running->call->id;
    a->show(a->context, output);
}

static char *elicit_for_call(void *context, const char *server, const struct json *params,
                             bool (*waits)(void *of), void *of)
{
    struct turn *t = ((const struct running *)context)->turn;
    turn_pause(t);
    char *result = t->a->elicit(t->a->context, server, params, waits, of);
    turn_resume(t);
    return result;
}

static enum gate run_tool(struct turn *t, const struct block *b, bool *failed)
{
    int64_t begun = turn_elapsed_ms(t);
    enum gate gate = GATE_SHUT;
    bool is_error = true, last = true, pins = false;
    AUTO(tool_call_release) struct tool_call call = {0};
    AUTO(hook_answer_release) struct hook_answer hook = {.reason = NULL};
    AUTO(buf_release) struct buf result = BUF_INIT;
    AUTO(json_free_local) struct json *images = NULL;
    struct file_change change = {0};
    if (tool_call_prepare(&call, t->a->tools, b->name, b->text, &result))
        gate = decide(t, &call, b, &hook, &result);
    if (gate == GATE_OPEN) {
        struct running running = {.turn = t, .call = b};
        struct tool_context context = context_for(t->a, call.tool);
        context.tell = tell_of_call;
        context.show = t->a->show ? show_of_call : NULL;
        context.elicit = t->a->elicit ? elicit_for_call : NULL;
        context.tell_context = &running;
        context.change = &change;
        context.pins = &pins;
        context.images = t->a->keep_images ? &images : NULL;
        size_t room = call.tool->finds ? turn_room(t) : SIZE_MAX;
        context.is_scarce = room < context.max_output;
        if (context.is_scarce)
            context.max_output = room > LEAST_FOUND ? room : LEAST_FOUND;
        is_error = tool_call_run(&call, &context, &result);
        hooks_note_tool(t, b, is_error, &result);
        AUTO(buf_release) struct buf ended = BUF_INIT;
        tasks_note(&t->a->tools->host.tasks, &ended);
        if (ended.len > 0)
            buf_addf(&result, "\n\n%s", ended.data);
    }
    if (gate == GATE_STOPPED)
        return gate;
    hook_answer_add(&hook, &result);
    /* Calls past the maximum have no result of their own: the model learns of them in the last. */
    for (const struct block *c = b + 1; c < t->response.blocks.items + t->response.blocks.len; c++)
        last = last && c->type != BLOCK_TOOL_CALL;
    if (t->response.calls_refused && last)
        buf_addf(&result,
                 "\n\n[The calls after this one were refused and are not in the conversation: an "
                 "answer may have %d tool calls. Make them in your next answers.]",
                 PROVIDER_MAX_CALLS);
    struct event *ev = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = mem_strdup(b->id);
    ev->name = mem_strdup(b->name);
    ev->flag = is_error;
    ev->denied = gate == GATE_DENIED;
    ev->text = buf_take(&result);
    if (images)
        ev->attachments = t->a->keep_images(t->a->context, b->name, images);
    ev->change = change;
    ev->number = turn_elapsed_ms(t) - begun;
    t->tool_calls++;
    turn_emit(t, ev);
    *failed = is_error;
    if (pins)
        turn_pin_last(t);
    return gate;
}

bool agent_run_command(struct agent *a, const char *input, struct error *e)
{
    struct turn t = {.a = a,
                     .e = e,
                     .started_ms = clock_mono_ms(),
                     .usage = USAGE_UNKNOWN,
                     .overhead = USAGE_UNKNOWN,
                     .accounted = true};
    AUTO(json_free_local)
    struct json *given = json_pack("{command:s access:'all'}", input + (*input == '!'));
    auto_free char *args = json_print(given);
    const struct block b = {
        .id = (char *)COMMAND_CALL, .name = (char *)"run_command", .text = args};
    AUTO(tool_call_release) struct tool_call call = {0};
    AUTO(buf_release) struct buf result = BUF_INIT;
    response_init(&t.response);
    t.response.stop_reason = STOP_TOOL_USE;
    struct event *ev = event_new(EVENT_TURN_STARTED);
    ev->text = mem_strdup(input);
    ev->origin = INPUT_COMMAND;
    turn_emit(&t, ev);
    bool is_error = true;
    if (!t.lost && tool_call_prepare(&call, a->tools, b.name, b.text, &result)) {
        struct running running = {.turn = &t, .call = &b};
        struct tool_context context = context_for(a, call.tool);
        context.deadline_ms = INT64_MAX;
        context.show = a->show ? show_of_call : NULL;
        context.tell_context = &running;
        is_error = tool_call_run(&call, &context, &result);
    }
    ev = event_new(EVENT_COMMAND_COMPLETED);
    ev->text = buf_take(&result);
    ev->flag = is_error;
    ev->number = turn_elapsed_ms(&t);
    turn_emit(&t, ev);
    turn_tell_end(&t, goes_on(&t) ? OUTCOME_DONE : OUTCOME_INTERRUPTED);
    response_release(&t.response);
    return !t.lost;
}

static enum outcome end_early(struct turn *t, enum stop_reason reason, const char *why)
{
    turn_tell_warning(t, stop_reason_names.words[reason], why);
    t->response.stop_reason = reason;
    return OUTCOME_DONE;
}

enum outcome turn_end_at_limit(struct turn *t)
{
    int64_t most = config_integer(t->a->config, CONFIG_TOOLS_MAX_CALLS);
    auto_free char *why = mem_printf(
        "the turn was stopped after %lld calls ([tools] max_calls); send a message to continue",
        (long long)most);
    return end_early(t, STOP_MAX_CALLS, why);
}

/* Returns how often the call has failed since the last call that succeeded. */
static int count_failure(struct turn *t, const struct block *b, bool failed)
{
    auto_free char *call = mem_printf("%s %s", b->name, b->text ? b->text : "");
    size_t i = 0;
    for (; !failed && t->failed.len > 0; t->failed.len--)
        free(vec_last(&t->failed).call);
    if (!failed)
        return 0;
    while (i < t->failed.len && strcmp(t->failed.items[i].call, call) != 0)
        i++;
    if (i == t->failed.len)
        vec_push(&t->failed, (struct failed_call){.call = mem_strdup(call)});
    struct failed_call *f = &t->failed.items[i];
    f->times += f->last != t->calls;
    f->last = t->calls;
    return f->times;
}

enum outcome turn_run_tools(struct turn *t)
{
    for (size_t i = 0; i < t->response.blocks.len && !t->lost; i++) {
        const struct block *b = &t->response.blocks.items[i];
        if (b->type != BLOCK_TOOL_CALL || b->signature) /* the provider ran that */
            continue;
        if (!turn_has_budget(t))
            return OUTCOME_FAILED;
        if (t->tool_calls >= config_integer(t->a->config, CONFIG_TOOLS_MAX_CALLS))
            return turn_end_at_limit(t);
        bool failed = false, ended = run_tool(t, b, &failed) != GATE_STOPPED;
        turn_warn(t);
        /* go_on() is asked, the descriptor is not polled: the tool may have drained it. */
        if (!ended || !goes_on(t))
            return turn_stopped(t);
        if (count_failure(t, b, failed) < SAME_FAILURES)
            continue;
        const char *args = b->text ? b->text : "";
        size_t cut = utf8_cut_bytes(args, strlen(args), TOLD_ARGUMENTS);
        auto_free char *why = mem_printf(
            "the turn was stopped: %s failed %d times with the same arguments, %.*s%s; send a "
            "message to continue, best with what to do instead",
            b->name, SAME_FAILURES, (int)cut, args, args[cut] ? "…" : "");
        return end_early(t, STOP_REPEATED, why);
    }
    return OUTCOME_MORE;
}
