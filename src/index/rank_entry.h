/* What one entry is worth: BM25 of its words, of its best passage, how close they stand, the weight
 * that its facts give it; and the most that all of that can come to before its facts are known.
 * Pure functions. */
#ifndef INDEX_RANK_ENTRY_H
#define INDEX_RANK_ENTRY_H

#include "index/places.h"
#include "index/rank.h"

/* n * (k1 + 1) / (n + k), which most of the time is spent on, for the usual n. */
enum { USUAL_COUNTS = 16, USUAL_WORDS = 48 };
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

/* The postings of an entry, by term. */
struct rank_span {
    const struct posting *first, *end;
};

/* BM25 of the whole entry. */
double rank_own(const struct rank_settings *s, const struct rank_input *in,
                const struct rank_span *span, const struct rank_facts *facts);

/* The part of the question's words that it holds, by their rarity. */
double rank_held(const struct rank_input *in, const struct rank_span *span);

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

/* What is known of an entry before its facts are. */
struct rank_ceiling {
    /* A word's part in BM25 that stands n times in a text of more than so many words: at most, and
     * with the weight of the length. */
    double plain[USUAL_COUNTS][USUAL_WORDS], weighed[USUAL_COUNTS][USUAL_WORDS];
    double most; /* of any number of times */
    double near, k1;
    double before, answer, after, weight, named; /* at most */
};
struct rank_ceiling rank_ceiling(const struct rank_settings *s, const struct rank_input *in);

/* What a term adds to the most that an entry's words are worth: to the entry itself, beside others
 * in it, and as a neighbour. */
static inline size_t rank_words_before(const struct posting *p)
{
    return p->last < USUAL_WORDS ? p->last : USUAL_WORDS - 1;
}
static inline double rank_most_alone(const struct rank_ceiling *c, const struct posting *p)
{
    return p->count < USUAL_COUNTS ? c->weighed[p->count][rank_words_before(p)] : c->most;
}
static inline double rank_most_beside(const struct rank_ceiling *c, const struct posting *p)
{
    return p->count < USUAL_COUNTS ? c->plain[p->count][rank_words_before(p)] : c->most;
}
static inline double rank_most_near(const struct rank_ceiling *c, double idf)
{
    return c->near * places_proximity_most(idf, c->k1);
}

/* The share of neighbours that are worth so much; `last`: the one before has a word there. */
static inline double rank_most_neighbours(const struct rank_ceiling *c, double before,
                                          unsigned last, double after)
{
    return (last < RANK_ASKING ? c->answer : c->before) * before + c->after * after;
}

/* An entry's rank at most, of the sums of those and the shares of talk and window. */
static inline double rank_most(const struct rank_ceiling *c, double sum, bool named)
{
    return sum * c->weight * (named ? c->named : 1);
}

#endif
