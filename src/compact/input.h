/* What every decision about a compaction looks at. */
#ifndef COMPACT_INPUT_H
#define COMPACT_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "chat/history.h"
#include "compact/policy.h"

/* A conversation on the eve of a compaction. All is borrowed. */
struct compact_input {
    const struct message *messages;
    size_t count;
    const int64_t *estimates; /* message_estimate_tokens() of each */
    size_t open;              /* index of the running turn's user message; `count`: no turn runs */
    const struct compact_settings *settings;
    int64_t threshold; /* tokens, compact_threshold() */
    int64_t fit;       /* tokens that what stays may take at most; 0: as the mode likes */
};

struct compact_input compact_input_of(const struct history *h, const struct compact_settings *s,
                                      const struct compact_limits *l);

#endif
