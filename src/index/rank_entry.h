/* What one entry is worth: BM25 of its words, of its best passage, how close they stand, the weight
 * that its facts give it; and the most that all of that can come to before its facts are known.
 * Pure functions. */
#ifndef INDEX_RANK_ENTRY_H
#define INDEX_RANK_ENTRY_H

#include "index/places.h"
#include "index/rank.h"

/* n * (k1 + 1) / (n + k), which most of the time is spent on, for the usual n. */
enum { USUAL_COUNTS = 16 };
struct saturation {
    double k1, k;
    double usual[USUAL_COUNTS];
};
static inline double saturation_at(const struct saturation *s, uint64_t n)
{
    return n < USUAL_COUNTS ? s->usual[n] : saturate((double)n, s->k1, s->k);
}
/* Of several entries as one text, whatever its length. */
struct saturation saturation_joint(const struct rank_settings *s);

/* The postings of an entry: those from `first` to before `end`. */
struct rank_span {
    size_t first, end;
};

/* BM25 of the whole entry. */
double rank_own(const struct rank_settings *s, const struct rank_input *in,
                const struct rank_span *span, const struct rank_facts *facts);

/* Of a long entry its best passage instead, and proximity. `places` is
 * room to work in. */
void rank_add_places(const struct rank_settings *s, const struct rank_input *in,
                     const struct rank_span *span, const struct rank_facts *facts,
                     struct occurrences *places, struct memory_why *why);

/* With the shares as they are where entries have so many words on average. */
struct rank_settings rank_settings_at(const struct rank_settings *s, double average);

/* The share of the entry before: it asks, or not. */
double rank_before(const struct rank_settings *s, const struct rank_facts *before);

/* Sets the weights that its facts give it, and their product. */
void rank_weigh(const struct rank_settings *s, bool named, const struct rank_facts *facts,
                struct memory_why *why);

/* ---- the most ---- */

struct rank_ceiling {
    struct saturation own; /* with the length that is the best for it, and the weight of that */
    double neighbour;      /* what a neighbour's can be more than that */
};
struct rank_ceiling rank_ceiling(const struct rank_settings *s, const struct rank_input *in);
/* Of its own words and places. */
double rank_most_own(const struct rank_settings *s, const struct rank_ceiling *c,
                     const struct rank_input *in, const struct rank_span *span);

struct rank_most {
    double own, before, after; /* rank_most_own() of the entry and of its neighbours (0: none) */
    double session, window;    /* shares */
    bool named;
};
/* The most that its rank can be, whatever its facts and its neighbours' are. */
double rank_most(const struct rank_settings *s, const struct rank_ceiling *c,
                 const struct rank_most *parts);

#endif
