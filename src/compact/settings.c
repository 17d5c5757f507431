#include "compact/settings.h"

#include <assert.h>
#include <stdio.h>

#include "compact/mode.h"

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
