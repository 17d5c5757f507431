#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "agent/tools.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/mem.h"

enum { DEFAULT_MAX_OUTPUT = 8192, UNKNOWN_MAX_OUTPUT = 4096 };

/* What a run is made of while it runs. */
struct run {
    struct agent *a;
    struct error *e;
    bool lost; /* emit() failed: say no more */
    int64_t started_ms;
    int turn;  /* of the session */
    int calls; /* model calls so far */
    struct usage usage;
    bool accounted;           /* the newest call's usage is in turn_completed */
    struct response response; /* of the newest call */
    struct failure failure;
};

enum outcome { OUTCOME_DONE, OUTCOME_MORE, OUTCOME_FAILED, OUTCOME_INTERRUPTED };

int64_t agent_max_output(int64_t configured, int64_t model_limit, int64_t window)
{
    if (configured > 0)
        return configured;
    int64_t limit = model_limit > 0 ? model_limit : UNKNOWN_MAX_OUTPUT;
    if (limit > DEFAULT_MAX_OUTPUT)
        limit = DEFAULT_MAX_OUTPUT;
    if (window > 0 && limit > window / 4)
        limit = window / 4;
    return limit > 0 ? limit : 1;
}

static void emit(struct run *r, struct event *ev)
{
    if (r->lost)
        event_free(ev);
    else if (!r->a->emit(r->a->context, ev, r->e))
        r->lost = true;
}

static bool on_delta(void *context, enum block_type type, const char *text, size_t len)
{
    struct run *r = context;
    struct event *ev =
        event_new(type == BLOCK_REASONING ? EVENT_REASONING_DELTA : EVENT_TEXT_DELTA);
    ev->text = mem_strndup(text, len);
    emit(r, ev);
    return !r->lost;
}

static void emit_retrying(struct run *r, int attempt, int of, int64_t wait_ms)
{
    struct event *ev = event_new(EVENT_RETRYING);
    ev->count = attempt;
    ev->limit = of;
    ev->number = wait_ms;
    ev->text = mem_strdup(r->failure.text);
    emit(r, ev);
}

static void emit_warning(struct run *r, const char *code, const char *detail)
{
    struct event *ev = event_new(EVENT_WARNING);
    ev->name = mem_strdup(code);
    ev->text = mem_strdup(detail);
    emit(r, ev);
}

static size_t collect_specs(struct tool_spec **out)
{
    size_t count = 0;
    while (tools[count])
        count++;
    *out = mem_alloc(count * sizeof **out);
    for (size_t i = 0; i < count; i++)
        (*out)[i] = tools[i]->spec;
    return count;
}

static bool complete_once(struct run *r, const struct tool_spec *specs, size_t spec_count)
{
    const struct agent *a = r->a;
    const struct request request = {
        .model = a->model,
        .system = a->system,
        .messages = a->history->messages.items,
        .message_count = a->history->messages.len,
        .tools = specs,
        .tool_count = spec_count,
        .max_output = a->max_output,
        .window = a->window,
        .estimate = a->history->estimate + (int64_t)(a->system ? strlen(a->system) / 4 : 0),
    };
    const struct provider_call call = {
        .http = a->http,
        .endpoint = a->endpoint,
        .config = a->config,
        .wakeup = a->wakeup,
        .delta = on_delta,
        .context = r,
    };
    response_release(&r->response);
    response_init(&r->response);
    failure_clear(&r->failure);
    r->accounted = false;
    return a->provider->complete(&call, &request, &r->response, &r->failure);
}

/* One model call with its retries; the reason of the last failure stays in r->failure. */
static bool complete_with_retries(struct run *r)
{
    struct tool_spec *specs = NULL;
    size_t spec_count = r->a->offer_tools ? collect_specs(&specs) : 0;
    int max = (int)config_integer(r->a->config, CONFIG_PROVIDER_MAX_RETRIES);
    bool ok = false;
    for (int attempt = 1; !r->lost; attempt++) {
        ok = complete_once(r, specs, spec_count);
        if (ok || r->lost)
            break;
        int64_t wait = retry_wait(&r->failure, attempt, max, entropy_unit());
        if (wait < 0)
            break;
        emit_retrying(r, attempt, retry_limit(&r->failure, max), wait);
        if (!wakeup_sleep(r->a->wakeup, (int)wait)) {
            r->failure.kind = FAILURE_CANCELLED;
            break;
        }
    }
    free(specs);
    return ok;
}

static struct event *event_from_block(const struct run *r, const struct block *b, bool partial)
{
    static const enum event_type types[] = {[BLOCK_TEXT] = EVENT_TEXT_COMPLETE,
                                            [BLOCK_REASONING] = EVENT_REASONING_COMPLETE,
                                            [BLOCK_TOOL_CALL] = EVENT_TOOL_CALL_REQUESTED};
    struct event *ev = event_new(types[b->type]);
    ev->text = mem_strdup(b->text);
    ev->id = mem_strdup(b->id);
    ev->name = mem_strdup(b->name);
    ev->signature = mem_strdup(b->signature);
    ev->flag = b->type == BLOCK_REASONING ? b->redacted : partial;
    if (b->type == BLOCK_REASONING && b->signature)
        ev->model = mem_strdup(r->a->model);
    return ev;
}

/* The answer as events. Of one that was cut short, only what can stand alone: a tool call may lack
 * half its arguments, and reasoning its signature. */
static void emit_blocks(struct run *r, bool partial)
{
    for (size_t i = 0; i < r->response.blocks.len; i++) {
        const struct block *b = &r->response.blocks.items[i];
        if (b->type == BLOCK_TEXT ? b->text && *b->text : !partial)
            emit(r, event_from_block(r, b, partial));
    }
}

static void emit_turn_completed(struct run *r)
{
    struct event *ev = event_new(EVENT_TURN_COMPLETED);
    ev->stop_reason = r->response.stop_reason;
    ev->usage = r->response.usage;
    ev->model = mem_strdup(r->response.model);
    usage_add(&r->usage, &r->response.usage);
    r->accounted = true;
    emit(r, ev);
}

/* Of a call that was broken off nobody says what it produced: what an early event counted is no
 * sum, so our estimate stands in where it is more. */
static struct usage partial_usage(const struct run *r)
{
    if (r->accounted)
        return USAGE_UNKNOWN;
    int64_t bytes = 0;
    for (size_t i = 0; i < r->response.blocks.len; i++)
        if (r->response.blocks.items[i].text)
            bytes += (int64_t)strlen(r->response.blocks.items[i].text);
    struct usage u = r->response.usage;
    if (bytes == 0 || (bytes + 3) / 4 <= u.output)
        return u;
    u.output = (bytes + 3) / 4;
    u.estimated = true;
    return u;
}

static void emit_end_of_failure(struct run *r, enum outcome outcome)
{
    struct event *ev =
        event_new(outcome == OUTCOME_INTERRUPTED ? EVENT_INTERRUPTED : EVENT_RUN_FAILED);
    ev->usage = partial_usage(r);
    if (outcome == OUTCOME_FAILED) {
        ev->name = mem_strdup(err_info(ERR_AGENT_ERROR)->name);
        ev->text = mem_strdup(r->failure.text);
    }
    emit(r, ev);
}

static bool has_calls(const struct response *response)
{
    for (size_t i = 0; i < response->blocks.len; i++)
        if (response->blocks.items[i].type == BLOCK_TOOL_CALL)
            return true;
    return false;
}

static void run_tool(struct run *r, const struct block *call)
{
    const struct agent *a = r->a;
    int64_t begun = clock_mono_ms();
    const struct tool_context context = {
        .root_fd = a->root_fd,
        .root = a->root,
        .max_output = (size_t)config_integer(a->config, CONFIG_TOOLS_MAX_OUTPUT),
        .deadline_ms = begun + 1000 * config_integer(a->config, CONFIG_TOOLS_TIMEOUT),
        .wakeup = a->wakeup,
    };
    struct buf out = BUF_INIT;
    struct event *ev = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = mem_strdup(call->id);
    ev->name = mem_strdup(call->name);
    ev->flag = tool_call(&context, call->name, call->text, &out);
    ev->text = buf_take(&out);
    ev->number = clock_mono_ms() - begun;
    emit(r, ev);
}

static enum outcome run_tools(struct run *r)
{
    for (size_t i = 0; i < r->response.blocks.len && !r->lost; i++) {
        const struct block *b = &r->response.blocks.items[i];
        if (b->type != BLOCK_TOOL_CALL)
            continue;
        run_tool(r, b);
        /* Asked, not polled: the tool may have been woken by what stops us, and have drained it. */
        if (!r->a->wakeup->go_on(r->a->wakeup->context))
            return OUTCOME_INTERRUPTED;
    }
    return OUTCOME_MORE;
}

static void learn_window(struct agent *a, const struct failure *f)
{
    if (f->kind == FAILURE_OVERFLOW && f->window > 0)
        a->window = f->window;
}

static enum outcome run_call(struct run *r)
{
    struct event *ev = event_new(EVENT_TURN_STARTED);
    ev->number = r->turn;
    ev->count = ++r->calls;
    emit(r, ev);
    if (!complete_with_retries(r)) {
        learn_window(r->a, &r->failure);
        emit_blocks(r, true);
        return r->failure.kind == FAILURE_CANCELLED ? OUTCOME_INTERRUPTED : OUTCOME_FAILED;
    }
    emit_blocks(r, false);
    emit_turn_completed(r);
    if (r->response.prompt_truncated)
        emit_warning(r, "prompt_truncated",
                     "the server dropped the front of the prompt; its window is smaller than the "
                     "conversation");
    if (has_calls(&r->response))
        return run_tools(r);
    return r->response.stop_reason == STOP_PAUSE ? OUTCOME_MORE : OUTCOME_DONE;
}

static char *response_text(const struct response *response)
{
    const struct message view = {
        .blocks = {.items = response->blocks.items, .len = response->blocks.len}};
    return message_text(&view);
}

static void emit_run_completed(struct run *r)
{
    struct event *ev = event_new(EVENT_RUN_COMPLETED);
    ev->text = response_text(&r->response);
    ev->usage = r->usage;
    ev->count = r->calls;
    ev->stop_reason = r->response.stop_reason;
    ev->number = clock_mono_ms() - r->started_ms;
    emit(r, ev);
}

static void emit_run_started(struct run *r, const char *input, const char *attachments,
                             int64_t retries)
{
    struct event *ev = event_new(EVENT_RUN_STARTED);
    ev->text = mem_strdup(input);
    ev->attachments = mem_strdup(attachments);
    ev->number = retries;
    emit(r, ev);
    r->turn = r->a->history->turns;
}

bool agent_run(struct agent *a, const char *input, const char *attachments, int64_t retries,
               struct error *e)
{
    struct run r = {.a = a, .e = e, .started_ms = clock_mono_ms(), .usage = USAGE_UNKNOWN};
    response_init(&r.response);
    emit_run_started(&r, input, attachments, retries);

    enum outcome outcome = OUTCOME_MORE;
    while (outcome == OUTCOME_MORE && !r.lost && r.calls < AGENT_MAX_ROUNDS)
        outcome = run_call(&r);
    if (outcome == OUTCOME_MORE && !r.lost)
        emit_warning(&r, "max_rounds", "the turn ended after 50 model calls");
    if (outcome == OUTCOME_FAILED || outcome == OUTCOME_INTERRUPTED)
        emit_end_of_failure(&r, outcome);
    else
        emit_run_completed(&r);
    response_release(&r.response);
    return !r.lost;
}
