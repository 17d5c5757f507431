#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "agent/turn.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "knowledge/skills.h"
#include "provider/provider.h"

void turn_emit(struct turn *t, struct event *ev)
{
    if (t->lost)
        event_free(ev);
    else if (!t->a->emit(t->a->context, ev, t->e))
        t->lost = true;
}

static bool tell_delta(void *turn, enum block_type type, const char *text, size_t len)
{
    struct turn *t = turn;
    struct event *ev =
        event_new(type == BLOCK_REASONING ? EVENT_REASONING_DELTA : EVENT_TEXT_DELTA);
    ev->text = mem_strndup(text, len);
    turn_emit(t, ev);
    return !t->lost;
}

void turn_tell_warning(struct turn *t, const char *code, const char *detail)
{
    struct event *ev = event_new(EVENT_WARNING);
    ev->name = mem_strdup(code);
    ev->text = mem_strdup(detail);
    turn_emit(t, ev);
}

void turn_pin_last(struct turn *t)
{
    const struct history *h = t->a->history;
    if (t->lost || vec_last(&h->messages).pinned)
        return;
    struct event *ev = event_new(EVENT_MESSAGE_PINNED);
    ev->number = vec_last(&h->messages).seq;
    ev->flag = true;
    turn_emit(t, ev);
}

/* The answer as events, from what is not told yet. Of one that was cut short, only what can stand
 * alone: a tool call may lack half its arguments, and reasoning its signature. */
static void tell_answer(struct turn *t, bool partial)
{
    static const enum event_type types[] = {[BLOCK_TEXT] = EVENT_TEXT_COMPLETE,
                                            [BLOCK_REASONING] = EVENT_REASONING_COMPLETE,
                                            [BLOCK_TOOL_CALL] = EVENT_TOOL_CALL_REQUESTED,
                                            [BLOCK_TOOL_RESULT] = EVENT_TOOL_EXECUTION_COMPLETED};
    for (; t->told < t->response.blocks.len; t->told++) {
        const struct block *b = &t->response.blocks.items[t->told];
        if (b->type == BLOCK_TEXT ? !b->text || !*b->text : partial)
            continue;
        struct event *ev = event_new(types[b->type]);
        ev->text = mem_strdup(b->text);
        ev->id = mem_strdup(b->id);
        ev->name = mem_strdup(b->name);
        ev->signature = mem_strdup(b->signature);
        ev->flag = b->type == BLOCK_REASONING     ? b->redacted
                   : b->type == BLOCK_TOOL_RESULT ? b->is_error
                                                  : partial;
        if (b->type == BLOCK_REASONING && b->signature)
            ev->model = mem_strdup(t->a->model);
        turn_emit(t, ev);
    }
}

/* The provider ran a tool while it answers: the blocks up to its result are whole. */
static void tell_blocks(void *turn)
{
    tell_answer(turn, false);
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

void turn_tell_end(struct turn *t, enum outcome outcome)
{
    const struct response *r = &t->response;
    bool cut = outcome == OUTCOME_FAILED || outcome == OUTCOME_INTERRUPTED;
    struct event *ev = event_new(!cut                             ? EVENT_TURN_COMPLETED
                                 : outcome == OUTCOME_INTERRUPTED ? EVENT_INTERRUPTED
                                                                  : EVENT_TURN_FAILED);
    ev->number = turn_elapsed_ms(t);
    if (!cut) {
        const struct message view = {.blocks = {.items = r->blocks.items, .len = r->blocks.len}};
        ev->text = message_text(&view);
        ev->usage = t->usage;
        usage_add(&ev->usage, &t->overhead);
        ev->summaries = t->overhead;
        ev->count = t->calls;
        ev->stop_reason = r->stop_reason;
    } else if (!t->accounted) {
        /* No server counts the output of a call that was broken off, only early events do: our
         * estimate stands in where it is more. */
        int64_t bytes = 0;
        for (size_t i = 0; i < r->blocks.len; i++)
            bytes += r->blocks.items[i].text ? (int64_t)strlen(r->blocks.items[i].text) : 0;
        ev->usage = r->usage;
        if (bytes > 0 && (bytes + 3) / 4 > ev->usage.output) {
            ev->usage.output = (bytes + 3) / 4;
            ev->usage.estimated = true;
        }
    } else {
        ev->usage = USAGE_UNKNOWN;
    }
    if (cut)
        ev->used = take_cost(t, &ev->usage);
    if (outcome == OUTCOME_FAILED) {
        ev->name = mem_strdup(err_info(t->end.code)->name);
        ev->text = mem_strdup(t->end.text);
    }
    turn_emit(t, ev);
}

/* --- model calls ------------------------------------------------------------------------------ */

enum { DEFAULT_MAX_OUTPUT = 8192, REASONING_MAX_OUTPUT = 32768, UNKNOWN_MAX_OUTPUT = 4096 };

int64_t agent_max_output(int64_t configured, int64_t model_limit, int64_t window, bool reasons)
{
    int64_t most = reasons ? REASONING_MAX_OUTPUT : DEFAULT_MAX_OUTPUT;
    if (configured > 0)
        return configured;
    int64_t limit = model_limit > 0 ? model_limit : UNKNOWN_MAX_OUTPUT;
    if (limit > most)
        limit = most;
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
        struct event *ev = event_new(EVENT_RETRYING);
        ev->count = attempt;
        ev->limit = failure_retry_limit(failure, max);
        ev->number = wait;
        ev->text = mem_strdup(failure->text);
        turn_emit(t, ev);
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

static bool call_model(struct turn *t)
{
    const struct agent *a = t->a;
    AUTO(context_release) struct context prompt = {.mode = NULL};
    auto_free struct tool_spec *specs = NULL;
    prompt_assemble(&prompt, a);
    turn_warn(t);
    prompt_warn(t, &prompt);
    struct event *ev = event_new(EVENT_CALL_STARTED);
    ev->number = t->number;
    ev->count = ++t->calls;
    turn_emit(t, ev);

    auto_free char *system = prompt_system(&prompt);
    size_t spec_count = prompt_tools(a, &specs);
    const struct request request = {
        .model = a->model,
        .effort = a->effort,
        .system = system,
        .messages = a->history->messages.items,
        .message_count = a->history->messages.len,
        .recalled = a->recalled,
        .recalled_at = a->history->turn_first,
        .source = a->history->source,
        .tools = specs,
        .tool_count = spec_count,
        .eyes = a->eyes ? *a->eyes : EYES_UNKNOWN,
        .max_output =
            turn_output_within(t, agent_answer_room(a->max_output, a->window, prompt.tokens)),
        .window = a->window,
        .estimate = prompt.tokens,
        .session_id = a->session_id,
    };
    const struct provider_call call = {
        .http = a->http,
        .endpoint = a->endpoint,
        .config = a->config,
        .wakeup = a->wakeup,
        .watched = a->watched,
        .delta = tell_delta,
        .blocks = tell_blocks,
        .context = t,
    };
    t->accounted = false;
    t->told = 0;
    return turn_call_model(t, a->provider, &call, &request, &t->response, &t->failure);
}

_Static_assert(PROVIDER_MAX_CALLS == 128, "a warning names it");

static enum outcome call_failed(struct turn *t)
{
    enum outcome ended = OUTCOME_MORE;
    if (t->failure.kind == FAILURE_OVERFLOW && t->failure.window > 0)
        t->a->window = t->failure.window;
    if (turn_recover_overflow(t, &ended))
        return OUTCOME_MORE;
    tell_answer(t, true);
    if (ended != OUTCOME_MORE)
        return ended;
    if (t->failure.kind == FAILURE_CANCELLED)
        return turn_stopped(t);
    failure_error(&t->failure, &t->end);
    return OUTCOME_FAILED;
}

static enum outcome run_round(struct turn *t)
{
    enum outcome outcome = OUTCOME_FAILED;
    toolset_refresh(t->a->tools);
    /* The budget is looked at again: a summary may have used up the rest. */
    if (!turn_has_budget(t) || !turn_make_room(t, &outcome) || !turn_has_budget(t))
        return outcome;
    if (!call_model(t))
        return call_failed(t);
    t->overflowed = false;
    tell_answer(t, false);
    struct event *ev = event_new(EVENT_CALL_COMPLETED);
    ev->stop_reason = t->response.stop_reason;
    ev->usage = t->response.usage;
    ev->model = mem_strdup(t->response.model);
    ev->used = take_cost(t, &ev->usage);
    usage_add(&t->usage, &ev->usage);
    t->accounted = true;
    turn_emit(t, ev);
    turn_warn(t);
    if (t->response.prompt_truncated)
        turn_tell_warning(t, "prompt_truncated",
                          "the server dropped the front of the prompt; its window is smaller than "
                          "the conversation");
    if (t->response.calls_refused)
        turn_tell_warning(t, "calls_refused",
                          "the answer has more than 128 tool calls; the first 128 run, and the "
                          "model is told that the others were refused");
    for (size_t i = 0; i < t->response.blocks.len; i++)
        if (t->response.blocks.items[i].type == BLOCK_TOOL_CALL &&
            !t->response.blocks.items[i].signature)
            return turn_run_tools(t);
    return t->response.stop_reason == STOP_PAUSE ? OUTCOME_MORE : OUTCOME_DONE;
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
    enum outcome outcome = OUTCOME_MORE;
    response_init(&t.response);
    budget_begin_turn(a->budget, a->history);
    struct event *ev = event_new(EVENT_TURN_STARTED);
    ev->text = mem_strdup(input);
    ev->attachments = mem_strdup(attachments);
    ev->number = retries;
    ev->origin = a->origin;
    ev->name = mem_strdup(a->effort);
    turn_emit(&t, ev);
    const struct message *asked = t.lost ? NULL : &vec_last(&a->history->messages);
    if (asked && asked->blocks.len > 0 && skill_opened_in(asked->blocks.items[0].text, NULL))
        turn_pin_last(&t);
    t.number = a->history->turns;
    hooks_tell_begin(&t);
    if (a->recall && input && *input) {
        int64_t room = (int64_t)(turn_room(&t) / MESSAGE_BYTES_A_TOKEN / 5);
        int64_t most = config_integer(a->config, CONFIG_MEMORY_RECALL_TOKENS);
        ev = NULL;
        a->recalled = a->recall(a->context, input, room < most ? room : most, &ev);
        if (ev)
            turn_emit(&t, ev);
    }
    AUTO(buf_release) struct buf before = BUF_INIT;
    tasks_note(&a->tools->host.tasks, &before);
    if (a->hooks && a->hooks->prompt.context)
        buf_addf(&before, "%sA hook of the user adds to the message:\n%s",
                 before.len > 0 ? "\n\n" : "", a->hooks->prompt.context);
    bool adds = before.len > 0;
    if (adds && a->recalled)
        buf_addf(&before, "\n\n%s", a->recalled);
    if (adds)
        a->recalled = before.data;

    turn_set_deadline(&t);
    /* Each round counts as a call, too: an answer may go on without a tool call. */
    while (outcome == OUTCOME_MORE && !t.lost &&
           t.calls <= config_integer(a->config, CONFIG_TOOLS_MAX_CALLS))
        outcome = run_round(&t);
    if (outcome == OUTCOME_MORE && !t.lost)
        outcome = turn_end_at_limit(&t);
    turn_clear_deadline(&t);
    if (outcome == OUTCOME_DONE && !t.lost)
        hooks_note_end(&t);
    a->recalled = adds ? NULL : a->recalled;
    turn_tell_end(&t, outcome);
    for (size_t i = 0; i < t.failed.len; i++)
        free(t.failed.items[i].call);
    vec_release(&t.failed);
    response_release(&t.response);
    return !t.lost;
}
