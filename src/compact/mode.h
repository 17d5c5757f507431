/* The table of modes: how each cuts, what stands for what went. */
#ifndef COMPACT_MODE_H
#define COMPACT_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "compact/plan.h"

struct compact_mode {
    const char *name; /* of config/compaction_modes.h */

    /* Sets the fates of in->count messages, which are FATE_STAYS before. Pins, system messages and
     * the open user message are put back by compact_plan_make(). */
    void (*cut)(const struct compact_input *in, enum compact_fate *fates);

    /* How many messages at the beginning it keeps; NULL: none. */
    size_t (*head)(const struct compact_input *in);

    /* The text of the message that stands for what goes, made without a model; the caller frees.
     * NULL where a model writes it. */
    char *(*text)(const struct compact_input *in, const struct compact_plan *p);

    /* Where a model writes it: files of data/ with what it is asked and what is added when an
     * earlier summary is among what goes (NULL: nothing); the line that stands above the summary
     * in the message, an empty one between. */
    const char *prompt, *update_prompt, *prefix;

    bool sections; /* it has those of compact/sections.h, which are checked */

    bool prunes; /* tool results of kept messages but the newest turn's, over prune_chars */
    const struct compact_mode *fallback; /* when the model fails; NULL: it fails */
};

extern const struct compact_mode *const compact_modes[];        /* ends with NULL */
const struct compact_mode *compact_mode_find(const char *name); /* NULL: there is none */

extern const struct compact_mode mode_handoff, mode_structured, mode_recency_preserving,
    mode_deterministic, mode_llm_replace;

/* What a compaction would bring, before anything is paid for it: whether it is worth beginning, and
 * which key keeps it from that (spec: compaction, When, 5). */

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
