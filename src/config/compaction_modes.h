/* The names of the compaction modes and what they are to the user: the completion of /compact, the
 * lists of the screen. The choices of [compaction] mode and the engine's table (compact/mode.h)
 * have the same names in the same order; a test compares.
 *
 * X(ID, "name", keeps_ends, help): whether beginning and end stay as protect_head, protect_tail_min
 * and tail_budget_ratio say, which may be all there is; and in one line what stays. */
#ifndef CONFIG_COMPACTION_MODES_H
#define CONFIG_COMPACTION_MODES_H

#define COMPACTION_MODES(X)                                                                        \
    X(HANDOFF, "handoff", false, N_("newest turns stay word for word; a summary of the rest"))     \
    X(STRUCTURED, "structured", true, N_("beginning and end stay; a summary in sections between")) \
    X(RECENCY_PRESERVING, "recency_preserving", true,                                              \
      N_("beginning and end stay; the middle is dropped, no model"))                               \
    X(DETERMINISTIC, "deterministic", false,                                                       \
      N_("nothing stays; an extract of all, made without a model"))                                \
    X(LLM_REPLACE, "llm_replace", false, N_("nothing stays; one summary of all, by the model"))

#endif
