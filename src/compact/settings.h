/* [compaction] as numbers: read once, clamped with a warning that names the key. */
#ifndef COMPACT_SETTINGS_H
#define COMPACT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

struct compact_mode;

struct compact_settings {
    const struct compact_mode *mode;
    int64_t auto_threshold;   /* tokens */
    double threshold_percent; /* 0.10 … 0.95 of the effective window */
    int recent_turns;
    int64_t max_summary_tokens;
    int min_turns; /* model calls between attempts */
    double target_percent;
    int64_t micro_bytes;
    int protect_head, protect_tail_min;
    double tail_ratio; /* 0.05 … 0.80 */
    int prune_chars;
    int64_t summary_ms; /* that a turn waits for summaries until one is there */
    int max_failures;
    bool preview;
};

/* One a key that was out of its bounds: "[compaction] threshold_percent = 1.5: 0.95 is used". */
struct compact_warnings {
    char text[2][160];
    int count;
};

void compact_settings_read(struct compact_settings *s, const struct config *config,
                           struct compact_warnings *w);

#endif
