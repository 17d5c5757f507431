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

/* Limit of a summary that the user wrote: the size of one message. */
#define EDITED_BYTES ((size_t)16 * 1024 * 1024)

struct attempt {
    const struct compact_job *job;
    const struct compact_host *host;
    struct compact_outcome *out;
    struct compact_input input;
    struct compact_plan plan; /* made by `cut_by` */
    bool micro;               /* only tool results are shortened */
    bool not_worth;           /* it would free too little to begin by itself */
    const char *label;        /* of the model that is asked for summaries; NULL: none */
    const struct summariser *summariser;
    struct error no_summariser;
    int64_t tokens_before, last_seq, started_ms;
    int64_t waited_ms; /* for the user's review */
    int calls;         /* of the model */

    /* The draft. */
    const struct compact_mode *cut_by;    /* the job's mode or its fallback */
    const struct compact_mode *effective; /* the mode that wrote the text */
    char *text;                           /* without the mode's prefix; NULL: none */
    char *why;                            /* why `effective` is not the job's mode; NULL: it is */
    char *focus;                          /* the user's words so far; NULL: none */
    bool changed;                         /* by the user */
    bool model_failed;                    /* the text is that of a fallback */
    bool lost;                            /* emit() failed */
};

/* --- events ----------------------------------------------------------------------------------- */

/* A mode that lets nothing go only shortens tool results, as micro-compaction does. */
static const char *stage_name(const struct attempt *a)
{
    return a->micro || a->plan.gone == 0 ? "micro" : "summary";
}

static bool tell(struct attempt *a, struct event *ev)
{
    struct error lost = {0};
    if (a->lost) {
        event_free(ev);
        return false;
    }
    if (a->host->emit(a->host->summary.context, ev, &lost))
        return true;
    a->lost = true;
    a->out->result = COMPACT_LOST;
    a->out->error = lost;
    return false;
}

static bool tell_started(struct attempt *a)
{
    struct event *ev = event_new(EVENT_COMPACTION_STARTED);
    struct compaction *c = &ev->compaction;
    c->mode = mem_strdup(a->job->mode->name);
    c->stage = mem_strdup(stage_name(a));
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

/* The breaker counts by the model that the mode would ask, also where the attempt ended earlier. */
static const char *breaker_model(const struct attempt *a)
{
    return a->label || !a->job->mode->prompt ? a->label : a->job->label;
}

static void count_failure(const struct attempt *a, const char *reason, struct compaction *c)
{
    const char *model = breaker_model(a);
    const struct compact_failure_count count =
        compact_count_failure(a->job->settings, &a->job->history->compaction, a->job->mode->name,
                              model ? model : "", reason, a->calls > 0);
    c->failures = count.failures;
    c->suspended = count.suspended;
}

static void add_use(const struct attempt *a, struct event *ev)
{
    ev->usage = a->out->usage;
    ev->used = a->out->cost;
    ev->number = clock_mono_ms() - a->started_ms - a->waited_ms;
}

/* Tokens of the whole next request with a history of so many tokens; 0: unknown. */
static int64_t request_after(const struct attempt *a, int64_t history)
{
    const struct compact_job *job = a->job;
    return job->request > 0 ? request_resized(job->request, job->overhead + a->tokens_before,
                                              job->overhead + history)
                            : 0;
}

static struct event *completed_event(const struct attempt *a, const struct rebuild *r)
{
    struct event *ev = event_new(EVENT_COMPACTION_COMPLETED);
    struct compaction *c = &ev->compaction;
    AUTO(vec_release_local) struct index_list dropped = {0};
    rebuild_dropped(r, a->input.count, &dropped);
    c->mode = mem_strdup(a->job->mode->name);
    c->effective_mode = mem_strdup(a->effective->name);
    c->stage = mem_strdup(stage_name(a));
    c->trigger = mem_strdup(compact_trigger_name(a->job->trigger));
    c->history = rebuild_to_json(r);
    c->dropped = rebuild_dropped_events(r, a->input.messages, a->input.count, a->last_seq);
    c->summary_tokens = a->text ? ((int64_t)strlen(a->text) + 3) / 4 : 0;
    c->tokens_before = a->tokens_before;
    c->tokens_after = rebuild_estimate(r, a->input.estimates);
    c->request_before = a->job->request;
    c->request_after = request_after(a, c->tokens_after);
    c->messages_before = (int)a->input.count;
    c->messages_after = (int)rebuild_count(r);
    c->messages_dropped = (int)dropped.items.len;
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

/* Ends the attempt with this `reason` of struct compaction. Returns false. */
__attribute__((format(printf, 4, 5))) static bool fail(struct attempt *a, const char *reason,
                                                       enum err_code code, const char *format, ...)
{
    struct error *e = &a->out->error;
    char text[sizeof e->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (a->lost)
        return false;
    a->out->result = COMPACT_FAILED;
    err_set(e, code, "%s", text);
    struct event *ev = event_new(EVENT_COMPACTION_FAILED);
    ev->compaction.mode = mem_strdup(a->job->mode->name);
    ev->compaction.reason = mem_strdup(reason);
    count_failure(a, reason, &ev->compaction);
    ev->text = mem_strdup(e->text);
    if (code != ERR_AGENT_ERROR)
        ev->name = mem_strdup(err_info(code)->name);
    ev->model = mem_strdup(breaker_model(a));
    add_use(a, ev);
    tell(a, ev);
    return false;
}

static bool cancel(struct attempt *a)
{
    fail(a, "cancelled", ERR_INTERRUPTED, "the compaction was cancelled");
    if (!a->lost)
        a->out->result = COMPACT_CANCELLED;
    return false;
}

/* False: the user cancelled, and the event is out. */
static bool goes_on(struct attempt *a)
{
    return a->host->summary.go_on(a->host->summary.context) || cancel(a);
}

/* --- a summary by the model ------------------------------------------------------------------- */

/* The messages of the conversation with whole tool results where earlier compactions shortened
 * them. */
struct restored {
    VEC(struct message) messages; /* none: nothing was shortened; owned are those in `made` */
    VEC(size_t) made;
};

/* A result that the host does not know stays as it is. */
static void restore_results(const struct attempt *a, struct restored *out)
{
    const struct compact_input *in = &a->input;
    const struct compact_host *host = a->host;
    for (size_t i = 0; host->tool_result && i < in->count; i++) {
        struct message room;
        bool found = false;
        if (a->plan.fates.items[i] != FATE_GOES || in->messages[i].role != ROLE_TOOL)
            continue;
        const struct message *m = message_whole(in->source, &in->messages[i], &room);
        for (size_t k = 0; k < m->blocks.len && !found; k++)
            found = compact_is_shortened(&m->blocks.items[k]);
        struct message whole = found ? message_clone(m) : message_without_blocks(m);
        message_release(&room);
        for (size_t k = 0; k < whole.blocks.len; k++) {
            struct block *b = &whole.blocks.items[k];
            char *text = compact_is_shortened(b)
                             ? host->tool_result(host->summary.context, whole.seq, b->id)
                             : NULL;
            if (!text)
                continue;
            free(b->text);
            b->text = text;
        }
        if (!found)
            continue;
        for (size_t k = out->messages.len; k < in->count; k++)
            vec_push(&out->messages, in->messages[k]);
        out->messages.items[i] = whole;
        vec_push(&out->made, i);
    }
}

static enum summary_result ask(struct attempt *a, bool sectionless, char **text,
                               struct failure *failure)
{
    struct restored restored = {.made = {0}};
    struct compact_input input = a->input;
    restore_results(a, &restored);
    if (restored.made.len > 0)
        input.messages = restored.messages.items;
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
    for (size_t i = 0; i < restored.made.len; i++)
        message_release(&restored.messages.items[restored.made.items[i]]);
    vec_release(&restored.made);
    vec_release(&restored.messages);
    usage_add(&a->out->usage, &summary.usage);
    a->out->cost = usage_cost_sum(a->out->cost, summary.cost);
    a->calls += summary.calls;
    *text = summary.text;
    return result;
}

/* A model that leaves the sections out is asked for them once more. Sections that its answer lacks
 * are those of the newest earlier summary. */
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
    auto_free char *answer = *text, *earlier = NULL;
    *text = NULL;
    if (found < SECTIONS_LEAST) {
        failure_set(failure, FAILURE_PROTOCOL,
                    "the model's summary has %d of its %d sections, asked for twice; try another "
                    "summary_model",
                    found, SECTIONS);
        return SUMMARY_FAILED;
    }
    for (size_t i = a->input.count; i > 0 && !earlier; i--)
        if (a->plan.fates.items[i - 1] == FATE_GOES && a->input.messages[i - 1].summary)
            earlier = message_text(&a->input.messages[i - 1]);
    *text = sections_complete(answer, earlier);
    return SUMMARY_DONE;
}

/* --- the draft -------------------------------------------------------------------------------- */

/* Takes `text` and `why`. */
static bool set_draft(struct attempt *a, const struct compact_mode *effective, char *text,
                      char *why)
{
    free(a->text);
    free(a->why);
    a->effective = effective;
    a->text = text;
    a->why = why;
    return true;
}

static bool use_extract(struct attempt *a, char *why)
{
    return set_draft(a, &mode_deterministic, mode_deterministic.text(&a->input, &a->plan), why);
}

/* After a rejected request the conversation cannot go on without a compaction: the extract stands
 * in for the summary of a mode that has no fallback. */
static bool use_fallback(struct attempt *a, const char *reason, const char *why)
{
    const struct compact_mode *fallback = a->job->mode->fallback;
    struct compact_plan plan = {0};
    a->model_failed = true;
    if (!fallback && a->job->trigger == TRIGGER_OVERFLOW)
        return use_extract(a, mem_strdup(why));
    if (!fallback || !compact_plan_make(fallback, &a->input, &plan)) {
        compact_plan_release(&plan);
        return fail(a, reason, ERR_AGENT_ERROR, "%s", why);
    }
    compact_plan_release(&a->plan);
    a->plan = plan;
    a->cut_by = fallback;
    return set_draft(a, fallback, plan.gone > 0 ? fallback->text(&a->input, &plan) : NULL,
                     mem_strdup(why));
}

/* An earlier draft is the one that the user wants changed. The plan of a fallback is kept: the
 * model has failed this attempt once. */
static bool draft(struct attempt *a)
{
    struct failure failure;
    struct error error;
    char *text = NULL;
    if (a->plan.gone == 0)
        return true;
    if (!a->cut_by->prompt)
        return set_draft(a, a->cut_by, a->cut_by->text(&a->input, &a->plan), mem_strdup(a->why));
    if (!a->summariser)
        return use_fallback(a, "llm", a->no_summariser.text);
    failure_clear(&failure);
    switch (a->job->mode->sections ? ask_for_sections(a, &text, &failure)
                                   : ask(a, false, &text, &failure)) {
    case SUMMARY_DONE:
        a->model_failed = false;
        return set_draft(a, a->job->mode, text, NULL);
    case SUMMARY_EMPTY:
        return use_fallback(a, "empty_summary", "the model's summary was empty");
    case SUMMARY_OVERFLOW:
        return use_extract(a, mem_printf("what was to be summarised was too long for the model: %s",
                                         failure.text));
    case SUMMARY_CANCELLED:
        return cancel(a);
    case SUMMARY_FAILED:
        break;
    }
    failure_error(&failure, &error);
    return use_fallback(a, "llm", error.text);
}

static void rebuild_history(const struct attempt *a, struct rebuild *out)
{
    const char *prefix = a->effective->prefix;
    if (a->micro) {
        compact_micro(&a->input, out);
        return;
    }
    auto_free char *text =
        a->text && prefix ? mem_printf("%s\n\n%s", prefix, a->text) : mem_strdup(a->text);
    compact_plan_rebuild(a->cut_by, &a->input, &a->plan, text, out);
}

/* --- what is to be done: pure ----------------------------------------------------------------- */

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

/* The limit of bytes in tokens as we estimate them. A rejected request tells how many bytes of the
 * body a token is, images included. One that was within the known limit was rejected by a limit
 * that we do not know: its own size is the most. */
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

/* A request must have fewer tokens than this. */
static int64_t request_limit(const struct attempt *a)
{
    int64_t window = a->job->limits.window;
    return compact_lesser(window > 0 ? window : INT64_MAX, tokens_in_bytes(a));
}

/* No compaction would make the request fit. */
static bool is_hopeless(const struct attempt *a)
{
    return a->job->must_fit && least_request(a) >= request_limit(a);
}

/* Tokens that the history may have; 0: no limit. A request that does not fit gets room to go on in:
 * the share of the window that is enough for micro-compaction. */
static int64_t history_limit(const struct attempt *a)
{
    const struct compact_job *job = a->job;
    if (!job->must_fit || is_hopeless(a))
        return 0;
    int64_t window = compact_effective_window(job->settings, &job->limits);
    int64_t room = compact_lesser(window > 0 ? window - job->overhead : a->tokens_before,
                                  tokens_in_bytes(a) - job->overhead);
    int64_t most = compact_lesser((int64_t)((double)room * job->settings->target_percent),
                                  a->input.threshold - a->input.threshold / 10);
    return most > 0 ? most : 1;
}

static bool is_for_request(const struct compact_job *job)
{
    return job->trigger == TRIGGER_REQUEST || job->trigger == TRIGGER_OVERFLOW;
}

/* Only the new message is too long. It goes with its turn. */
static bool is_question_too_long(const struct attempt *a)
{
    const struct compact_input *in = &a->input;
    return in->open < in->count && least_request(a) - in->estimates[in->open] < request_limit(a);
}

/* Messages would be given away for nothing. A history that is too long by itself is compacted
 * anyway. */
static bool is_pointless(const struct attempt *a)
{
    return is_hopeless(a) && (is_for_request(a->job) || is_question_too_long(a));
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

/* A compaction that is asked for is always worth it. */
static bool is_worth(const struct attempt *a, int64_t after)
{
    const struct compact_prospect p = prospect(a, after);
    return is_asked_for(a->job) || compact_is_worth(a->job->settings, &a->job->limits, &p);
}

/* Shortened tool results must do where the mode finds nothing. */
static enum step choose(struct attempt *a)
{
    const struct compact_job *job = a->job;
    const struct compact_mode *mode = job->mode;
    struct rebuild micro = {0};
    if (is_pointless(a))
        return STEP_NOTHING;
    bool can_shorten = compact_micro(&a->input, &micro);
    int64_t shortened = rebuild_estimate(&micro, a->input.estimates);
    rebuild_release(&micro);
    if (job->micro_only)
        return can_shorten ? STEP_MICRO : STEP_NOTHING;
    bool is_micro_worth = can_shorten && is_worth(a, shortened);
    /* By hand the user asks for the mode. Where no window is known, our estimates say nothing of a
     * request that was rejected. */
    bool chooses = job->trigger != TRIGGER_MANUAL &&
                   (job->trigger != TRIGGER_OVERFLOW || job->limits.window > 0);
    if (is_micro_worth && chooses && (a->input.fit == 0 || shortened <= a->input.fit) &&
        compact_micro_enough(&a->input, compact_effective_window(job->settings, &job->limits),
                             shortened))
        return STEP_MICRO;
    if (compact_plan_make(mode, &a->input, &a->plan) &&
        is_worth(a, compact_tokens_after(mode, &a->input, &a->plan)))
        return STEP_MODE;
    if (is_micro_worth)
        return STEP_MICRO;
    a->not_worth = !is_asked_for(job);
    return STEP_NOTHING;
}

/* --- the effects ------------------------------------------------------------------------------ */

/* An event tells why a request that did not fit will fail its turn; the same text is told once. */
static void end_with_nothing(struct attempt *a)
{
    enum err_code code = ERR_AGENT_ERROR;
    auto_free char *text = NULL;
    if (a->input.count == 0) {
        code = ERR_NOTHING_TO_COMPACT;
        text = mem_strdup("nothing to compact; say something first");
    } else if (a->not_worth) {
        const struct compact_prospect unchanged = prospect(a, a->tokens_before);
        text = compact_why_not_worth(a->job->mode, &a->input, &a->job->limits, &unchanged);
    } else if (is_pointless(a) && is_question_too_long(a)) {
        text = mem_printf(
            "what has to stay (the new message, pinned ones, system prompt, tools) "
            "takes some %lld tokens, and a request must have fewer than %lld; "
            "shorten the message, unpin some, or choose a model with a larger window",
            (long long)least_request(a), (long long)request_limit(a));
    } else if (is_pointless(a)) {
        text = mem_printf(
            "what has to stay besides a new message (pinned ones, system prompt, "
            "tools) takes all of the %lld tokens of a request; unpin some, or choose "
            "a model with a larger window",
            (long long)request_limit(a));
    } else {
        code = ERR_TOO_SMALL_TO_COMPACT;
        text = mem_strdup(
            "this mode keeps all that there is; choose another, or go on until there is more");
    }
    const char *told = a->job->history->compaction.obstacle;
    if (is_for_request(a->job) && !a->not_worth && !(told && strcmp(told, text) == 0) &&
        tell_started(a))
        fail(a, "too_small", code, "%s", text);
    if (a->lost)
        return;
    a->out->result = a->not_worth ? COMPACT_NOT_WORTH : COMPACT_NOTHING;
    err_set(&a->out->error, code, "%s", text);
}

static struct draft_verdict show_draft(struct attempt *a)
{
    struct rebuild r = {0};
    rebuild_history(a, &r);
    bool whole = a->job->request > 0;
    int64_t after = rebuild_estimate(&r, a->input.estimates);
    const struct draft shown = {.text = a->text,
                                .mode = a->effective->name,
                                .model = a->effective->prompt ? a->label : NULL,
                                .tokens_before = whole ? a->job->request : a->tokens_before,
                                .tokens_after = whole ? request_after(a, after) : after,
                                .messages_before = (int)a->input.count,
                                .messages_after = (int)rebuild_count(&r)};
    rebuild_release(&r);
    int64_t asked_ms = clock_mono_ms();
    struct draft_verdict verdict = a->host->review(a->host->summary.context, &shown);
    a->waited_ms += clock_mono_ms() - asked_ms;
    return verdict;
}

/* Each focus is added to those before. */
static void add_focus(struct attempt *a, const char *focus)
{
    if (utf8_is_blank(focus))
        return;
    char *joined = a->focus ? mem_printf("%s\n%s", a->focus, focus) : mem_strdup(focus);
    free(a->focus);
    a->focus = joined;
}

/* Makes drafts until one may be committed. False: the event of the failure is out. */
static bool agree_on_draft(struct attempt *a)
{
    for (;;) {
        if (!draft(a) || !goes_on(a))
            return false;
        if (!a->job->preview || !a->host->review || !a->text)
            return true;
        struct draft_verdict verdict = show_draft(a);
        auto_free char *said = verdict.text;
        bool edited = verdict.answer == DRAFT_COMMIT && said;
        const struct block b = {.type = BLOCK_TEXT, .text = said};
        char *text = edited ? summary_text(&b, 1, EDITED_BYTES, false) : NULL;
        if (verdict.answer == DRAFT_REFUSE || (edited && !text)) /* empty: a way to refuse */
            return cancel(a);
        if (edited) {
            a->changed = strcmp(text, a->text) != 0;
            free(a->text);
            a->text = text;
        }
        if (verdict.answer == DRAFT_AGAIN)
            add_focus(a, said);
        if (!goes_on(a))
            return false;
        if (verdict.answer == DRAFT_COMMIT)
            return true;
    }
}

static void commit(struct attempt *a)
{
    const struct message_source *source = a->input.source;
    struct rebuild r = {0};
    struct error e = {0};
    rebuild_history(a, &r);
    struct event *ev = completed_event(a, &r);
    rebuild_release(&r);
    if (source && source->failed) { /* some messages could not be read */
        event_free(ev);
        fail(a, "store", source->fault.code, "%s", source->fault.text);
        return;
    }
    if (ev->compaction.tokens_after >= a->tokens_before) {
        event_free(ev);
        fail(a, "too_small", ERR_TOO_SMALL_TO_COMPACT,
             "the history would not become shorter; go on until there is more");
        return;
    }
    enum commit_result result = a->host->commit(a->host->summary.context, ev, &e);
    if (result == COMMIT_DONE) {
        a->out->result = COMPACT_DONE;
        return;
    }
    event_free(ev);
    fail(a, result == COMMIT_FAILED ? "store" : "memory_indexing", e.code, "%s", e.text);
}

void compact_run(const struct compact_job *job, const struct compact_host *host,
                 struct compact_outcome *out)
{
    struct attempt a = {.job = job,
                        .host = host,
                        .out = out,
                        .input = compact_input_of(job->history, job->settings, &job->limits),
                        .cut_by = job->mode,
                        .effective = job->mode,
                        .tokens_before = job->history->estimate,
                        .last_seq = job->history->applied_seq,
                        .started_ms = clock_mono_ms()};
    a.input.kept = job->kept;
    a.input.fit = history_limit(&a);
    *out = (struct compact_outcome){.usage = USAGE_UNKNOWN, .cost = -1};
    add_focus(&a, job->focus);
    enum step step = choose(&a);
    a.micro = step == STEP_MICRO;
    if (step == STEP_NOTHING) {
        end_with_nothing(&a);
    } else if (!a.micro && host->admit && !host->admit(host->summary.context, &out->error)) {
        out->result = out->error.code == ERR_FORBIDDEN ? COMPACT_NOT_WORTH : COMPACT_CANCELLED;
    } else {
        if (!a.micro && job->mode->prompt && a.plan.gone > 0) {
            a.summariser = host->summariser(host->summary.context, &a.no_summariser);
            a.label = a.summariser ? a.summariser->label : job->label;
        }
        if (tell_started(&a) && goes_on(&a) && (a.micro || agree_on_draft(&a)))
            commit(&a);
    }
    compact_plan_release(&a.plan);
    free(a.text);
    free(a.why);
    free(a.focus);
}
