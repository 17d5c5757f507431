#include "compact/compact.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "compact/attempt.h"
#include "compact/prospect.h"
#include "compact/shorten.h"
#include "compact/summary_text.h"

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
