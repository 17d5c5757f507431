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

bool turn_call_model(struct turn *t, const struct provider *provider, const struct provider_call *call,
                  const struct request *request, struct response *response, struct failure *failure)
{
    int max = (int)config_integer(t->a->config, CONFIG_PROVIDER_MAX_RETRIES);
    for (int attempt = 1; !t->lost; attempt++) {
        response_release(response);
        response_init(response);
        failure_clear(failure);
        if (provider->complete(call, request, response, failure))
            return true;
        int64_t wait = t->lost ? -1 : failure_retry_wait(failure, attempt, max, entropy_unit());
        if (wait < 0)
            break;
        turn_tell_retrying(t, failure, attempt, failure_retry_limit(failure, max), wait);
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

static bool complete(struct turn *t, const struct context *prompt)
{
    const struct agent *a = t->a;
    struct tool_spec *specs;
    char *system = prompt_system(prompt);
    size_t spec_count = prompt_tools(a, &specs);
    const struct request request = {
        .model = a->model,
        .system = system,
        .messages = a->history->messages.items,
        .message_count = a->history->messages.len,
        .source = a->history->source,
        .tools = specs,
        .tool_count = spec_count,
        .max_output =
            turn_output_within(t, agent_answer_room(a->max_output, a->window, prompt->tokens)),
        .window = a->window,
        .estimate = prompt->tokens,
        .session_id = a->session_id,
    };
    const struct provider_call call = {
        .http = a->http,
        .endpoint = a->endpoint,
        .config = a->config,
        .wakeup = a->wakeup,
        .watched = a->watched,
        .delta = turn_tell_delta,
        .context = t,
    };
    t->accounted = false;
    bool ok = turn_call_model(t, a->provider, &call, &request, &t->response, &t->failure);
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

static enum outcome call_failed(struct turn *t)
{
    enum outcome ended = OUTCOME_MORE;
    learn_window(t->a, &t->failure);
    if (turn_recover_overflow(t, &ended))
        return OUTCOME_MORE;
    turn_tell_answer(t, true);
    if (ended != OUTCOME_MORE)
        return ended;
    if (t->failure.kind == FAILURE_CANCELLED)
        return turn_stopped(t);
    failure_error(&t->failure, &t->end);
    return OUTCOME_FAILED;
}

/* A summary may have used up what was left. */
static bool ready_to_call(struct turn *t, enum outcome *outcome)
{
    *outcome = OUTCOME_FAILED;
    return turn_has_budget(t) && turn_make_room(t, outcome) && turn_has_budget(t);
}

static bool call_model(struct turn *t)
{
    struct context prompt = {.mode = NULL};
    prompt_assemble(&prompt, t->a);
    turn_warn(t);
    turn_warn_of_prompt(t, &prompt);
    turn_tell_call(t);
    bool ok = complete(t, &prompt);
    context_release(&prompt);
    return ok;
}

static enum outcome run_round(struct turn *t)
{
    enum outcome outcome;
    toolset_refresh(t->a->tools);
    if (!ready_to_call(t, &outcome))
        return outcome;
    if (!call_model(t))
        return call_failed(t);
    t->overflowed = false;
    turn_tell_answer(t, false);
    turn_tell_call_completed(t);
    turn_warn(t);
    if (t->response.prompt_truncated)
        turn_tell_warning(t, "prompt_truncated",
                         "the server dropped the front of the prompt; its window is smaller than "
                         "the conversation");
    if (t->response.calls_refused)
        turn_tell_warning(t, "calls_refused",
                         "the answer has more than 128 tool calls; the first 128 run, and the "
                         "model is told that the others were refused");
    if (has_calls(&t->response))
        return turn_run_tools(t);
    return t->response.stop_reason == STOP_PAUSE ? OUTCOME_MORE : OUTCOME_DONE;
}

static enum outcome run_rounds(struct turn *t)
{
    enum outcome outcome = OUTCOME_MORE;
    while (outcome == OUTCOME_MORE && !t->lost && t->calls < AGENT_MAX_ROUNDS)
        outcome = run_round(t);
    if (outcome == OUTCOME_MORE && !t->lost)
        turn_tell_warning(t, "max_rounds", "the turn ended after 50 model calls");
    return outcome;
}

bool agent_take_turn(struct agent *a, const char *input, const char *attachments, int64_t retries,
                     struct error *e)
{
    struct turn t = {.a = a,
                    .e = e,
                    .started_ms = clock_mono_ms(),
                    .summary_ms = a->compaction ? a->compaction->summary_ms : -1,
                    .usage = USAGE_UNKNOWN,
                    .overhead = USAGE_UNKNOWN};
    response_init(&t.response);
    budget_begin_turn(a->budget, a->history);
    turn_tell_started(&t, input, attachments, retries);

    turn_set_deadline(&t);
    enum outcome outcome = run_rounds(&t);
    turn_clear_deadline(&t);
    if (outcome == OUTCOME_FAILED || outcome == OUTCOME_INTERRUPTED)
        turn_tell_cut(&t, outcome);
    else
        turn_tell_completed(&t);
    response_release(&t.response);
    return !t.lost;
}
