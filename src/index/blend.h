/* What words found and what vectors found, as one list. A pure function. */
#ifndef INDEX_BLEND_H
#define INDEX_BLEND_H

#include "index/rank.h"
#include "index/words.h"

/* Ordered by a weighted sum of both on the scale of scores, best first; for an entry's words all of
 * its rank counts there. Its score is the better of its two. */
void blend(const struct rank_settings *settings, const struct candidates *words,
           const struct candidates *vectors, struct candidates *out);

#endif
