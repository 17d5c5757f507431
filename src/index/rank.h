/* Ranking by words: pure functions over postings. BM25 (k1 = 1.2, b = 0.75, as Robertson and
 * Zaragoza have it: The probabilistic relevance framework, 2009) with all of a text's length, and
 * of a long text the words of its best passage; how close the words stand to each other (places.h);
 * then shares of the neighbours, of the turns around and of the talk (spec: memory, "Ranking").
 * Talks and windows have the same size by their making, so their length does not count.
 *
 * What comes of that is weighed by what is known of how people talk: who is named in a question
 * mostly said the answer, which stands behind a question, is none itself, and is longer than "Oh?
 * Do tell." In talk with a model what is looked for was mostly said by the user, in messages that
 * end with a question, too. So rules about questions are for short texts; and where texts are long,
 * what stands around one says less of it. The constants were chosen by what is found in
 * bench/recall, bench/friends and bench/assistant; around them the figures hardly change.
 */
#ifndef INDEX_RANK_H
#define INDEX_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/memory.h"
#include "index/places.h"

struct rank_settings {
    double k1, b;
    double before, after; /* share of the previous and the next turn */
    double answer;        /* of the previous one, where it asks */
    double session;       /* share of the talk's score */
    double window;        /* share of the turns up to RANK_WINDOW before and after, as one text */
    double named;         /* weight of what was said by whom the query names */
    double asks;          /* weight of what asks */
    double half;          /* words that an entry would lose half of its weight with */
    double talk;          /* words of an entry, on average, up to which shares are whole */
    double near;          /* weight of proximity */
    bool passages;        /* of a long entry the words of its best passage count */
    double user;          /* weight of a user's message without a name */
};
enum {
    RANK_WINDOW = 3,
    RANK_FULL = 24,  /* words, speaker and date among them, from which on an entry is not short */
    RANK_ASKING = 20 /* words up to which a text that ends with a question is a mere question */
};

/* k1 and b as given, the shares as measured. */
struct rank_settings rank_settings_for(double k1, double b);
/* For texts that are no part of a talk (documents, facts): neighbours, speaker and questions do not
 * count. */
struct rank_settings rank_settings_alone(void);

/* ---- keys ---- */

/* An entry's key: the session's number and a place, so that neighbours of a session are keys that
 * differ by one. Places are not used again. A talk is a run of entries without a long pause; it has
 * blocks of places of its own, so that a key says which talk it is of. */
enum { RANK_PLACE_BITS = 24, RANK_TALK_BITS = 6 };
static inline int64_t rank_key(int64_t session, int64_t place)
{
    return session * ((int64_t)1 << RANK_PLACE_BITS) + place;
}
static inline int64_t rank_key_session(int64_t key)
{
    return key >> RANK_PLACE_BITS;
}
static inline int64_t rank_key_talk(int64_t key)
{
    return key >> RANK_TALK_BITS;
}

/* The place of an entry of this time, where `next` is the first that is free and the entry before
 * is of `last_ms`: behind a pause the next block's, and never within a window of what was before.
 * Without a pause, or where a session has used up half of its places, `next` itself. */
int64_t rank_place_for(int64_t next, int64_t last_ms, int64_t created_ms);

/* ---- ranking ---- */

/* That a term of the query stands in an entry, `count` times. */
struct posting {
    int64_t key;
    uint32_t places; /* where in the bytes its places begin (places.h) */
    uint32_t term : 7;
    uint32_t named : 1; /* … as the name of who said it */
    uint32_t last : 8;  /* its last place, or one before it */
    uint32_t count : 16;
};
struct postings {
    VEC(struct posting) items;
};

/* Counts a place that is so much behind the last one, the first: behind the beginning, where the
 * name stands of who said it. Of more than POSTING_MOST the first count. */
enum { POSTING_MOST = (1 << 16) - 1, POSTING_LAST = (1 << 8) - 1 };
static inline void posting_add_place(struct posting *p, uint64_t more)
{
    if (p->count == POSTING_MOST)
        return;
    uint64_t last = p->last + more;
    p->named = p->named || (p->count == 0 && more == 0);
    p->last = (last < POSTING_LAST ? last : POSTING_LAST) & POSTING_LAST;
    p->count = (p->count + 1) & POSTING_MOST;
}

/* Puts postings in order of key and term, where those from each of `begins` (the first is 0) on are
 * already. */
void postings_merge(struct postings *p, const size_t *begins, size_t count);
/* … with one term. Of the same term in the same entry one is left, with the higher count. */
void postings_order(struct postings *p, const size_t *begins, size_t count);

/* The first posting of the key or of a later one, quickly where it is not far behind the one at
 * `near`. */
size_t postings_find(const struct postings *p, size_t near, int64_t key);

struct rank_facts {
    double words;
    bool asks; /* it ends with a question */
};

struct rank_input {
    const struct postings *lists; /* of each term, by key */
    const unsigned char *places;
    const double *idf; /* of each term */
    size_t terms;
    double idf_sum; /* of all words of the query, those that nothing holds too */
    double average; /* words an entry */
    /* Of an entry; false ends the ranking. Asked of few, the last ones of fewer. */
    bool (*words)(void *context, int64_t key, double *out);
    bool (*asks)(void *context, int64_t key, bool *out);    /* it ends with a question */
    bool (*is_user)(void *context, int64_t key, bool *out); /* a user's message without a name */
    void *context;
};

/* How rare a term is that stands in `entries` of so many; never negative. */
double rank_idf(int64_t all, int64_t entries);

/* Entries that have each word of the query; of more than RANK_WHOLE some. */
enum { RANK_WHOLE = 64 };
struct rank_whole {
    size_t count;             /* all of them */
    int64_t keys[RANK_WHOLE]; /* ascending */
};

struct ranked {
    int64_t key;
    double rank;
    struct memory_why why; /* words, before, after, session, window, weight, coverage */
};
struct ranking {
    VEC(struct ranked) items; /* best first; of equal ranks the newer key */
    struct rank_whole whole;
};

/* The best `limit` entries that have a posting, and up to RANK_TIES more that rank the same as the
 * last of them. False: facts() failed. */
enum { RANK_TIES = 64 };
static const double RANK_SAME = 1e-9; /* what a rank may differ by the order of additions */
bool rank_best(const struct rank_settings *settings, const struct rank_input *in, size_t limit,
               struct ranking *out);

/* ---- score ---- */

/* 0 … 1 from the part of the question's words that an entry has: 0 → 0, 0.23 → 0.70, 1 → 1. With
 * k1 = 1.2 so many of what bench's questions do not ask for lie above the knee as with 0.32 at
 * k1 = 0.6 (4 % of the first 20), for which the specification gives it: it is half of the words,
 * once each, in a text of usual length. */
double rank_score(double coverage);

#endif
