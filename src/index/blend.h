/* What words found and what vectors found, as one list. Pure functions.
 *
 * The order is that of words; an entry comes before that by what only its vector tells. Ranks and
 * nearness are standardised for this question: an entry has so many deviations more than the mean
 * of all. What counts of the nearness is by how much it is more than the entry's words let expect
 * (regression: correlation times their score), and more than chance brings to the nearest of so
 * many. Its unit is the way from no words to the first by words, so that the size of a store does
 * not matter. It counts the less, the more the cosines of all entries repeat what words say. So a
 * model that says nothing, or nothing new, leaves the order of words as it is. */
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

/* Best first. A score is the better of an entry's two. */
void blend(const struct blend_input *in, struct candidates *out);

#endif
