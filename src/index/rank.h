/* Ranking by words: pure functions over postings. BM25 (k1 = 1.2, b = 0.75, as Robertson and
 * Zaragoza have it: The probabilistic relevance framework, 2009) with the length of a text, or
 * the best passage of a long text; the proximity of the words; then shares of the neighbours, of
 * the turns around and of the talk. Talks and windows have a fixed size, so their length does not
 * count.
 *
 * The sum is weighted by how people talk: the person who is named in a question mostly said the
 * answer, which follows a question, is none itself, and is longer than "Oh? Do tell." In talk with
 * a model the wanted text was mostly said by the user, in messages that may end with a question,
 * too. So rules about questions are for short texts; and the turns around a long text say less of
 * it. The constants were chosen by results on bench/recall, bench/friends and bench/assistant; near
 * them the figures hardly change. */
#ifndef INDEX_RANK_H
#define INDEX_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/memory.h"

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

/* ---- places of the words of a question in a text ----
 *
 * A place is the number of a word among the indexed ones, so stop words have none. */

enum {
    PLACE_TERMS = 128,  /* words of a question */
    PASSAGE_WORDS = 50, /* some 80 with stop words, which fit into MEMORY_PASSAGE characters */
};

struct occurrence {
    uint32_t at, term;
};
struct occurrences {
    VEC(struct occurrence) items; /* ascending */
};

/* The places of a term as bytes, as FTS5 has them: for each place, two more than the distance to
 * the one before; seven bits a byte, the highest first, all but the last byte marked. */
struct place_bytes {
    VEC(unsigned char) bytes;
};
void places_pack(struct place_bytes *out, uint32_t more);
void places_unpack(const unsigned char *bytes, uint32_t count, uint32_t term,
                   struct occurrences *out);
void places_order(struct occurrences *p);

/* The worth of a term that occurs `n` times: weight · n · (k1 + 1) / (n + k). */
struct place_worth {
    const double *weights; /* of each term */
    double k1, k;
};
static inline double saturate(double n, double k1, double k)
{
    return n > 0 ? n * (k1 + 1) / (n + k) : 0;
}

/* The PASSAGE_WORDS words that are worth the most, as the range of places in them; the first of
 * equals.
 */
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

/* The most that a term can add to it. */
static inline double places_proximity_most(double weight, double k1)
{
    return (weight < 1 ? weight : 1) * (k1 + 1);
}

/* ---- keys ---- */

/* The key of an entry: number of its session << RANK_PLACE_BITS | place, so that neighbours in a
 * session have keys that differ by one. No place is used twice. A talk is a sequence of entries
 * without a long pause, in blocks of places of its own, so that a key tells its talk. */
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

/* The place of an entry of this time; `next` is the first free one, and the entry before is of
 * `last_ms`. Behind a pause it is the first of the next block, outside of the window of the entry
 * before; without a pause, or when a session has used half of its places, `next`. */
int64_t rank_place_for(int64_t next, int64_t last_ms, int64_t created_ms);
/* The first place of the next block, outside of that window. */
int64_t rank_next_talk(int64_t next);

/* ---- ranking ---- */

/* A term of the query occurs in an entry, `count` times. */
struct posting {
    int64_t key;
    uint32_t places;    /* offset of its places in the bytes */
    uint32_t term : 7;  /* set by the ranking */
    uint32_t named : 1; /* also as the name of the speaker */
    uint32_t last : 8;  /* the last place of its word, or one before it */
    uint32_t count : 16;
};
struct postings {
    VEC(struct posting) items;
};

/* Counts a place at this distance from the last one; the first: from the beginning, where the name
 * of the speaker stands. Only the first POSTING_MOST count. */
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

/* Sorts postings by key and term; the runs that start at each of `begins` (the first is 0) are
 * sorted. */
void postings_merge(struct postings *p, const size_t *begins, size_t count);
/* Merges the postings of a term before `middle` with those from `middle` on, which should be few.
 * If both have the same entry, the posting with the higher count stays, with the higher last place.
 */
void postings_join(struct postings *p, size_t middle);

/* Index of the first posting of the key or of a later one; quick near `near`. */
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
    double idf_sum; /* of all words of the query, also of those without a posting */
    double average; /* words an entry */
    /* For struct rank_whole: the last places of the words are fewer than so many places apart; 0:
     * wherever they are. */
    size_t span;
    /* Facts of an entry, asked for few, the last ones for fewer; false ends the ranking. */
    bool (*words)(void *context, int64_t key, double *out);
    bool (*asks)(void *context, int64_t key, bool *out);    /* it ends with a question */
    bool (*is_user)(void *context, int64_t key, bool *out); /* a user's message without a name */
    void *context;
};

/* Rarity of a term that occurs in `entries` of `all`; never negative. */
double rank_idf(int64_t all, int64_t entries);

/* Entries with each word of the query (rank_input.span); at most RANK_WHOLE are named. */
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

/* The best `limit` entries with a posting, and up to RANK_TIES more that rank the same as the last
 * of them. False: a fact could not be read. */
enum { RANK_TIES = 64 };
static const double RANK_SAME = 1e-9; /* differences by the order of additions */
bool rank_best(const struct rank_settings *settings, const struct rank_input *in, size_t limit,
               struct ranking *out);

/* ---- score ---- */

/* 0 … 1 from the part of the question's words that an entry has: 0 → 0, 0.23 → 0.70, 1 → 1. The
 * knee is half of the words, once each, in a text of usual length; 4 % of the wrong hits among the
 * first 20 of the bench's questions are above it. */
double rank_score(double coverage);

/* ---- bounds, which a test compares with the ranks ---- */

/* The settings with the shares for entries of so many words on average. */
struct rank_settings rank_settings_at(const struct rank_settings *s, double average);

/* An entry with postings, before its facts are known. */
struct rank_entry {
    int64_t key;
    double most;            /* upper bound of its rank */
    double neighbours;      /* their part in that */
    double session, window; /* shares */
    bool named;             /* the query names who said it */
};

/* Filled by a first reading; empty before. */
struct rank_survey {
    VEC(struct rank_reach {
        int64_t talk; /* rank_key_talk(), ascending */
        double most;  /* upper bound of the rank of an entry in it */
    })
    talks;
    struct rank_whole whole;
};

/* Calls visit() with the entries whose rank may be `floor` or more, by key; it returns the floor
 * from then on, never a lower one. Fills an empty survey; with a filled one, of the same postings,
 * talks without such entries are skipped. */
void rank_talks(const struct rank_settings *settings, const struct rank_input *in, double floor,
                double (*visit)(void *context, const struct rank_entry *entry), void *context,
                struct rank_survey *survey);

#endif
