#include "compact/compact.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "compact/extract.h"
#include "compact/mode.h"
#include "compact/plan.h"
#include "compact/summary.h"

struct attempt {
    const struct compact_job *job;
    const struct compact_host *host;
    struct compact_outcome *out;
    struct compact_input input;
    struct compact_plan plan; /* by `cut_by` */
    bool micro;               /* nothing but shortened tool results */
    bool not_worth;           /* it would free too little to begin by itself */
    const char *label;        /* of the model that is asked for summaries; NULL: none */
    const struct summariser *summariser;
    struct error no_summariser;
    int64_t tokens_before, last_seq, started_ms, waited_ms;
    int calls; /* of the model */

    /* The draft. */
    const struct compact_mode *cut_by;    /* how it was cut: the job's mode or its fallback */
    const struct compact_mode *effective; /* whose text it is */
    char *text;                           /* without the mode's prefix; NULL: none */
    char *why;                            /* `effective` is not the job's mode; NULL: it is */
    char *focus;                          /* what the user has said so far; NULL: nothing */
    bool changed;                         /* by the user */
    bool model_failed;                    /* the text is that of a fallback */
    bool lost;                            /* emit() failed */
};

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

static int64_t attempt_request_after(const struct attempt *a, int64_t history)
{
    const struct compact_job *job = a->job;
    return job->request > 0 ? request_resized(job->request, job->overhead + a->tokens_before,
                                              job->overhead + history)
                            : 0;
}

static bool attempt_tell_started(struct attempt *a)
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

static int64_t draft_tokens(const char *text)
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

static struct event *attempt_completed(const struct attempt *a, const struct rebuild *r)
{
    struct event *ev = event_new(EVENT_COMPACTION_COMPLETED);
    struct compaction *c = &ev->compaction;
    c->mode = mem_strdup(a->job->mode->name);
    c->effective_mode = mem_strdup(a->effective->name);
    c->stage = mem_strdup(stage_of(a));
    c->trigger = mem_strdup(compact_trigger_name(a->job->trigger));
    c->history = rebuild_to_json(r);
    c->dropped = rebuild_dropped_events(r, a->input.messages, a->input.count, a->last_seq);
    c->summary_tokens = draft_tokens(a->text);
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

static bool attempt_fail(struct attempt *a, const char *reason, enum err_code code,
                         const char *format, ...)
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

static bool attempt_cancel(struct attempt *a)
{
    attempt_fail(a, "cancelled", ERR_INTERRUPTED, "the compaction was cancelled");
    if (!a->lost)
        a->out->result = COMPACT_CANCELLED;
    return false;
}

static bool attempt_goes_on(struct attempt *a)
{
    return a->host->summary.go_on(a->host->summary.context) || attempt_cancel(a);
}

/* --- tool results as the tools gave them ------------------------------------------------------ */

/* The messages of the conversation, where earlier compactions left less of what goes now. */
struct whole {
    VEC(struct message) items; /* none where none has less; borrowed but those of `made` */
    VEC(size_t) made;          /* their indices */
};

static bool is_shortened(const struct block *b)
{
    return b->type == BLOCK_TOOL_RESULT && b->text && compact_is_shortened(b->text);
}

static bool has_shortened(const struct message *m)
{
    for (size_t i = 0; i < m->blocks.len; i++)
        if (is_shortened(&m->blocks.items[i]))
            return true;
    return false;
}

/* *found: something was shortened; else the message is empty. */
static struct message restored(const struct compact_input *in, size_t index,
                               const struct compact_host *host, bool *found)
{
    struct message room;
    const struct message *m = message_whole(in->source, &in->messages[index], &room);
    *found = has_shortened(m);
    struct message whole = *found ? message_clone(m) : message_without_blocks(m);
    message_release(&room);
    for (size_t i = 0; i < whole.blocks.len; i++) {
        struct block *b = &whole.blocks.items[i];
        char *text =
            is_shortened(b) ? host->tool_result(host->summary.context, whole.seq, b->id) : NULL;
        if (!text)
            continue;
        free(b->text);
        b->text = text;
    }
    return whole;
}

static void whole_put(struct whole *w, const struct compact_input *in, size_t i, struct message m)
{
    for (size_t k = w->items.len; k < in->count; k++)
        vec_push(&w->items, in->messages[k]);
    w->items.items[i] = m;
    vec_push(&w->made, i);
}

/* A result that the host does not know stays as it is. */
static void whole_make(struct whole *w, const struct compact_input *in,
                       const struct compact_plan *p, const struct compact_host *host)
{
    *w = (struct whole){.made = {0}};
    for (size_t i = 0; i < in->count; i++) {
        bool found;
        if (!host->tool_result || p->fates.items[i] != FATE_GOES ||
            in->messages[i].role != ROLE_TOOL)
            continue;
        struct message m = restored(in, i, host, &found);
        if (found)
            whole_put(w, in, i, m);
    }
}

static void whole_release(struct whole *w)
{
    for (size_t i = 0; i < w->made.len; i++)
        message_release(&w->items.items[w->made.items[i]]);
    vec_release(&w->made);
    vec_release(&w->items);
}

/* --- a summary by the model ------------------------------------------------------------------ */

static enum summary_result ask(struct attempt *a, bool sectionless, char **text,
                               struct failure *failure)
{
    struct whole whole;
    struct compact_input input = a->input;
    whole_make(&whole, &a->input, &a->plan, a->host);
    if (whole.made.len > 0)
        input.messages = whole.items.items;
    const struct summary_job job = {.mode = a->job->mode,
                                    .input = &input,
                                    .plan = &a->plan,
                                    .system = a->job->system,
                                    .focus = a->focus,
                                    .draft = a->effective == a->job->mode ? a->text : NULL,
                                    .sectionless = sectionless,
                                    .max_tokens = a->job->settings->max_summary_tokens};
    struct summary summary = {.usage = USAGE_UNKNOWN, .cost = -1};
    enum summary_result result =
        summary_make(&job, a->summariser, &a->host->summary, &summary, failure);
    whole_release(&whole);
    usage_add(&a->out->usage, &summary.usage);
    a->out->cost = usage_cost_sum(a->out->cost, summary.cost);
    a->calls += summary.calls;
    *text = summary.text;
    summary.text = NULL;
    summary_release(&summary);
    return result;
}

/* The newest that goes. The caller frees; NULL: there is none. */
static char *earlier_summary(const struct attempt *a)
{
    for (size_t i = a->input.count; i > 0; i--)
        if (a->plan.fates.items[i - 1] == FATE_GOES && a->input.messages[i - 1].summary)
            return message_text(&a->input.messages[i - 1]);
    return NULL;
}

static void complete_sections(const struct attempt *a, char **text)
{
    char *earlier = earlier_summary(a);
    char *whole = sections_complete(*text, earlier);
    free(earlier);
    free(*text);
    *text = whole;
}

/* A model that knows no sections is asked for them once more. */
static enum summary_result ask_for_sections(struct attempt *a, char **text, struct failure *failure)
{
    enum summary_result result = ask(a, false, text, failure);
    int found = result == SUMMARY_DONE ? sections_count(*text) : 0;
    if (result == SUMMARY_DONE && found < SECTIONS_LEAST) {
        free(*text);
        result = ask(a, true, text, failure);
        found = result == SUMMARY_DONE ? sections_count(*text) : 0;
    }
    if (result != SUMMARY_DONE)
        return result;
    if (found >= SECTIONS_LEAST) {
        complete_sections(a, text);
        return SUMMARY_DONE;
    }
    free(*text);
    *text = NULL;
    failure_set(failure, FAILURE_PROTOCOL,
                "the model's summary has %d of its %d sections, asked for twice; try another "
                "summary_model",
                found, SECTIONS);
    return SUMMARY_FAILED;
}

/* --- what stands in for it ------------------------------------------------------------------- */

static void set_draft(struct attempt *a, const struct compact_mode *effective, char *text,
                      char *why)
{
    free(a->text);
    free(a->why);
    a->effective = effective;
    a->text = text;
    a->why = why;
}

static bool take_extract(struct attempt *a, char *why)
{
    set_draft(a, &mode_deterministic, mode_deterministic.text(&a->input, &a->plan), why);
    return true;
}

/* After a rejected request the conversation cannot go on without a compaction: the extract stands
 * in for the summary of a mode that has no fallback. */
static bool take_fallback(struct attempt *a, const char *reason, const char *why)
{
    const struct compact_mode *fallback = a->job->mode->fallback;
    struct compact_plan plan = {0};
    a->model_failed = true;
    if (!fallback && a->job->trigger == TRIGGER_OVERFLOW)
        return take_extract(a, mem_strdup(why));
    if (!fallback || !compact_plan_make(fallback, &a->input, &plan)) {
        compact_plan_release(&plan);
        return attempt_fail(a, reason, ERR_AGENT_ERROR, "%s", why);
    }
    compact_plan_release(&a->plan);
    a->plan = plan;
    a->cut_by = fallback;
    set_draft(a, fallback, plan.gone > 0 ? fallback->text(&a->input, &plan) : NULL,
              mem_strdup(why));
    return true;
}

static bool draft_by_model(struct attempt *a)
{
    struct failure failure;
    struct error error;
    char *text = NULL;
    if (!a->summariser)
        return take_fallback(a, "llm", a->no_summariser.text);
    failure_clear(&failure);
    enum summary_result result = a->job->mode->sections ? ask_for_sections(a, &text, &failure)
                                                        : ask(a, false, &text, &failure);
    switch (result) {
    case SUMMARY_DONE:
        a->model_failed = false;
        set_draft(a, a->job->mode, text, NULL);
        return true;
    case SUMMARY_EMPTY:
        return take_fallback(a, "empty_summary", "the model's summary was empty");
    case SUMMARY_OVERFLOW:
        return take_extract(
            a,
            mem_printf("what was to be summarised was too long for the model: %s", failure.text));
    case SUMMARY_CANCELLED:
        return attempt_cancel(a);
    case SUMMARY_FAILED:
        break;
    }
    failure_error(&failure, &error);
    return take_fallback(a, "llm", error.text);
}

static bool attempt_draft(struct attempt *a)
{
    /* What a fallback cut stays cut so: the model has failed this attempt once. */
    if (a->cut_by->prompt && a->plan.gone > 0)
        return draft_by_model(a);
    if (a->plan.gone > 0)
        set_draft(a, a->cut_by, a->cut_by->text(&a->input, &a->plan),
                  a->why ? mem_strdup(a->why) : NULL);
    return true;
}

/* --- the messages ---------------------------------------------------------------------------- */

static char *draft_text(const struct attempt *a)
{
    const char *prefix = a->effective->prefix;
    if (!a->text || !prefix)
        return mem_strdup(a->text);
    return mem_printf("%s\n\n%s", prefix, a->text);
}

static void attempt_rebuild(const struct attempt *a, struct rebuild *out)
{
    if (a->micro) {
        compact_micro(&a->input, out);
        return;
    }
    char *text = draft_text(a);
    compact_plan_rebuild(a->cut_by, &a->input, &a->plan, text, out);
    free(text);
}

/* Of a summary that the user wrote: what one message may hold. */
#define EDITED_BYTES ((size_t)16 * 1024 * 1024)

/* --- what is to be done: pure ---------------------------------------------------------------- */

enum step { STEP_NOTHING, STEP_MICRO, STEP_MODE };

/* Tokens of the next request that no compaction takes away. */
static int64_t least_request(const struct attempt *a)
{
    int64_t tokens = a->job->overhead;
    for (size_t i = 0; i < a->input.count; i++)
        if (compact_is_held(&a->input, i))
            tokens += a->input.estimates[i];
    return tokens;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Tokens, as we estimate them, of a request that has as many bytes as one may. What was rejected
 * tells how many bytes of the body one of these tokens is, images and all; where it has no more
 * than we know of, it is the server's limit that we do not know. */
static int64_t tokens_in_bytes(const struct attempt *a)
{
    const struct compact_job *job = a->job;
    int64_t most = job->limits.max_bytes, rejected = job->body_bytes;
    int64_t whole = a->tokens_before + job->overhead;
    if (rejected <= 0)
        return most > 0 ? most / 4 : INT64_MAX;
    if (most <= 0 || rejected <= most)
        return whole;
    return (int64_t)((double)whole * ((double)most / (double)rejected));
}

/* Tokens that no request can have. */
static int64_t most_tokens(const struct attempt *a)
{
    int64_t window = a->job->limits.window;
    return lesser(window > 0 ? window : INT64_MAX, tokens_in_bytes(a));
}

/* The messages would be given away for nothing. */
static bool is_hopeless(const struct attempt *a)
{
    return a->job->must_fit && least_request(a) >= most_tokens(a);
}

/* A request that does not fit has to, with room to go on in: of what the window has for messages,
 * the same part that is enough for micro-compaction. */
static int64_t must_fit(const struct attempt *a)
{
    const struct compact_job *job = a->job;
    if (!job->must_fit || is_hopeless(a))
        return 0;
    int64_t window = compact_effective_window(job->settings, &job->limits);
    int64_t room = lesser(window > 0 ? window - job->overhead : a->tokens_before,
                          tokens_in_bytes(a) - job->overhead);
    int64_t most = (int64_t)((double)room * job->settings->target_percent);
    int64_t below = a->input.threshold - a->input.threshold / 10;
    if (most > below)
        most = below;
    return most > 0 ? most : 1;
}

/* It happens for nothing but a request. */
static bool is_for_request(const struct compact_job *job)
{
    return job->trigger == TRIGGER_REQUEST || job->trigger == TRIGGER_OVERFLOW;
}

/* It is the new message alone that is too much, and it will go with its turn. */
static bool is_for_question(const struct attempt *a)
{
    const struct compact_input *in = &a->input;
    return in->open < in->count && least_request(a) - in->estimates[in->open] < most_tokens(a);
}

/* Otherwise the history is long by itself, too, and becomes what it would have become. */
static bool is_for_nothing(const struct attempt *a)
{
    return is_hopeless(a) && (is_for_request(a->job) || is_for_question(a));
}

/* Of a request that did not fit, our estimates say nothing where no window is known. */
static bool micro_may_be_enough(const struct compact_job *job)
{
    return job->trigger != TRIGGER_MANUAL &&
           (job->trigger != TRIGGER_OVERFLOW || job->limits.window > 0);
}

static bool micro_is_enough(const struct attempt *a, int64_t after)
{
    const struct compact_job *job = a->job;
    return micro_may_be_enough(job) && (a->input.fit == 0 || after <= a->input.fit) &&
           compact_micro_enough(&a->input, compact_effective_window(job->settings, &job->limits),
                                after);
}

static bool is_asked_for(const struct compact_job *job)
{
    return job->trigger == TRIGGER_MANUAL || job->trigger == TRIGGER_OVERFLOW;
}

static struct compact_prospect prospect(const struct attempt *a, int64_t after)
{
    enum compact_trigger trigger = a->job->trigger;
    return (struct compact_prospect){.before = a->tokens_before,
                                     .after = after,
                                     .overhead = a->job->overhead,
                                     .for_history = trigger == TRIGGER_INPUT_TOKENS ||
                                                    trigger == TRIGGER_ESTIMATE,
                                     .for_request = a->job->must_fit};
}

static bool is_worth(const struct attempt *a, int64_t after)
{
    const struct compact_prospect p = prospect(a, after);
    return compact_is_worth(a->job->settings, &a->job->limits, &p);
}

static bool mode_is_worth(struct attempt *a)
{
    const struct compact_mode *mode = a->job->mode;
    return compact_plan_make(mode, &a->input, &a->plan) &&
           (is_asked_for(a->job) || is_worth(a, compact_foresee(mode, &a->input, &a->plan)));
}

/* Who asks by hand asks for the mode; shortened tool results must do where it finds nothing. */
static enum step choose(struct attempt *a)
{
    struct rebuild micro = {0};
    if (is_for_nothing(a))
        return STEP_NOTHING;
    bool can_shorten = compact_micro(&a->input, &micro);
    int64_t shortened = rebuild_estimate(&micro, a->input.estimates);
    rebuild_release(&micro);
    if (a->job->micro_only)
        return can_shorten ? STEP_MICRO : STEP_NOTHING;
    bool micro_is_worth = can_shorten && (is_asked_for(a->job) || is_worth(a, shortened));
    if (micro_is_worth && micro_is_enough(a, shortened))
        return STEP_MICRO;
    if (mode_is_worth(a))
        return STEP_MODE;
    if (micro_is_worth)
        return STEP_MICRO;
    a->not_worth = !is_asked_for(a->job);
    return STEP_NOTHING;
}

static bool needs_model(const struct attempt *a)
{
    return !a->micro && a->job->mode->prompt && a->plan.gone > 0;
}

/* --- the effects ----------------------------------------------------------------------------- */

static char *why_nothing(const struct attempt *a, enum err_code *code)
{
    static const char question_too_long[] =
        "what has to stay (the new message, pinned ones, system prompt, tools) takes some %lld "
        "tokens, and a request must have fewer than %lld; shorten the message, unpin some, or "
        "choose a model with a larger window";
    static const char rest_too_long[] =
        "what has to stay besides a new message (pinned ones, system prompt, tools) takes all of "
        "the %lld tokens of a request; unpin some, or choose a model with a larger window";
    const struct compact_prospect as_it_is = prospect(a, a->tokens_before);
    *code = a->input.count == 0 ? ERR_NOTHING_TO_COMPACT : ERR_AGENT_ERROR;
    if (a->input.count == 0)
        return mem_strdup("nothing to compact; say something first");
    if (a->not_worth)
        return compact_obstacle(a->job->mode, &a->input, &a->job->limits, &as_it_is);
    if (is_for_nothing(a) && is_for_question(a))
        return mem_printf(question_too_long, (long long)least_request(a),
                          (long long)most_tokens(a));
    if (is_for_nothing(a))
        return mem_printf(rest_too_long, (long long)most_tokens(a));
    *code = ERR_TOO_SMALL_TO_COMPACT;
    return mem_strdup(
        "this mode keeps all that there is; choose another, or go on until there is more");
}

/* A request that did not fit makes the attempt worth a word: it is why the turn will fail. The same
 * word is not said twice. */
static bool is_worth_telling(const struct attempt *a, const char *why)
{
    const char *told = a->job->history->compaction.obstacle;
    return is_for_request(a->job) && !a->not_worth && !(told && strcmp(told, why) == 0);
}

static void tell_nothing(struct attempt *a)
{
    enum err_code code;
    char *text = why_nothing(a, &code);
    if (is_worth_telling(a, text) && attempt_tell_started(a))
        attempt_fail(a, "too_small", code, "%s", text);
    if (!a->lost) {
        a->out->result = a->not_worth ? COMPACT_NOT_WORTH : COMPACT_NOTHING;
        err_set(&a->out->error, code, "%s", text);
    }
    free(text);
}

static void find_summariser(struct attempt *a)
{
    if (!needs_model(a))
        return;
    a->summariser = a->host->summariser(a->host->summary.context, &a->no_summariser);
    a->label = a->summariser ? a->summariser->label : a->job->label;
}

static struct draft_verdict show_draft(struct attempt *a)
{
    struct rebuild r = {0};
    attempt_rebuild(a, &r);
    bool whole = a->job->request > 0;
    int64_t after = rebuild_estimate(&r, a->input.estimates);
    const struct draft draft = {.text = a->text,
                                .mode = a->effective->name,
                                .model = a->effective->prompt ? a->label : NULL,
                                .tokens_before = whole ? a->job->request : a->tokens_before,
                                .tokens_after = whole ? attempt_request_after(a, after) : after,
                                .messages_before = (int)a->input.count,
                                .messages_after = (int)rebuild_count(&r)};
    rebuild_release(&r);
    int64_t asked_ms = clock_mono_ms();
    struct draft_verdict verdict = a->host->review(a->host->summary.context, &draft);
    a->waited_ms += clock_mono_ms() - asked_ms;
    return verdict;
}

/* The user's own words instead. False: nothing is left, which is a way to say no. */
static bool take_edit(struct attempt *a, const char *edited)
{
    const struct block b = {.type = BLOCK_TEXT, .text = (char *)edited};
    char *text = summary_text(&b, 1, EDITED_BYTES, false);
    if (!text)
        return false;
    a->changed = strcmp(text, a->text) != 0;
    free(a->text);
    a->text = text;
    return true;
}

/* What was said before holds on. */
static void add_focus(struct attempt *a, const char *focus)
{
    if (utf8_is_blank(focus))
        return;
    char *joined = a->focus ? mem_printf("%s\n%s", a->focus, focus) : mem_strdup(focus);
    free(a->focus);
    a->focus = joined;
}

/* A draft that may be committed. False: told. */
static bool make_draft(struct attempt *a)
{
    for (;;) {
        if (!attempt_draft(a) || !attempt_goes_on(a))
            return false;
        if (!a->job->preview || !a->host->review || !a->text)
            return true;
        struct draft_verdict verdict = show_draft(a);
        bool refused =
            verdict.answer == DRAFT_REFUSE ||
            (verdict.answer == DRAFT_COMMIT && verdict.text && !take_edit(a, verdict.text));
        if (verdict.answer == DRAFT_AGAIN)
            add_focus(a, verdict.text);
        free(verdict.text);
        if (refused)
            return attempt_cancel(a);
        if (!attempt_goes_on(a))
            return false;
        if (verdict.answer == DRAFT_COMMIT)
            return true;
    }
}

/* Of messages that could not be read nothing is made. */
static bool is_read(struct attempt *a)
{
    const struct message_source *source = a->input.source;
    return !source || !source->failed ||
           attempt_fail(a, "store", source->fault.code, "%s", source->fault.text);
}

static void commit(struct attempt *a, const struct rebuild *r)
{
    struct event *ev = attempt_completed(a, r);
    struct error e = {0};
    if (ev->compaction.tokens_after >= a->tokens_before) {
        event_free(ev);
        attempt_fail(a, "too_small", ERR_TOO_SMALL_TO_COMPACT,
                     "the history would not become shorter; go on until there is more");
        return;
    }
    enum commit_result result = a->host->commit(a->host->summary.context, ev, &e);
    if (result == COMMIT_DONE) {
        a->out->result = COMPACT_DONE;
        return;
    }
    event_free(ev);
    attempt_fail(a, result == COMMIT_FAILED ? "store" : "memory_indexing", e.code, "%s", e.text);
}

static void climb(struct attempt *a, enum step step)
{
    struct rebuild r = {0};
    a->micro = step == STEP_MICRO;
    find_summariser(a);
    if (!attempt_tell_started(a) || !attempt_goes_on(a))
        return;
    if (!a->micro && !make_draft(a))
        return;
    attempt_rebuild(a, &r);
    if (is_read(a))
        commit(a, &r);
    rebuild_release(&r);
}

void compact_run(const struct compact_job *job, const struct compact_host *host,
                 struct compact_outcome *out)
{
    const struct history *h = job->history;
    struct attempt a = {.job = job,
                        .host = host,
                        .out = out,
                        .cut_by = job->mode,
                        .effective = job->mode,
                        .last_seq = h->applied_seq,
                        .started_ms = clock_mono_ms()};
    a.tokens_before = h->estimate;
    a.input = compact_input_of(h, job->settings, &job->limits);
    a.input.fit = must_fit(&a);
    *out = (struct compact_outcome){.usage = USAGE_UNKNOWN, .cost = -1};
    add_focus(&a, job->focus);
    enum step step = choose(&a);
    if (step == STEP_NOTHING)
        tell_nothing(&a);
    else
        climb(&a, step);
    compact_plan_release(&a.plan);
    free(a.text);
    free(a.why);
    free(a.focus);
}
