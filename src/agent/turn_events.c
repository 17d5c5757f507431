#include <string.h>

#include "agent/turn.h"
#include "base/mem.h"
#include "provider/models.h"

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
