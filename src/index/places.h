/* Where the words of a question stand in one text: its best passage, and how close they stand to
 * each other. Pure functions. A place is the number of a word among those that are indexed, so
 * stop words take none. */
#ifndef INDEX_PLACES_H
#define INDEX_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum {
    PLACE_TERMS = 128,  /* words of a question, at most */
    PASSAGE_WORDS = 50, /* some 80 with stop words: what fits well into MEMORY_PASSAGE characters */
};

struct occurrence {
    uint32_t at, term;
};
struct occurrences {
    VEC(struct occurrence) items; /* ascending */
};

/* A term's places as bytes, as FTS5 has them: of each, two more than it is behind the one before;
 * seven bits a byte, the highest first, all but the last byte marked. */
struct place_bytes {
    VEC(unsigned char) bytes;
};
void places_pack(struct place_bytes *out, uint32_t more);
void places_unpack(const unsigned char *bytes, uint32_t count, uint32_t term,
                   struct occurrences *out);
void places_order(struct occurrences *p);

/* What a term that stands somewhere `n` times is worth: weight · n · (k1 + 1) / (n + k). */
struct place_worth {
    const double *weights; /* of each term */
    double k1, k;
};
static inline double saturate(double n, double k1, double k)
{
    return n > 0 ? n * (k1 + 1) / (n + k) : 0;
}

/* The stretch of PASSAGE_WORDS words that is worth the most, and which places are in it; the first
 * one of equals. Nothing of no places. */
struct passage {
    size_t first, end;
    double worth;
};
struct passage places_passage(const struct occurrences *p, const struct place_worth *worth);

/* The proximity of BM25TP (Büttcher, Clarke, Lushman: Term proximity scoring for ad-hoc retrieval
 * on very large text collections, SIGIR 2006): of each two places side by side that have different
 * terms, each term gets the other's weight by the square of their distance, and a term is worth
 * min(1, weight) · sum · (k1 + 1) / (sum + k). */
double places_proximity(const struct occurrences *p, size_t terms, const struct place_worth *worth);

/* The most that a term can be worth in it. */
static inline double places_proximity_most(double weight, double k1)
{
    return (weight < 1 ? weight : 1) * (k1 + 1);
}

#endif
