/* What words found and what vectors found, as one list. Pure functions.
 *
 * The ranks of both are standardised for this question: an entry has so many deviations more than
 * the mean of all. Their weighted sum orders. The share of the vectors is what this question tells
 * of them, since nothing else does: a model is worth something where the nearest is also among the
 * first by words, or where it stands out from all others further than chance brings it; and the
 * less, the more its cosines say of all entries only what words say. Where none of that is so, the
 * share is 0, and the order is that of words: an unsuited model costs nothing. */
#ifndef INDEX_BLEND_H
#define INDEX_BLEND_H

#include "index/rank.h"
#include "index/vectors.h"

/* How much of the nearness of the entry before counts (struct vectors_field): half in short talk,
 * the less the longer entries are. */
double blend_previous(const struct rank_settings *settings, double average);

struct blend_input {
    const struct candidates *words;   /* best first; all others have the rank 0 */
    const struct candidates *vectors; /* as vectors_stand() gives them, the words' among them */
    const struct vectors_field *field;
};

/* 0 … BLEND_MOST. */
static const double BLEND_MOST = 0.8;
double blend_share(const struct blend_input *in);

/* Best first. A score is the better of an entry's two. */
void blend(const struct blend_input *in, struct candidates *out);

#endif
