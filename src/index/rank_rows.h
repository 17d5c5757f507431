/* What rank_best() knows of each entry before it asks for its facts: shares of talk and window, and
 * the most that its rank can be. For rank_best.c alone. */
#ifndef INDEX_RANK_ROWS_H
#define INDEX_RANK_ROWS_H

#include "index/rank.h"

/* An entry with postings, and the most that its rank can be. */
struct row {
    int64_t key;
    size_t first, end; /* postings */
    double own;        /* at most */
    double session, window;
    double bound;
    bool named; /* the query names who said it */
};

/* n * (k1 + 1) / (n + k), which most of the time is spent on, for the usual n. */
enum { USUAL_COUNTS = 16 };
struct saturation {
    double k1, k;
    double usual[USUAL_COUNTS];
};

struct ranker {
    const struct rank_settings *settings;
    const struct rank_input *in;
    struct saturation alone; /* of an entry that is short */
    struct saturation joint; /* of several as one text, whatever its length */
    VEC(struct row) rows;
    uint64_t *counts; /* of each term, in what is being summed up */
};

void ranker_init(struct ranker *r, const struct rank_settings *settings,
                 const struct rank_input *in);
void ranker_release(struct ranker *r);

/* A row's rank, with its facts and its neighbours'. False: facts() failed. */
bool ranker_rank(const struct ranker *r, size_t row, struct ranked *out);

#endif
