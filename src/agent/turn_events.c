#include <string.h>

#include "agent/turn.h"
#include "base/mem.h"
#include "provider/models.h"

void run_emit(struct run *r, struct event *ev)
{
    if (r->lost)
        event_free(ev);
    else if (!r->a->emit(r->a->context, ev, r->e))
        r->lost = true;
}

bool run_tell_delta(void *run, enum block_type type, const char *text, size_t len)
{
    struct run *r = run;
    struct event *ev =
        event_new(type == BLOCK_REASONING ? EVENT_REASONING_DELTA : EVENT_TEXT_DELTA);
    ev->text = mem_strndup(text, len);
    run_emit(r, ev);
    return !r->lost;
}

void run_tell_started(struct run *r, const char *input, const char *attachments, int64_t retries)
{
    struct event *ev = event_new(EVENT_RUN_STARTED);
    ev->text = mem_strdup(input);
    ev->attachments = mem_strdup(attachments);
    ev->number = retries;
    run_emit(r, ev);
    r->turn = r->a->history->turns;
}

void run_tell_call(struct run *r)
{
    struct event *ev = event_new(EVENT_TURN_STARTED);
    ev->number = r->turn;
    ev->count = ++r->calls;
    run_emit(r, ev);
}

void run_tell_retrying(struct run *r, const struct failure *f, int attempt, int of, int64_t wait_ms)
{
    struct event *ev = event_new(EVENT_RETRYING);
    ev->count = attempt;
    ev->limit = of;
    ev->number = wait_ms;
    ev->text = mem_strdup(f->text);
    run_emit(r, ev);
}

void run_tell_warning(struct run *r, const char *code, const char *detail)
{
    struct event *ev = event_new(EVENT_WARNING);
    ev->name = mem_strdup(code);
    ev->text = mem_strdup(detail);
    run_emit(r, ev);
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
void run_tell_answer(struct run *r, bool partial)
{
    for (size_t i = 0; i < r->response.blocks.len; i++) {
        const struct block *b = &r->response.blocks.items[i];
        if (b->type == BLOCK_TEXT ? b->text && *b->text : !partial)
            run_emit(r, event_from_block(r, b, partial));
    }
}

/* USD of a model call, for its event: negative where unknown. */
static double take_cost(struct run *r, const struct usage *usage)
{
    const struct agent *a = r->a;
    const struct price price = models_price(a->config, a->model, &a->price, r->response.model);
    double cost = usage_cost(usage, &price);
    r->cost = usage_cost_sum(r->cost, cost);
    return cost;
}

void run_tell_call_completed(struct run *r)
{
    struct event *ev = event_new(EVENT_TURN_COMPLETED);
    ev->stop_reason = r->response.stop_reason;
    ev->usage = r->response.usage;
    ev->model = mem_strdup(r->response.model);
    ev->used = take_cost(r, &ev->usage);
    usage_add(&r->usage, &ev->usage);
    r->accounted = true;
    run_emit(r, ev);
}

static char *response_text(const struct response *response)
{
    const struct message view = {
        .blocks = {.items = response->blocks.items, .len = response->blocks.len}};
    return message_text(&view);
}

void run_tell_completed(struct run *r)
{
    struct event *ev = event_new(EVENT_RUN_COMPLETED);
    ev->text = response_text(&r->response);
    ev->usage = r->usage;
    usage_add(&ev->usage, &r->overhead);
    ev->summaries = r->overhead;
    ev->count = r->calls;
    ev->stop_reason = r->response.stop_reason;
    ev->number = run_elapsed_ms(r);
    run_emit(r, ev);
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

void run_tell_cut(struct run *r, enum outcome outcome)
{
    struct event *ev =
        event_new(outcome == OUTCOME_INTERRUPTED ? EVENT_INTERRUPTED : EVENT_RUN_FAILED);
    ev->usage = partial_usage(r);
    ev->used = take_cost(r, &ev->usage);
    ev->number = run_elapsed_ms(r);
    if (outcome == OUTCOME_FAILED) {
        ev->name = mem_strdup(err_info(r->end.code)->name);
        ev->text = mem_strdup(r->end.text);
    }
    run_emit(r, ev);
}
