#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "compact/attempt.h"

/* Where nothing goes, a mode too does no more than leave results of tools out. */
static const char *stage_of(const struct attempt *a)
{
    return a->micro || a->plan.gone == 0 ? "micro" : "summary";
}

static bool tell(struct attempt *a, struct event *ev)
{
    struct error lost = {0};
    if (!a->lost && a->host->emit(a->host->summary.context, ev, &lost))
        return true;
    if (!a->lost) {
        a->lost = true;
        a->out->result = COMPACT_LOST;
        a->out->error = lost;
    } else {
        event_free(ev);
    }
    return false;
}

int64_t attempt_request_after(const struct attempt *a, int64_t history)
{
    const struct compact_job *job = a->job;
    return job->request > 0 ? request_resized(job->request, job->overhead + a->tokens_before,
                                              job->overhead + history)
                            : 0;
}

bool attempt_tell_started(struct attempt *a)
{
    struct event *ev = event_new(EVENT_COMPACTION_STARTED);
    struct compaction *c = &ev->compaction;
    c->mode = mem_strdup(a->job->mode->name);
    c->stage = mem_strdup(stage_of(a));
    c->trigger = mem_strdup(compact_trigger_name(a->job->trigger));
    c->input_tokens = a->job->history->last_input;
    c->estimate = a->job->history->estimate;
    c->threshold = a->input.threshold;
    c->messages_before = (int)a->input.count;
    c->request_before = a->job->request;
    ev->model = mem_strdup(a->label);
    ev->flag = a->job->preview && a->host->review && !a->micro;
    return tell(a, ev);
}

static void add_use(const struct attempt *a, struct event *ev)
{
    ev->usage = a->out->usage;
    ev->used = a->out->cost;
    ev->number = clock_mono_ms() - a->started_ms - a->waited_ms;
}

static int64_t text_tokens(const char *text)
{
    return text ? ((int64_t)strlen(text) + 3) / 4 : 0;
}

static int count_dropped(const struct attempt *a, const struct rebuild *r)
{
    struct index_list dropped = {0};
    rebuild_dropped(r, a->input.count, &dropped);
    int count = (int)dropped.items.len;
    vec_release(&dropped.items);
    return count;
}

/* Of the breaker: the model that the mode would ask, also where the attempt ended before. */
static const char *key_of(const struct attempt *a)
{
    if (a->label || !a->job->mode->prompt)
        return a->label;
    return a->job->label;
}

static void count_failure(const struct attempt *a, const char *reason, struct compaction *c)
{
    const char *key = key_of(a);
    const struct compact_failure_count count =
        compact_count_failure(a->job->settings, &a->job->history->compaction, a->job->mode->name,
                              key ? key : "", reason, a->calls > 0);
    c->failures = count.failures;
    c->suspended = count.suspended;
}

struct event *attempt_completed(const struct attempt *a, const struct rebuild *r)
{
    struct event *ev = event_new(EVENT_COMPACTION_COMPLETED);
    struct compaction *c = &ev->compaction;
    c->mode = mem_strdup(a->job->mode->name);
    c->effective_mode = mem_strdup(a->effective->name);
    c->stage = mem_strdup(stage_of(a));
    c->trigger = mem_strdup(compact_trigger_name(a->job->trigger));
    c->history = rebuild_to_json(r);
    c->dropped = rebuild_dropped_events(r, a->input.messages, a->input.count, a->last_seq);
    c->summary_tokens = text_tokens(a->text);
    c->tokens_before = a->tokens_before;
    c->tokens_after = rebuild_estimate(r, a->input.estimates);
    c->request_before = a->job->request;
    c->request_after = attempt_request_after(a, c->tokens_after);
    c->messages_before = (int)a->input.count;
    c->messages_after = (int)rebuild_count(r);
    c->messages_dropped = count_dropped(a, r);
    c->messages_changed = (int)rebuild_rewritten(r);
    ev->text = mem_strdup(a->text ? a->text : "");
    ev->name = mem_strdup(a->why);
    ev->flag = a->changed;
    ev->model = a->calls > 0 ? mem_strdup(a->label) : NULL;
    if (a->model_failed && a->calls > 0)
        count_failure(a, "llm", c);
    add_use(a, ev);
    return ev;
}

static void tell_failed(struct attempt *a, const char *reason)
{
    struct event *ev = event_new(EVENT_COMPACTION_FAILED);
    ev->compaction.mode = mem_strdup(a->job->mode->name);
    ev->compaction.reason = mem_strdup(reason);
    count_failure(a, reason, &ev->compaction);
    ev->text = mem_strdup(a->out->error.text);
    if (a->out->error.code != ERR_AGENT_ERROR)
        ev->name = mem_strdup(err_info(a->out->error.code)->name);
    ev->model = mem_strdup(key_of(a));
    add_use(a, ev);
    tell(a, ev);
}

bool attempt_fail(struct attempt *a, const char *reason, enum err_code code, const char *format,
                  ...)
{
    char text[sizeof a->out->error.text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (a->lost)
        return false;
    a->out->result = COMPACT_FAILED;
    err_set(&a->out->error, code, "%s", text);
    tell_failed(a, reason);
    return false;
}

bool attempt_cancel(struct attempt *a)
{
    attempt_fail(a, "cancelled", ERR_INTERRUPTED, "the compaction was cancelled");
    if (!a->lost)
        a->out->result = COMPACT_CANCELLED;
    return false;
}

bool attempt_goes_on(struct attempt *a)
{
    return a->host->summary.go_on(a->host->summary.context) || attempt_cancel(a);
}
