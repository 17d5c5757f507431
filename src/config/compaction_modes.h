/* The names of the compaction modes and what they are to the user: the completion of /compact, the
 * lists of the screen. The choices of [compaction] mode and the engine's table (compact/mode.h)
 * have the same names in the same order; a test compares.
 *
 * X(ID, "name", help) */
#ifndef CONFIG_COMPACTION_MODES_H
#define CONFIG_COMPACTION_MODES_H

#define COMPACTION_MODES(X)                                                                        \
    X(HANDOFF, "handoff", N_("a summary by the model, then the last turns word for word"))         \
    X(STRUCTURED, "structured",                                                                    \
      N_("beginning and end word for word, between them a summary in fixed sections"))             \
    X(RECENCY_PRESERVING, "recency_preserving",                                                    \
      N_("beginning and end word for word, no model: between them only a mark"))                   \
    X(DETERMINISTIC, "deterministic",                                                              \
      N_("an extract that the program makes itself, always the same"))                             \
    X(LLM_REPLACE, "llm_replace", N_("one summary of everything by the model"))

#endif
