/* Hits by words and hits by vectors as one list, and scores of cosines. Pure functions.
 *
 * The order is that of words; a vector can only raise an entry. Ranks and nearness are standardised
 * for the question: deviations from the mean of all entries. The part of the nearness that counts
 * is what exceeds the value expected from the entry's words (regression: correlation times their
 * score) and the value that chance brings to the nearest of so many, or less for an entry that
 * words put near the first. Its unit is the distance from no words to the first hit by words, so
 * that the size of a store does not matter. It counts the less, the more the cosines of all entries
 * repeat the words, and the further the nearest few are beyond chance together: a good model brings
 * one entry near, a weak one many. So a model that adds nothing hardly changes the order of words.
 */
#ifndef INDEX_BLEND_H
#define INDEX_BLEND_H

#include <stdbool.h>
#include <stddef.h>

#include "index/rank.h"
#include "index/vectors.h"

/* ---- calibration ----
 *
 * From the cosines of a model to scores for people and models: 0 = nothing in common, 1 = the same
 * text, useful above 0.7. Cosines of unrelated texts differ from model to model. */

struct knot {
    double cosine, score;
};
enum { CALIBRATION_KNOTS = 8 };
struct calibration {
    size_t count; /* 0: none was fitted; -1 … 0 is then 0, and a cosine is its own score */
    struct knot knots[CALIBRATION_KNOTS]; /* both rise */
};

/* Linear between knots, constant outside of them; always 0 … 1. */
double calibration_score(const struct calibration *c, double cosine);

/* Fits to the cosines of random pairs of texts (which it sorts): half of them get 0, and with
 * enough of them one in a thousand gets more than 0.7; 1 stays 1. */
struct calibration calibration_fit(double *cosines, size_t count);

/* [{"cosine", "score"}, …]; the caller frees. */
char *calibration_print(const struct calibration *c);
/* False: it is none. */
bool calibration_parse(const char *text, struct calibration *out);

/* ---- blending ---- */

/* How much of the nearness of the entry before counts (struct vectors_field): half in short talk,
 * the less the longer entries are. */
double blend_previous(const struct rank_settings *settings, double average);

struct blend_input {
    const struct candidates *words;   /* best first; all others have the rank 0 */
    const struct candidates *vectors; /* as vectors_search() gives them, the words' among them */
    const struct vectors_field *field;
};

/* Best first. A score is the better of an entry's two. */
void blend(const struct blend_input *in, struct candidates *out);

#endif
