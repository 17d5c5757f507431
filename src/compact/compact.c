#include "compact/compact.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "compact/attempt.h"
#include "compact/summary_text.h"

/* Of a summary that the user wrote: what one message may hold. */
#define EDITED_BYTES ((size_t)16 * 1024 * 1024)

/* --- what is to be done: pure ---------------------------------------------------------------- */

enum step { STEP_NOTHING, STEP_MICRO, STEP_MODE };

static int64_t estimate_all(struct attempt *a, int64_t *estimates)
{
    int64_t sum = 0;
    for (size_t i = 0; i < a->input.count; i++) {
        estimates[i] = message_estimate_tokens(&a->input.messages[i]);
        sum += estimates[i];
    }
    return sum;
}

/* A request that does not fit has to, with room to go on in: the same part of the window that is
 * enough for micro-compaction. */
static int64_t must_fit(const struct compact_job *job, int64_t estimate)
{
    if (!job->must_fit)
        return 0;
    int64_t window = compact_effective_window(job->settings, &job->limits);
    double room = (double)(window > 0 ? window : estimate + job->overhead);
    int64_t most = (int64_t)(room * job->settings->target_percent) - job->overhead;
    return most > 0 ? most : 1;
}

/* Of a request that did not fit, our estimates say nothing where no window is known. */
static bool micro_may_be_enough(const struct compact_job *job)
{
    return job->trigger != TRIGGER_MANUAL &&
           (job->trigger != TRIGGER_OVERFLOW || job->limits.window > 0);
}

static bool micro_is_enough(const struct attempt *a, const struct rebuild *micro)
{
    const struct compact_job *job = a->job;
    return micro_may_be_enough(job) &&
           compact_micro_enough(&a->input, compact_effective_window(job->settings, &job->limits),
                                rebuild_estimate(micro, a->input.estimates));
}

/* Who asks by hand asks for the mode; shortened tool results must do where it finds nothing. */
static enum step choose(struct attempt *a)
{
    struct rebuild micro = {0};
    enum step rest = compact_micro(&a->input, &micro) ? STEP_MICRO : STEP_NOTHING;
    bool enough = rest == STEP_MICRO && micro_is_enough(a, &micro);
    rebuild_release(&micro);
    if (enough || a->job->micro_only)
        return rest;
    return compact_plan_make(a->job->mode, &a->input, &a->plan) ? STEP_MODE : rest;
}

static bool needs_model(const struct attempt *a)
{
    return !a->micro && a->job->mode->prompt && a->plan.gone > 0;
}

/* --- the effects ----------------------------------------------------------------------------- */

/* A request that did not fit makes the attempt worth a word: it is why the turn will fail. */
static void tell_nothing(struct attempt *a)
{
    enum compact_trigger trigger = a->job->trigger;
    bool empty = a->input.count == 0;
    static const char text[] =
        "nothing to compact: TOO_SMALL_TO_COMPACT: this mode keeps all that there is";
    if ((trigger == TRIGGER_REQUEST || trigger == TRIGGER_OVERFLOW) && attempt_tell_started(a))
        attempt_fail(a, "too_small", ERR_AGENT_ERROR, "%s", text);
    if (a->lost)
        return;
    a->out->result = COMPACT_NOTHING;
    err_set(&a->out->error, ERR_AGENT_ERROR, "%s", empty ? "nothing to compact" : text);
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
    const struct draft draft = {.text = a->text,
                                .mode = a->effective->name,
                                .model = a->effective->prompt ? a->label : NULL,
                                .tokens_before = a->tokens_before,
                                .tokens_after = rebuild_estimate(&r, a->input.estimates),
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
    if (!focus || !focus[strspn(focus, " \t\r\n")])
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

static void commit(struct attempt *a, const struct rebuild *r)
{
    struct event *ev = attempt_completed(a, r);
    struct error e = {0};
    if (ev->compaction.tokens_after >= a->tokens_before) {
        event_free(ev);
        attempt_fail(a, "too_small", ERR_AGENT_ERROR,
                     "TOO_SMALL_TO_COMPACT: the history would not become shorter");
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
    commit(a, &r);
    rebuild_release(&r);
}

void compact_run(const struct compact_job *job, const struct compact_host *host,
                 struct compact_outcome *out)
{
    const struct history *h = job->history;
    int64_t *estimates = mem_alloc((h->messages.len + 1) * sizeof *estimates);
    struct attempt a = {.job = job,
                        .host = host,
                        .out = out,
                        .cut_by = job->mode,
                        .effective = job->mode,
                        .last_seq = h->applied_seq,
                        .started_ms = clock_mono_ms()};
    a.input = (struct compact_input){.messages = h->messages.items,
                                     .count = h->messages.len,
                                     .estimates = estimates,
                                     .open = h->running ? h->run_first : h->messages.len,
                                     .settings = job->settings,
                                     .threshold = compact_threshold(job->settings, &job->limits),
                                     .window = job->limits.window};
    *out = (struct compact_outcome){.usage = USAGE_UNKNOWN};
    a.tokens_before = estimate_all(&a, estimates);
    a.input.fit = must_fit(job, a.tokens_before);
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
    free(estimates);
}
