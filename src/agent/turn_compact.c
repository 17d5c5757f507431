/* Making room for a model call: when a turn compacts, and what the compaction asks of the turn. */
#include <string.h>

#include "agent/turn.h"
#include "base/clock.h"
#include "base/mem.h"
#include "compact/plan.h"
#include "provider/provider.h"

/* --- the functions that a compaction calls ---------------------------------------------------- */

static bool goes_on(void *turn)
{
    const struct turn *t = turn;
    return t->a->wakeup->go_on(t->a->wakeup->context);
}

static bool emit(void *turn, struct event *ev, struct error *e)
{
    struct turn *t = turn;
    turn_emit(t, ev);
    if (t->lost)
        *e = *t->e;
    return !t->lost;
}

static enum commit_result commit(void *turn, struct event *completed, struct error *e)
{
    const struct turn *t = turn;
    return t->a->commit(t->a->context, completed, e);
}

static struct draft_verdict review(void *turn, const struct draft *draft)
{
    struct turn *t = turn;
    turn_pause(t);
    struct draft_verdict verdict = t->a->review(t->a->context, draft);
    turn_resume(t);
    return verdict;
}

static char *tool_result(void *turn, int64_t seq, const char *id)
{
    const struct turn *t = turn;
    return t->a->tool_result(t->a->context, seq, id);
}

/* The time for summaries ends a call of theirs, and nothing else. */
struct summary_time {
    struct turn *turn;
    int64_t begun_ms, end_ms; /* clock_mono_ms(); 0: it does not end */
    bool is_up;
    struct wakeup wakeup;
};

static bool is_time_left(void *summary_time)
{
    struct summary_time *s = summary_time;
    if (!goes_on(s->turn))
        return false;
    s->is_up = s->end_ms > 0 && clock_mono_ms() >= s->end_ms;
    return !s->is_up;
}

static void begin_summary_time(struct turn *t, struct summary_time *s)
{
    const struct wakeup *w = t->a->wakeup;
    *s = (struct summary_time){.turn = t, .begun_ms = clock_mono_ms()};
    s->end_ms = t->summary_ms < 0 ? 0 : s->begun_ms + t->summary_ms;
    bool sooner = s->end_ms > 0 && (w->deadline_ms == 0 || s->end_ms < w->deadline_ms);
    s->wakeup = (struct wakeup){.fd = w->fd,
                                .go_on = is_time_left,
                                .context = s,
                                .deadline_ms = sooner ? s->end_ms : w->deadline_ms};
}

static void end_summary_time(struct turn *t, const struct summary_time *s)
{
    int64_t took = clock_mono_ms() - s->begun_ms;
    if (t->summary_ms >= 0)
        t->summary_ms = took < t->summary_ms ? t->summary_ms - took : 0;
}

static bool too_late(const struct turn *t, struct failure *failure)
{
    return failure_set(failure, FAILURE_STALL,
                       "no summary within %lld s; choose another summary_model, or raise "
                       "summary_timeout in [compaction]",
                       (long long)t->a->compaction->summary_ms / 1000);
}

static const struct summariser *find_summariser(void *turn, struct error *e)
{
    struct turn *t = turn;
    const struct agent *a = t->a;
    struct summary_time time;
    begin_summary_time(t, &time);
    const struct summariser *s = a->summariser(a->context, e);
    end_summary_time(t, &time);
    if (!s || s->provider != a->provider || s->endpoint != a->endpoint ||
        strcmp(s->model, a->model) != 0)
        return s;
    /* Limits of its own model the turn may have learned just now, from a rejected request. */
    t->summariser = *s;
    t->summariser.window = a->window;
    if (t->max_bytes > 0)
        t->summariser.max_bytes = t->max_bytes;
    return &t->summariser;
}

/* The deltas of a summary are its text alone; reasoning is passed over. */
struct listener {
    bool (*delta)(void *context, const char *text, size_t len);
    void *context;
};

static bool take_delta(void *listener, enum block_type type, const char *text, size_t len)
{
    const struct listener *l = listener;
    return type != BLOCK_TEXT || l->delta(l->context, text, len);
}

static bool complete(void *turn, const struct summariser *s, const struct request *request,
                     bool (*delta)(void *, const char *, size_t), void *delta_context,
                     struct response *response, struct failure *failure)
{
    struct turn *t = turn;
    struct listener listener = {.delta = delta, .context = delta_context};
    struct summary_time time;
    begin_summary_time(t, &time);
    const struct provider_call call = {
        .http = s->http,
        .endpoint = s->endpoint,
        .config = t->a->config,
        .wakeup = &time.wakeup,
        .watched = t->a->watched,
        .delta = take_delta,
        .context = &listener,
    };
    struct request limited = *request;
    limited.max_output = turn_output_within(t, request->max_output);
    bool ok = turn_call_model(t, s->provider, &call, &limited, response, failure);
    end_summary_time(t, &time);
    /* Counted at once, so that the next call of a history that is folded knows of this one. */
    const struct price price = models_price(s->config, s->model, &s->price, response->model);
    usage_add(&t->overhead, &response->usage);
    t->cost = usage_cost_sum(t->cost, usage_cost(&response->usage, &price));
    return ok || (time.is_up && too_late(t, failure));
}

static bool tell_progress(void *turn, const char *text, size_t len, int part, int of)
{
    struct turn *t = turn;
    struct event *ev = event_new(EVENT_COMPACTION_DELTA);
    ev->text = mem_strndup(text, len);
    ev->count = part;
    ev->limit = of;
    turn_emit(t, ev);
    return !t->lost;
}

static bool may_call(void *turn, struct failure *failure)
{
    struct turn *t = turn;
    if (t->summary_ms == 0)
        return too_late(t, failure);
    return turn_has_budget(t) || failure_set(failure, FAILURE_SETUP, "%s", t->end.text);
}

/* --- one compaction --------------------------------------------------------------------------- */

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

/* Tokens that the history may have without a compaction. */
static int64_t most_tokens(const struct agent *a)
{
    const struct compact_limits limits = limits_of(a);
    int64_t request = compact_request_threshold(a->compaction, &limits);
    int64_t history = compact_threshold(a->compaction, &limits);
    return request > 0 ? compact_lesser(history, request - prompt_overhead(a)) : history;
}

/* Tokens that the rounds of the turn may have after a compaction that is worth it and lets all
 * other messages go that can. */
static int64_t room_for_rounds(const struct agent *a)
{
    const struct history *h = a->history;
    int64_t most = most_tokens(a), left = most - most / 10, summary = most / 16;
    for (size_t i = 0; i < h->messages.len; i++) {
        const struct message *m = &h->messages.items[i];
        if (m->summary && h->estimates.items[i] > summary)
            summary = h->estimates.items[i];
        else if (m->pinned || m->role == ROLE_SYSTEM || i == h->turn_first)
            left -= h->estimates.items[i];
    }
    return left - summary;
}

size_t turn_room(const struct turn *t)
{
    const struct agent *a = t->a;
    const struct history *h = a->history;
    if (!a->compaction)
        return SIZE_MAX;
    int64_t most = most_tokens(a), rounds = room_for_rounds(a);
    int64_t room = most - most / 16 - h->estimate; /* the next answer takes some, too */
    for (size_t i = h->turn_first + 1; i < h->messages.len; i++)
        rounds -= h->estimates.items[i];
    if (t->compacted == 0 && rounds > room)
        room = rounds;
    return room > 0 ? (size_t)room * MESSAGE_BYTES_A_TOKEN : 0;
}

static bool has_found(const struct agent *a, const struct message *results)
{
    struct message room;
    bool found = false;
    const struct message *m = message_whole(a->history->source, results, &room);
    for (size_t b = 0; b < m->blocks.len && !found; b++) {
        const char *name = m->blocks.items[b].name;
        const struct tool *tool = name ? toolset_find(a->tools, name) : NULL;
        found = tool && tool->finds;
    }
    message_release(&room);
    return found;
}

/* Marks the rounds of the running turn that hold what the model has found, the newest first, then
 * the older messages that it would have found if they were not there, as far as there is room. */
static void keep_found(const struct agent *a, enum compact_trigger trigger, bool *kept)
{
    const struct history *h = a->history;
    int64_t left = room_for_rounds(a), besides, tokens = 0;
    bool found = false;
    if (trigger == TRIGGER_OVERFLOW) /* the limit may be unknown */
        left = compact_lesser(left, h->estimate / 2);
    besides = left; /* all rounds of the turn */
    for (size_t i = h->messages.len, end = i; h->running && i-- > h->turn_first + 1;) {
        const struct message *m = &h->messages.items[i];
        tokens += h->estimates.items[i];
        besides -= h->estimates.items[i];
        found = found || (m->role == ROLE_TOOL && has_found(a, m));
        if (m->role != ROLE_ASSISTANT)
            continue;
        left -= found ? tokens : 0;
        for (size_t k = i; k < end && found && left >= 0; k++)
            kept[k] = true;
        end = i;
        tokens = 0;
        found = false;
    }
    const struct tool_memory *memory = a->tools->host.memory;
    bool searches = h->running && memory && memory->passed_over;
    int64_t seq;
    for (size_t rank = 0; searches && (seq = memory->passed_over(memory->context, rank)) > 0;
         rank++) {
        size_t i = 0;
        while (i < h->turn_first &&
               (h->messages.items[i].seq != seq || h->messages.items[i].summary))
            i++;
        if (i == h->turn_first || h->estimates.items[i] > besides)
            continue;
        besides -= h->estimates.items[i];
        kept[i] = true;
    }
}

static bool admit(void *context, struct error *e)
{
    struct turn *t = context;
    const struct compact_job *job = t->compacting;
    t->admitted = hooks_ask_compact(t, job->trigger == TRIGGER_MANUAL, job->focus, e);
    return t->admitted;
}

static void compact(struct turn *t, struct compact_job *job, struct compact_outcome *out)
{
    auto_free bool *kept = mem_alloc(t->a->history->messages.len + 1);
    const struct compact_host host = {
        .summary = {.complete = complete,
                    .progress = tell_progress,
                    .may_call = may_call,
                    .go_on = goes_on,
                    .context = t},
        .emit = emit,
        .commit = commit,
        .admit = admit,
        .review = t->a->review ? review : NULL,
        .summariser = find_summariser,
        .tool_result = t->a->tool_result ? tool_result : NULL,
    };
    const struct usage overhead = t->overhead;
    const double cost = t->cost;
    keep_found(t->a, job->trigger, kept);
    job->kept = kept;
    t->compacting = job;
    t->admitted = false;
    compact_run(job, &host, out);
    if (out->result == COMPACT_NOT_WORTH && out->error.code == ERR_FORBIDDEN &&
        job->trigger == TRIGGER_OVERFLOW)
        turn_tell_warning(t, WARNING_NOT_COMPACTED, out->error.text);
    if (out->result == COMPACT_DONE && t->summary_ms >= 0)
        t->summary_ms = t->a->compaction->summary_ms;
    if (out->result == COMPACT_DONE)
        t->compacted = t->a->history->estimate;
    /* The calls were counted as they ended; the outcome knows better what a broken one took. */
    t->overhead = overhead;
    usage_add(&t->overhead, &out->usage);
    t->cost = usage_cost_sum(cost, out->cost);
    if (out->result == COMPACT_DONE && t->admitted)
        hooks_note_compact(t, job->trigger == TRIGGER_MANUAL);
}

/* --- whether it is time to -------------------------------------------------------------------- */

static struct compact_counters count(const struct turn *t)
{
    const struct agent *a = t->a;
    const struct history *h = a->history;
    const struct compact_limits limits = limits_of(a);
    const struct compact_input in = compact_input_of(h, a->compaction, &limits);
    const struct compact_mode *mode = a->compaction->mode;
    bool asks = !mode->text && a->summary_label;
    return (struct compact_counters){
        .boundary = h->calls,
        .last_attempt = h->compaction.last_attempt,
        .last_input = h->last_input,
        .estimate = h->estimate,
        .request = agent_request_estimate(a),
        /* … and for the rest of a turn that has waited for a summary in vain. */
        .suspended = t->summary_ms == 0 ||
                     compact_suspended(&h->compaction, mode->name, asks ? a->summary_label : ""),
        .bypassed = t->guard_bypassed,
        .compacted = t->compacted > 0 && h->estimate - t->compacted < in.threshold / 2,
        .micro_useful = compact_micro_useful(&in),
    };
}

/* A draft that the user refuses ends the compaction, and nothing else. */
static bool turn_goes_on(struct turn *t, const struct compact_outcome *done, enum outcome *outcome)
{
    if (done->result == COMPACT_LOST || t->lost)
        *outcome = OUTCOME_FAILED;
    else if (done->result == COMPACT_CANCELLED && !goes_on(t))
        *outcome = turn_stopped(t);
    else
        return true;
    return false;
}

bool turn_make_room(struct turn *t, enum outcome *outcome)
{
    const struct agent *a = t->a;
    struct compact_outcome done = {0};
    if (!a->compaction)
        return true;
    const struct compact_limits limits = limits_of(a);
    const struct compact_counters counters = count(t);
    const struct compact_decision decision = compact_decide(a->compaction, &limits, &counters);
    if (decision.trigger == TRIGGER_NONE)
        return true;
    struct compact_job job = job_for(a, decision.trigger);
    job.micro_only = decision.micro_only;
    job.must_fit = decision.must_fit;
    compact(t, &job, &done);
    /* An obstacle is told once, until it is another one. */
    const char *told = a->history->compaction.obstacle;
    if (done.result == COMPACT_NOT_WORTH && (!told || strcmp(told, done.error.text) != 0))
        turn_tell_warning(t, WARNING_NOT_COMPACTED, done.error.text);
    if (decision.bypasses) {
        const struct compact_limits now = limits_of(a);
        t->guard_bypassed = done.result != COMPACT_DONE ||
                            !compact_request_fits(a->compaction, &now, agent_request_estimate(a));
    }
    return turn_goes_on(t, &done, outcome);
}

bool turn_recover_overflow(struct turn *t, enum outcome *outcome)
{
    struct compact_outcome done = {0};
    const struct agent *a = t->a;
    int64_t bytes = t->failure.body_bytes;
    if (!a->compaction || t->overflowed || t->failure.kind != FAILURE_OVERFLOW ||
        t->failure.content_seen)
        return false;
    t->overflowed = true;
    /* A server says that a request has too many bytes, but not how many it may have. A summary in
     * parts costs little more than one that is rejected. */
    if (bytes > 0 && bytes <= provider_max_request(a->config))
        t->max_bytes = bytes / 2;
    struct compact_job job = job_for(a, TRIGGER_OVERFLOW);
    job.must_fit = true;
    job.body_bytes = bytes;
    compact(t, &job, &done);
    return turn_goes_on(t, &done, outcome) && done.result == COMPACT_DONE;
}

/* --- by hand ---------------------------------------------------------------------------------- */

bool agent_compact(struct agent *a, const struct compact_mode *mode, const char *focus,
                   bool preview, struct error *e)
{
    struct error lost = {0};
    struct compact_outcome done = {0};
    struct turn t = {.a = a,
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
    turn_set_deadline(&t);
    compact(&t, &job, &done);
    bool ok = done.result == COMPACT_DONE;
    bool late = done.result == COMPACT_CANCELLED && turn_stopped(&t) == OUTCOME_FAILED;
    *e = late ? t.end : done.error;
    turn_clear_deadline(&t);
    turn_warn(&t);
    if (ok && t.lost)
        *e = lost;
    return ok && !t.lost;
}
