/* What a compaction would bring, before anything is paid for it: whether it is worth beginning, and
 * which key keeps it from that (spec: compaction, When, 5). */
#ifndef COMPACT_PROSPECT_H
#define COMPACT_PROSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "compact/mode.h"

/* Tokens of the history after it, by a plan of this mode. A summary that a model is to write counts
 * as many as the one that goes, where there is one: a new one will be about as long. */
int64_t compact_foresee(const struct compact_mode *mode, const struct compact_input *in,
                        const struct compact_plan *p);

/* A history before and after, and what is sent besides; tokens. */
struct compact_prospect {
    int64_t before, after;
    int64_t overhead;
    bool for_history; /* the history reached its threshold */
    bool for_request; /* the whole request did, or is beyond the window */
};

/* Whether it frees a tenth of the history and brings it below its threshold by a tenth, or the
 * request likewise, or that from beyond the window within. */
bool compact_is_worth(const struct compact_settings *s, const struct compact_limits *l,
                      const struct compact_prospect *p);

/* Why the mode's compaction is not worth beginning, with the key that helps, in words that change
 * only with those, the mode and the threshold; the caller frees. */
char *compact_obstacle(const struct compact_mode *mode, const struct compact_input *in,
                       const struct compact_limits *l, const struct compact_prospect *p);

#endif
