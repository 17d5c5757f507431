#include <stdlib.h>
#include <string.h>

#include "agent/turn.h"
#include "base/clock.h"
#include "base/mem.h"
#include "compact/shorten.h"
#include "provider/models.h"

/* --- what the ladder does with a run --- */

static bool goes_on(void *run)
{
    const struct run *r = run;
    return r->a->wakeup->go_on(r->a->wakeup->context);
}

static bool emit(void *run, struct event *ev, struct error *e)
{
    struct run *r = run;
    run_emit(r, ev);
    if (r->lost)
        *e = *r->e;
    return !r->lost;
}

static enum commit_result commit(void *run, struct event *completed, struct error *e)
{
    const struct run *r = run;
    return r->a->commit(r->a->context, completed, e);
}

static struct draft_verdict review(void *run, const struct draft *draft)
{
    struct run *r = run;
    run_pause(r);
    struct draft_verdict verdict = r->a->review(r->a->context, draft);
    run_resume(r);
    return verdict;
}

static char *tool_result(void *run, int64_t seq, const char *id)
{
    const struct run *r = run;
    return r->a->tool_result(r->a->context, seq, id);
}

static bool is_own_model(const struct agent *a, const struct summariser *s)
{
    return s->provider == a->provider && s->endpoint == a->endpoint &&
           strcmp(s->model, a->model) == 0;
}

/* The time for summaries ends a call of theirs, and nothing else. */
struct summary_time {
    struct run *run;
    int64_t begun_ms, end_ms; /* clock_mono_ms(); 0: it does not end */
    bool is_up;
    struct wakeup wakeup;
};

static bool is_time_left(void *summary_time)
{
    struct summary_time *t = summary_time;
    if (!goes_on(t->run))
        return false;
    t->is_up = t->end_ms > 0 && clock_mono_ms() >= t->end_ms;
    return !t->is_up;
}

static void begin_summary_time(struct run *r, struct summary_time *t)
{
    const struct wakeup *w = r->a->wakeup;
    *t = (struct summary_time){.run = r, .begun_ms = clock_mono_ms()};
    t->end_ms = r->summary_ms < 0 ? 0 : t->begun_ms + r->summary_ms;
    bool sooner = t->end_ms > 0 && (w->deadline_ms == 0 || t->end_ms < w->deadline_ms);
    t->wakeup = (struct wakeup){.fd = w->fd,
                                .go_on = is_time_left,
                                .context = t,
                                .deadline_ms = sooner ? t->end_ms : w->deadline_ms};
}

static void end_summary_time(struct run *r, const struct summary_time *t)
{
    int64_t took = clock_mono_ms() - t->begun_ms;
    if (r->summary_ms >= 0)
        r->summary_ms = took < r->summary_ms ? r->summary_ms - took : 0;
}

static bool too_late(const struct run *r, struct failure *failure)
{
    return failure_set(failure, FAILURE_STALL,
                       "no summary within %lld s; choose another summary_model, or raise "
                       "summary_timeout in [compaction]",
                       (long long)r->a->compaction->summary_ms / 1000);
}

/* Of its own model the turn may have learned the limits just now, from a rejected request. */
static const struct summariser *find_summariser(void *run, struct error *e)
{
    struct run *r = run;
    struct summary_time time;
    begin_summary_time(r, &time);
    const struct summariser *s = r->a->summariser(r->a->context, e);
    end_summary_time(r, &time);
    if (!s || !is_own_model(r->a, s))
        return s;
    r->summariser = *s;
    r->summariser.window = r->a->window;
    if (r->max_bytes > 0)
        r->summariser.max_bytes = r->max_bytes;
    return &r->summariser;
}

/* The summary's deltas are its text alone; what a model thinks on the way is nobody's. */
struct listener {
    bool (*delta)(void *context, const char *text, size_t len);
    void *context;
};

static bool hear(void *listener, enum block_type type, const char *text, size_t len)
{
    const struct listener *l = listener;
    return type != BLOCK_TEXT || l->delta(l->context, text, len);
}

/* So that the next call of a history that is folded knows of this one. */
static void count_use(struct run *r, const struct summariser *s, const struct response *response)
{
    const struct price price = models_price(s->config, s->model, &s->price, response->model);
    usage_add(&r->overhead, &response->usage);
    r->cost = usage_cost_sum(r->cost, usage_cost(&response->usage, &price));
}

static bool complete(void *run, const struct summariser *s, const struct request *request,
                     bool (*delta)(void *, const char *, size_t), void *delta_context,
                     struct response *response, struct failure *failure)
{
    struct run *r = run;
    struct listener listener = {.delta = delta, .context = delta_context};
    struct summary_time time;
    begin_summary_time(r, &time);
    const struct provider_call call = {
        .http = s->http,
        .endpoint = s->endpoint,
        .config = r->a->config,
        .wakeup = &time.wakeup,
        .delta = hear,
        .context = &listener,
    };
    struct request limited = *request;
    limited.max_output = run_output_within(r, request->max_output);
    bool ok = run_complete(r, s->provider, &call, &limited, response, failure);
    end_summary_time(r, &time);
    count_use(r, s, response);
    return ok || (time.is_up && too_late(r, failure));
}

static bool tell_progress(void *run, const char *text, size_t len, int part, int of)
{
    struct run *r = run;
    struct event *ev = event_new(EVENT_COMPACTION_DELTA);
    ev->text = mem_strndup(text, len);
    ev->count = part;
    ev->limit = of;
    run_emit(r, ev);
    return !r->lost;
}

static bool may_call(void *run, struct failure *failure)
{
    struct run *r = run;
    if (r->summary_ms == 0)
        return too_late(r, failure);
    return run_has_budget(r) || failure_set(failure, FAILURE_SETUP, "%s", r->end.text);
}

static struct compact_host host_of(struct run *r)
{
    return (struct compact_host){
        .summary = {.complete = complete,
                    .progress = tell_progress,
                    .may_call = may_call,
                    .context = r},
        .emit = emit,
        .commit = commit,
        .review = r->a->review ? review : NULL,
        .summariser = find_summariser,
        .tool_result = r->a->tool_result ? tool_result : NULL,
        .go_on = goes_on,
    };
}

/* --- what the ladder is told --- */

static struct compact_limits limits_of(const struct agent *a)
{
    return (struct compact_limits){.window = a->window,
                                   .max_output = a->model_output,
                                   .max_bytes = provider_max_request(a->config)};
}

static struct compact_job job_for(const struct agent *a, enum compact_trigger trigger)
{
    return (struct compact_job){
        .history = a->history,
        .settings = a->compaction,
        .limits = limits_of(a),
        .mode = a->compaction->mode,
        .trigger = trigger,
        .preview = a->compaction->preview,
        .request = agent_request_size(a).tokens,
        .overhead = prompt_overhead(a),
        .system = a->system,
        .label = a->summary_label,
    };
}

/* What the calls used is counted as they end; the outcome knows better what a broken one took. */
static void compact(struct run *r, const struct compact_job *job, struct compact_outcome *out)
{
    const struct compact_host host = host_of(r);
    const struct usage overhead = r->overhead;
    const double cost = r->cost;
    compact_run(job, &host, out);
    if (out->result == COMPACT_DONE && r->summary_ms >= 0)
        r->summary_ms = r->a->compaction->summary_ms;
    r->overhead = overhead;
    usage_add(&r->overhead, &out->usage);
    r->cost = usage_cost_sum(cost, out->cost);
}

/* --- when --- */

static bool is_micro_useful(const struct agent *a)
{
    const struct compact_limits limits = limits_of(a);
    const struct compact_input in = compact_input_of(a->history, a->compaction, &limits);
    return compact_micro_useful(&in);
}

/* Also for the rest of a turn that has waited for a summary in vain. */
static bool is_suspended(const struct run *r)
{
    const struct agent *a = r->a;
    const struct compact_mode *mode = a->compaction->mode;
    bool asks = !mode->text && a->summary_label;
    return r->summary_ms == 0 ||
           compact_suspended(&a->history->compaction, mode->name, asks ? a->summary_label : "");
}

static struct compact_counters count(const struct run *r)
{
    const struct history *h = r->a->history;
    return (struct compact_counters){
        .boundary = h->calls,
        .last_attempt = h->compaction.last_attempt,
        .last_input = h->last_input,
        .estimate = h->estimate,
        .request = agent_request_estimate(r->a),
        .suspended = is_suspended(r),
        .bypassed = r->guard_bypassed,
        .micro_useful = is_micro_useful(r->a),
    };
}

/* A request that does not fit although a compaction was done for it. */
static bool is_too_long(const struct run *r)
{
    const struct compact_limits limits = limits_of(r->a);
    return !compact_request_fits(r->a->compaction, &limits, agent_request_estimate(r->a));
}

/* A draft that the user refuses ends the compaction, and nothing else. */
static bool turn_goes_on(struct run *r, const struct compact_outcome *done, enum outcome *outcome)
{
    if (done->result == COMPACT_LOST || r->lost)
        *outcome = OUTCOME_FAILED;
    else if (done->result == COMPACT_CANCELLED && !goes_on(r))
        *outcome = run_stopped(r);
    else
        return true;
    return false;
}

/* Once, until it is another one. */
static void tell_obstacle(struct run *r, const char *why)
{
    const char *told = r->a->history->compaction.obstacle;
    if (!told || strcmp(told, why) != 0)
        run_tell_warning(r, WARNING_NOT_COMPACTED, why);
}

bool run_make_room(struct run *r, enum outcome *outcome)
{
    const struct agent *a = r->a;
    struct compact_outcome done = {0};
    if (!a->compaction)
        return true;
    const struct compact_limits limits = limits_of(a);
    const struct compact_counters counters = count(r);
    const struct compact_decision decision = compact_decide(a->compaction, &limits, &counters);
    if (decision.trigger == TRIGGER_NONE)
        return true;
    struct compact_job job = job_for(a, decision.trigger);
    job.micro_only = decision.micro_only;
    job.must_fit = decision.must_fit;
    compact(r, &job, &done);
    if (done.result == COMPACT_NOT_WORTH)
        tell_obstacle(r, done.error.text);
    if (decision.bypasses)
        r->guard_bypassed = done.result != COMPACT_DONE || is_too_long(r);
    return turn_goes_on(r, &done, outcome);
}

/* A server says that a request has too many bytes, but not how many it may have. A summary in parts
 * costs little more than one that is rejected. */
static void learn_max_bytes(struct run *r)
{
    int64_t bytes = r->failure.body_bytes;
    if (bytes > 0 && bytes <= provider_max_request(r->a->config))
        r->max_bytes = bytes / 2;
}

bool run_recover_overflow(struct run *r, enum outcome *outcome)
{
    struct compact_outcome done = {0};
    const struct agent *a = r->a;
    if (!a->compaction || r->overflowed || r->failure.kind != FAILURE_OVERFLOW ||
        r->failure.content_seen || is_suspended(r))
        return false;
    r->overflowed = true;
    learn_max_bytes(r);
    struct compact_job job = job_for(a, TRIGGER_OVERFLOW);
    job.must_fit = true;
    job.body_bytes = r->failure.body_bytes;
    compact(r, &job, &done);
    return turn_goes_on(r, &done, outcome) && done.result == COMPACT_DONE;
}

/* --- by hand --- */

static bool tell_reason(struct run *r, const struct compact_outcome *done, struct error *e)
{
    bool late = done->result == COMPACT_CANCELLED && run_stopped(r) == OUTCOME_FAILED;
    *e = late ? r->end : done->error;
    return done->result == COMPACT_DONE;
}

bool agent_compact(struct agent *a, const struct compact_mode *mode, const char *focus,
                   bool preview, struct error *e)
{
    struct error lost = {0};
    struct compact_outcome done = {0};
    struct run r = {.a = a,
                    .e = &lost,
                    .started_ms = clock_mono_ms(),
                    .summary_ms = -1,
                    .usage = USAGE_UNKNOWN,
                    .overhead = USAGE_UNKNOWN};
    struct compact_job job = job_for(a, TRIGGER_MANUAL);
    job.mode = mode;
    job.focus = focus;
    job.preview = preview;
    budget_begin_turn(a->budget, a->history);
    run_set_deadline(&r);
    compact(&r, &job, &done);
    bool ok = tell_reason(&r, &done, e);
    run_clear_deadline(&r);
    run_warn(&r);
    if (ok && r.lost)
        *e = lost;
    return ok && !r.lost;
}
