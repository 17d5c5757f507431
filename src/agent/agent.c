#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "agent/turn.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "provider/provider.h"

void turn_emit(struct turn *t, struct event *ev)
{
    if (t->lost)
        event_free(ev);
    else if (!t->a->emit(t->a->context, ev, t->e))
        t->lost = true;
}

bool turn_tell_delta(void *turn, enum block_type type, const char *text, size_t len)
{
    struct turn *t = turn;
    struct event *ev =
        event_new(type == BLOCK_REASONING ? EVENT_REASONING_DELTA : EVENT_TEXT_DELTA);
    ev->text = mem_strndup(text, len);
    turn_emit(t, ev);
    return !t->lost;
}

void turn_tell_started(struct turn *t, const char *input, const char *attachments, int64_t retries)
{
    struct event *ev = event_new(EVENT_TURN_STARTED);
    ev->text = mem_strdup(input);
    ev->attachments = mem_strdup(attachments);
    ev->number = retries;
    ev->origin = t->a->origin;
    turn_emit(t, ev);
    t->number = t->a->history->turns;
}

void turn_tell_call(struct turn *t)
{
    struct event *ev = event_new(EVENT_CALL_STARTED);
    ev->number = t->number;
    ev->count = ++t->calls;
    turn_emit(t, ev);
}

void turn_tell_retrying(struct turn *t, const struct failure *f, int attempt, int of,
                        int64_t wait_ms)
{
    struct event *ev = event_new(EVENT_RETRYING);
    ev->count = attempt;
    ev->limit = of;
    ev->number = wait_ms;
    ev->text = mem_strdup(f->text);
    turn_emit(t, ev);
}

void turn_tell_warning(struct turn *t, const char *code, const char *detail)
{
    struct event *ev = event_new(EVENT_WARNING);
    ev->name = mem_strdup(code);
    ev->text = mem_strdup(detail);
    turn_emit(t, ev);
}

static struct event *event_from_block(const struct turn *t, const struct block *b, bool partial)
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
        ev->model = mem_strdup(t->a->model);
    return ev;
}

/* The answer as events. Of one that was cut short, only what can stand alone: a tool call may lack
 * half its arguments, and reasoning its signature. */
void turn_tell_answer(struct turn *t, bool partial)
{
    for (size_t i = 0; i < t->response.blocks.len; i++) {
        const struct block *b = &t->response.blocks.items[i];
        if (b->type == BLOCK_TEXT ? b->text && *b->text : !partial)
            turn_emit(t, event_from_block(t, b, partial));
    }
}

/* USD of a model call, for its event: negative where unknown. */
static double take_cost(struct turn *t, const struct usage *usage)
{
    const struct agent *a = t->a;
    const struct price price = models_price(a->config, a->model, &a->price, t->response.model);
    double cost = usage_cost(usage, &price);
    t->cost = usage_cost_sum(t->cost, cost);
    return cost;
}

void turn_tell_call_completed(struct turn *t)
{
    struct event *ev = event_new(EVENT_CALL_COMPLETED);
    ev->stop_reason = t->response.stop_reason;
    ev->usage = t->response.usage;
    ev->model = mem_strdup(t->response.model);
    ev->used = take_cost(t, &ev->usage);
    usage_add(&t->usage, &ev->usage);
    t->accounted = true;
    turn_emit(t, ev);
}

static char *response_text(const struct response *response)
{
    const struct message view = {
        .blocks = {.items = response->blocks.items, .len = response->blocks.len}};
    return message_text(&view);
}

void turn_tell_completed(struct turn *t)
{
    struct event *ev = event_new(EVENT_TURN_COMPLETED);
    ev->text = response_text(&t->response);
    ev->usage = t->usage;
    usage_add(&ev->usage, &t->overhead);
    ev->summaries = t->overhead;
    ev->count = t->calls;
    ev->stop_reason = t->response.stop_reason;
    ev->number = turn_elapsed_ms(t);
    turn_emit(t, ev);
}

/* Of a call that was broken off nobody says what it produced: what an early event counted is no
 * sum, so our estimate stands in where it is more. */
static struct usage partial_usage(const struct turn *t)
{
    if (t->accounted)
        return USAGE_UNKNOWN;
    int64_t bytes = 0;
    for (size_t i = 0; i < t->response.blocks.len; i++)
        if (t->response.blocks.items[i].text)
            bytes += (int64_t)strlen(t->response.blocks.items[i].text);
    struct usage u = t->response.usage;
    if (bytes == 0 || (bytes + 3) / 4 <= u.output)
        return u;
    u.output = (bytes + 3) / 4;
    u.estimated = true;
    return u;
}

void turn_tell_cut(struct turn *t, enum outcome outcome)
{
    struct event *ev =
        event_new(outcome == OUTCOME_INTERRUPTED ? EVENT_INTERRUPTED : EVENT_TURN_FAILED);
    ev->usage = partial_usage(t);
    ev->used = take_cost(t, &ev->usage);
    ev->number = turn_elapsed_ms(t);
    if (outcome == OUTCOME_FAILED) {
        ev->name = mem_strdup(err_info(t->end.code)->name);
        ev->text = mem_strdup(t->end.text);
    }
    turn_emit(t, ev);
}

/* --- agent --- */

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

bool turn_call_model(struct turn *t, const struct provider *provider,
                     const struct provider_call *call, const struct request *request,
                     struct response *response, struct failure *failure)
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
