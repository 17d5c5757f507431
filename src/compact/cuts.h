/* Cuts that modes share (compact/mode.h). */
#ifndef COMPACT_CUTS_H
#define COMPACT_CUTS_H

#include "compact/plan.h"

/* Where the protected head ends. */
size_t compact_head_end(const struct compact_input *in);

/* What lies between the protected head and the tail. Neither border parts a tool call from its
 * results. */
void compact_cut_middle(const struct compact_input *in, enum compact_fate *fates);

/* All but results that the running turn's model has not seen yet, with their calls, if they take at
 * most half of the threshold: it would only ask for them again. */
void compact_cut_all(const struct compact_input *in, enum compact_fate *fates);

#endif
