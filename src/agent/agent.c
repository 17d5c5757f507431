#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "agent/turn.h"
#include "base/clock.h"
#include "base/entropy.h"

enum { DEFAULT_MAX_OUTPUT = 8192, UNKNOWN_MAX_OUTPUT = 4096 };

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

int64_t agent_answer_room(int64_t max_output, int64_t window, int64_t request)
{
    if (window <= 0)
        return max_output;
    int64_t least = window / 16 + 1;
    int64_t room = window - request > least ? window - request : least;
    return max_output < room ? max_output : room;
}

bool run_complete(struct run *r, const struct provider *provider, const struct provider_call *call,
                  const struct request *request, struct response *response, struct failure *failure)
{
    int max = (int)config_integer(r->a->config, CONFIG_PROVIDER_MAX_RETRIES);
    for (int attempt = 1; !r->lost; attempt++) {
        response_release(response);
        response_init(response);
        failure_clear(failure);
        if (provider->complete(call, request, response, failure))
            return true;
        int64_t wait = r->lost ? -1 : retry_wait(failure, attempt, max, entropy_unit());
        if (wait < 0)
            break;
        run_tell_retrying(r, failure, attempt, retry_limit(failure, max), wait);
        if (!wakeup_sleep(call->wakeup, (int)wait)) {
            failure->kind = FAILURE_CANCELLED;
            break;
        }
    }
    return false;
}

int64_t agent_request_estimate(const struct agent *a)
{
    return prompt_overhead(a) + a->history->estimate;
}

struct request_size agent_request_size(const struct agent *a)
{
    const struct history *h = a->history;
    return request_size(&h->measure, h->estimate, prompt_overhead(a), h->last_input);
}

static bool complete(struct run *r, const struct context *prompt)
{
    const struct agent *a = r->a;
    struct tool_spec *specs;
    char *system = prompt_system(prompt);
    size_t spec_count = prompt_tools(a, &specs);
    const struct request request = {
        .model = a->model,
        .system = system,
        .messages = a->history->messages.items,
        .message_count = a->history->messages.len,
        .tools = specs,
        .tool_count = spec_count,
        .max_output = run_output_within(r, agent_answer_room(a->max_output, a->window, prompt->tokens)),
        .window = a->window,
        .estimate = prompt->tokens,
        .session_id = a->session_id,
    };
    const struct provider_call call = {
        .http = a->http,
        .endpoint = a->endpoint,
        .config = a->config,
        .wakeup = a->wakeup,
        .delta = run_tell_delta,
        .context = r,
    };
    r->accounted = false;
    bool ok = run_complete(r, a->provider, &call, &request, &r->response, &r->failure);
    free(specs);
    free(system);
    return ok;
}

_Static_assert(PROVIDER_MAX_CALLS == 128, "a warning names it");

static bool has_calls(const struct response *response)
{
    for (size_t i = 0; i < response->blocks.len; i++)
        if (response->blocks.items[i].type == BLOCK_TOOL_CALL)
            return true;
    return false;
}

static void learn_window(struct agent *a, const struct failure *f)
{
    if (f->kind == FAILURE_OVERFLOW && f->window > 0)
        a->window = f->window;
}

static enum outcome call_failed(struct run *r)
{
    enum outcome ended = OUTCOME_MORE;
    learn_window(r->a, &r->failure);
    if (run_recover_overflow(r, &ended))
        return OUTCOME_MORE;
    run_tell_answer(r, true);
    if (ended != OUTCOME_MORE)
        return ended;
    if (r->failure.kind == FAILURE_CANCELLED)
        return run_stopped(r);
    failure_error(&r->failure, &r->end);
    return OUTCOME_FAILED;
}

/* A summary may have used up what was left. */
static bool ready_to_call(struct run *r, enum outcome *outcome)
{
    *outcome = OUTCOME_FAILED;
    return run_has_budget(r) && run_make_room(r, outcome) && run_has_budget(r);
}

static bool call_model(struct run *r)
{
    struct context prompt = {.mode = NULL};
    prompt_assemble(&prompt, r->a);
    run_warn(r);
    run_warn_of_prompt(r, &prompt);
    run_tell_call(r);
    bool ok = complete(r, &prompt);
    context_release(&prompt);
    return ok;
}

static enum outcome run_call(struct run *r)
{
    enum outcome outcome;
    toolset_refresh(r->a->tools);
    if (!ready_to_call(r, &outcome))
        return outcome;
    if (!call_model(r))
        return call_failed(r);
    r->overflowed = false;
    run_tell_answer(r, false);
    run_tell_call_completed(r);
    run_warn(r);
    if (r->response.prompt_truncated)
        run_tell_warning(r, "prompt_truncated",
                         "the server dropped the front of the prompt; its window is smaller than "
                         "the conversation");
    if (r->response.calls_refused)
        run_tell_warning(r, "calls_refused",
                         "the answer has more than 128 tool calls; the first 128 run, and the "
                         "model is told that the others were refused");
    if (has_calls(&r->response))
        return run_tools(r);
    return r->response.stop_reason == STOP_PAUSE ? OUTCOME_MORE : OUTCOME_DONE;
}

static enum outcome run_calls(struct run *r)
{
    enum outcome outcome = OUTCOME_MORE;
    while (outcome == OUTCOME_MORE && !r->lost && r->calls < AGENT_MAX_ROUNDS)
        outcome = run_call(r);
    if (outcome == OUTCOME_MORE && !r->lost)
        run_tell_warning(r, "max_rounds", "the turn ended after 50 model calls");
    return outcome;
}

bool agent_run(struct agent *a, const char *input, const char *attachments, int64_t retries,
               struct error *e)
{
    struct run r = {.a = a,
                    .e = e,
                    .started_ms = clock_mono_ms(),
                    .summary_ms = a->compaction ? a->compaction->summary_ms : -1,
                    .usage = USAGE_UNKNOWN,
                    .overhead = USAGE_UNKNOWN};
    response_init(&r.response);
    budget_begin_turn(a->budget, a->history);
    run_tell_started(&r, input, attachments, retries);

    run_set_deadline(&r);
    enum outcome outcome = run_calls(&r);
    run_clear_deadline(&r);
    if (outcome == OUTCOME_FAILED || outcome == OUTCOME_INTERRUPTED)
        run_tell_cut(&r, outcome);
    else
        run_tell_completed(&r);
    response_release(&r.response);
    return !r.lost;
}
