/* The modes of compaction, and what a compaction by one of them would free. */
#ifndef COMPACT_MODE_H
#define COMPACT_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "compact/plan.h"

struct compact_mode {
    const char *name; /* of COMPACTION_MODES (config/keys.h) */

    /* Sets the fates of in->count messages, which are FATE_STAYS before. compact_plan_make() puts
     * back pins, system messages and the open user message. */
    void (*cut)(const struct compact_input *in, enum compact_fate *fates);

    /* How many messages at the beginning it keeps; NULL: none. */
    size_t (*head)(const struct compact_input *in);

    /* The text for the messages that go, made without a model; the caller frees. NULL: a model
     * writes it. */
    char *(*text)(const struct compact_input *in, const struct compact_plan *p);

    /* Files of data/ with the model's instructions and with those added when an earlier summary
     * goes (NULL: none); the line above the summary, with an empty one between. */
    const char *prompt, *update_prompt, *prefix;

    bool sections; /* the summary has the sections of compact/extract.h, which are checked */
    bool prunes;   /* tool results over prune_chars in kept messages outside the newest turn */
    const struct compact_mode *fallback; /* when the model fails; NULL: the attempt fails */
};

extern const struct compact_mode *const compact_modes[];        /* ends with NULL */
const struct compact_mode *compact_mode_find(const char *name); /* NULL: there is none */

extern const struct compact_mode mode_handoff, mode_structured, mode_recency_preserving,
    mode_deterministic, mode_llm_replace;

/* ---- before anything is paid for it (spec: compaction, When, 5) ---- */

/* Tokens of the history after the plan. A summary by a model is taken to be as long as the earlier
 * one, where there is one. */
int64_t compact_tokens_after(const struct compact_mode *mode, const struct compact_input *in,
                             const struct compact_plan *p);

/* Tokens of a history before and after, and of the rest of the request. */
struct compact_prospect {
    int64_t before, after;
    int64_t overhead;
    bool for_history; /* the history reached its threshold */
    bool for_request; /* the whole request reached its own, or is beyond the window */
};

/* Whether it frees a tenth of the history and brings it a tenth below its threshold, or does so
 * with the request, or brings the request within the window. */
bool compact_is_worth(const struct compact_settings *s, const struct compact_limits *l,
                      const struct compact_prospect *p);

/* Why the mode's compaction is not worth beginning, with the key that helps. The text depends only
 * on key, mode and threshold. The caller frees. */
char *compact_why_not_worth(const struct compact_mode *mode, const struct compact_input *in,
                            const struct compact_limits *l, const struct compact_prospect *p);

#endif
