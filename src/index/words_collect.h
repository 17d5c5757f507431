/* Where in the index the words of a query stand. */
#ifndef INDEX_WORDS_COLLECT_H
#define INDEX_WORDS_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "index/rank.h"
#include "index/words.h"
#include "index/words_query.h"

struct collected {
    struct postings postings; /* in order; of entries in scope that the phrases allow */
    VEC(int64_t) entries; /* of each term, in scope or not; a term's other forms count with it */
    int64_t all;          /* entries that there are */
    double average;       /* words an entry */
};

/* A posting's term is the number of a word of the query: terms but for those that are `also`. */
bool words_collect(const struct corpus *from, const struct words_query *q,
                   const struct corpus_scope *scope, struct collected *out, struct error *e);
void collected_release(struct collected *c);

#endif
