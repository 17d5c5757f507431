#include "compact/policy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "compact/mode.h"

#define BYTES_OF_TOKEN 4 /* as a request's estimate counts them */

struct bounds {
    double min, max;
    const char *min_text, *max_text;
};

static double clamped(const struct config *config, enum config_key key, const struct bounds *b,
                      struct compact_warnings *w)
{
    double value = config_real(config, key);
    bool low = value < b->min;
    if (!low && value <= b->max)
        return value;
    assert((size_t)w->count < sizeof w->text / sizeof *w->text);
    snprintf(w->text[w->count], sizeof w->text[w->count], "[compaction] %s = %.40s: %s is used",
             config_key_info(key)->name, config_string(config, key),
             low ? b->min_text : b->max_text);
    w->count++;
    return low ? b->min : b->max;
}

static int number(const struct config *config, enum config_key key)
{
    return (int)config_integer(config, key);
}

void compact_settings_read(struct compact_settings *s, const struct config *config,
                           struct compact_warnings *w)
{
    static const struct bounds percent = {0.10, 0.95, "0.10", "0.95"};
    static const struct bounds ratio = {0.05, 0.80, "0.05", "0.80"};
    *w = (struct compact_warnings){.count = 0};
    *s = (struct compact_settings){
        .mode = compact_mode_find(config_string(config, CONFIG_COMPACTION_MODE)),
        .auto_threshold = config_integer(config, CONFIG_COMPACTION_AUTO_THRESHOLD),
        .threshold_percent = clamped(config, CONFIG_COMPACTION_PERCENT, &percent, w),
        .recent_turns = number(config, CONFIG_COMPACTION_RECENT_TURNS),
        .max_summary_tokens = config_integer(config, CONFIG_COMPACTION_SUMMARY_TOKENS),
        .min_turns = number(config, CONFIG_COMPACTION_MIN_TURNS),
        .target_percent = config_real(config, CONFIG_COMPACTION_TARGET),
        .micro_bytes = config_integer(config, CONFIG_COMPACTION_MICRO_BYTES),
        .protect_head = number(config, CONFIG_COMPACTION_PROTECT_HEAD),
        .protect_tail_min = number(config, CONFIG_COMPACTION_PROTECT_TAIL),
        .prune_chars = number(config, CONFIG_COMPACTION_PRUNE_CHARS),
        .summary_ms = 1000 * config_integer(config, CONFIG_COMPACTION_SUMMARY_TIMEOUT),
        .max_failures = number(config, CONFIG_COMPACTION_MAX_FAILURES),
        .preview = config_boolean(config, CONFIG_COMPACTION_PREVIEW),
    };
    s->tail_ratio = clamped(config, CONFIG_COMPACTION_TAIL_RATIO, &ratio, w);
}

const char *compact_trigger_name(enum compact_trigger trigger)
{
    static const char *const names[] = {
        [TRIGGER_NONE] = "none",         [TRIGGER_INPUT_TOKENS] = "input_tokens",
        [TRIGGER_ESTIMATE] = "estimate", [TRIGGER_REQUEST] = "request",
        [TRIGGER_OVERFLOW] = "overflow", [TRIGGER_MANUAL] = "manual",
    };
    return names[trigger];
}

int64_t compact_effective_window(const struct compact_settings *s, const struct compact_limits *l)
{
    if (l->window <= 0)
        return 0;
    int64_t reserve = compact_lesser(s->max_summary_tokens, l->window / 8);
    if (l->max_output > 0)
        reserve = compact_lesser(reserve, l->max_output);
    return l->window - reserve;
}

static int64_t window_threshold(const struct compact_settings *s, const struct compact_limits *l)
{
    /* 0.95 is a little less than 19/20, which must not cost a token. */
    return (int64_t)((double)compact_effective_window(s, l) * s->threshold_percent + 1e-6);
}

int64_t compact_request_threshold(const struct compact_settings *s, const struct compact_limits *l)
{
    int64_t by_window = window_threshold(s, l), by_bytes = l->max_bytes / BYTES_OF_TOKEN / 5 * 4;
    if (l->window <= 0 || l->max_bytes <= 0)
        return l->window > 0 ? by_window : by_bytes;
    return compact_lesser(by_window, by_bytes);
}

int64_t compact_threshold(const struct compact_settings *s, const struct compact_limits *l)
{
    return l->window > 0 ? compact_lesser(window_threshold(s, l), s->auto_threshold)
                         : s->auto_threshold;
}

/* A request that fills the window leaves no room for an answer or an error of our estimate. */
bool compact_request_fits(const struct compact_settings *s, const struct compact_limits *l,
                          int64_t request)
{
    return (l->window <= 0 || request <= compact_effective_window(s, l)) &&
           (l->max_bytes <= 0 || request <= l->max_bytes / BYTES_OF_TOKEN);
}

struct compact_decision compact_decide(const struct compact_settings *s,
                                       const struct compact_limits *l,
                                       const struct compact_counters *c)
{
    const struct compact_decision not_now = {.trigger = TRIGGER_NONE};
    if (c->suspended)
        return not_now;
    bool fits = compact_request_fits(s, l, c->request);
    bool guarded = c->compacted || (c->last_attempt >= 0 && (int64_t)c->boundary <
                                                                (int64_t)c->last_attempt +
                                                                    s->min_turns);
    int64_t threshold = compact_threshold(s, l), full = compact_request_threshold(s, l);
    enum compact_trigger trigger = guarded                          ? TRIGGER_NONE
                                   : c->last_input >= threshold     ? TRIGGER_INPUT_TOKENS
                                   : c->estimate >= threshold       ? TRIGGER_ESTIMATE
                                   : full > 0 && c->request >= full ? TRIGGER_REQUEST
                                                                    : TRIGGER_NONE;
    if (trigger != TRIGGER_NONE && c->boundary > 0)
        return (struct compact_decision){.trigger = trigger,
                                         .must_fit = !fits || trigger == TRIGGER_REQUEST};
    if (!fits && !c->bypassed)
        return (struct compact_decision){
            .trigger = TRIGGER_REQUEST, .must_fit = true, .bypasses = true};
    if (trigger != TRIGGER_NONE && c->micro_useful)
        return (struct compact_decision){.trigger = trigger, .micro_only = true};
    return not_now;
}

static bool same_name(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* "provider/" alone is that provider's default model, before the provider has named it. */
static bool is_own_model(const char *label, const char *model)
{
    size_t len = label ? strlen(label) : 0;
    return len > 0 && label[len - 1] == '/' && model && strncmp(label, model, len) == 0;
}

static bool same_key(const struct compaction_state *state, const char *mode, const char *model)
{
    const char *failed = state->failed_model;
    return same_name(state->failed_mode, mode) &&
           (same_name(failed, model) || is_own_model(failed, model) || is_own_model(model, failed));
}

bool compact_suspended(const struct compaction_state *state, const char *mode, const char *model)
{
    return state->suspended && same_key(state, mode, model);
}

struct compact_failure_count compact_count_failure(const struct compact_settings *s,
                                                   const struct compaction_state *state,
                                                   const char *mode, const char *model,
                                                   const char *reason, bool called)
{
    bool same = same_key(state, mode, model);
    bool counts = !same_name(reason, "cancelled") && (called || !same_name(reason, "too_small"));
    int failures = (same ? state->failures : 0) + counts;
    return (struct compact_failure_count){.failures = failures,
                                          .suspended = counts ? failures >= s->max_failures
                                                              : same && state->suspended};
}
