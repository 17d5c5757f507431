/* What the ranking asks of single entries (rank.h): how many words they have, whether they ask,
 * whether they are a user's without a name. Of a few the tables are asked; who asks of many gets it
 * from the marks of all texts, whose lists are read at once. */
#ifndef INDEX_WORDS_FACTS_H
#define INDEX_WORDS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/corpus.h"
#include "store/tokenizer.h"

/* The mark (store/tokenizer.h) of a text of a corpus; the corpus's owner ends it with that. */
enum { MARK_ASKS = 1, MARK_USER = 2 };
static inline char words_mark(bool asks, bool is_user)
{
    return (char)(1 + (asks ? MARK_ASKS : 0) + (is_user ? MARK_USER : 0));
}

struct words_facts {
    const struct corpus *corpus;
    int64_t entries; /* that the corpus has */
    struct error *error;

    /* Zeroed at first: */
    int64_t asked;
    bool listed, unlisted;               /* the lists tell it; they have been tried in vain */
    struct postings lists[TOKEN_MARKS]; /* entries by what their mark tells */
    size_t near[TOKEN_MARKS];
    struct place_bytes places;
};
void words_facts_release(struct words_facts *f);

/* For struct rank_input, with the facts as context. */
bool words_facts_length(void *facts, int64_t key, double *out);
bool words_facts_asks(void *facts, int64_t key, bool *out);
bool words_facts_user(void *facts, int64_t key, bool *out);

#endif
