/* What one entry is worth: BM25 of its words, the weight that its facts give it, and the most that
 * both can come to before its facts are known. Pure functions. */
#ifndef INDEX_RANK_ENTRY_H
#define INDEX_RANK_ENTRY_H

#include "index/rank.h"

/* n * (k1 + 1) / (n + k), which most of the time is spent on, for the usual n. */
enum { USUAL_COUNTS = 16 };
struct saturation {
    double k1, k;
    double usual[USUAL_COUNTS];
};

struct saturation
saturation_shortest(const struct rank_settings *s);                /* of an entry that is short */
struct saturation saturation_joint(const struct rank_settings *s); /* of several as one text,
                                                                      whatever its length */
static inline double saturate(double n, double k1, double k)
{
    return n > 0 ? n * (k1 + 1) / (n + k) : 0;
}
static inline double saturation_at(const struct saturation *s, uint64_t n)
{
    return n < USUAL_COUNTS ? s->usual[n] : saturate((double)n, s->k1, s->k);
}

/* BM25 of an entry that has the postings from `first` to before `end`. */
double rank_own(const struct rank_settings *s, const struct rank_input *in, size_t first,
                size_t end, const struct rank_facts *facts);
double rank_weight(const struct rank_settings *s, bool named, const struct rank_facts *facts);

/* What the parts of an entry's rank can be at most. */
struct rank_most {
    double own, before, after; /* BM25 of the entry and of its neighbours (0: none), if short */
    double session, window;    /* shares */
    bool named;
};
/* The most that its rank can be, with the facts that are the best for it. */
double rank_most(const struct rank_settings *s, const struct rank_most *parts);

#endif
