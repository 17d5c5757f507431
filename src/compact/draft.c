#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "compact/attempt.h"
#include "compact/sections.h"
#include "compact/shorten.h"

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
            a, mem_printf("what was to be summarised was too long for the model: %s",
                          failure.text));
    case SUMMARY_CANCELLED:
        return attempt_cancel(a);
    case SUMMARY_FAILED:
        break;
    }
    failure_error(&failure, &error);
    return take_fallback(a, "llm", error.text);
}

bool attempt_draft(struct attempt *a)
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

static char *whole_text(const struct attempt *a)
{
    const char *prefix = a->effective->prefix;
    if (!a->text || !prefix)
        return mem_strdup(a->text);
    return mem_printf("%s\n\n%s", prefix, a->text);
}

void attempt_rebuild(const struct attempt *a, struct rebuild *out)
{
    if (a->micro) {
        compact_micro(&a->input, out);
        return;
    }
    char *text = whole_text(a);
    compact_plan_rebuild(a->cut_by, &a->input, &a->plan, text, out);
    free(text);
}
