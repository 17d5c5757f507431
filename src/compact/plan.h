/* What goes, what stays, and the messages that come of it. Pure: no model, no clock, no store. */
#ifndef COMPACT_PLAN_H
#define COMPACT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/rebuild.h"
#include "compact/input.h"

/* Begins the user message that stands for what went (spec). */
#define COMPACT_PREFIX "[Context compacted]"

/* For each message: stays as it is, goes, or stays as a text alone (a pinned message that has tool
 * calls keeps its words and images). */
enum compact_fate { FATE_STAYS, FATE_GOES, FATE_TEXT_STAYS };

struct compact_plan {
    VEC(enum compact_fate) fates; /* one a message */
    size_t gone;                  /* messages that go */
};
void compact_plan_release(struct compact_plan *p);

/* Whatever the mode: the system's, pinned ones, the running turn's user message. */
bool compact_is_held(const struct compact_input *in, size_t i);

/* The fates by a mode; where the rest must fit, more goes than the mode would let go: behind the
 * gap, oldest first, then the head. System messages, pinned messages and the running turn's user
 * message never go; of pinned ones that only call, the results stay too. An earlier summary goes
 * with whatever else goes, never alone. False: nothing can go (the plan then says that all stay).
 * True with `gone` 0: nothing goes, but tool results are pruned; then no summary is wanted. */
bool compact_plan_make(const struct compact_mode *mode, const struct compact_input *in,
                       struct compact_plan *p);

/* The messages after it: `text` is the whole text of the one user message that stands where the
 * first that goes stood (with its seq and turn, marked as a summary; NULL: none, unless an answer
 * would come first; not used where nothing goes); kept tool results are pruned where the mode
 * prunes; every call is answered and every result has its call; the first message is the user's if
 * it was. */
void compact_plan_rebuild(const struct compact_mode *mode, const struct compact_input *in,
                          const struct compact_plan *p, const char *text, struct rebuild *out);

/* pairs.c: what a rebuild of the messages breaks of pairs, mended in place: a call without result
 * gets an error result (a message behind it), a result without call is removed, a message left
 * empty too. For messages that are well paired it changes nothing. */
void compact_repair_pairs(const struct compact_input *in, struct rebuild *r);

#endif
