/* What a text means as a query: words of which any may occur, "phrases" that must, -words and
 * -"phrases" that must not. Every text is a query. */
#ifndef INDEX_WORDS_QUERY_H
#define INDEX_WORDS_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "store/language.h"

enum { QUERY_TERMS = 64, QUERY_PHRASES = 16, QUERY_BYTES = 64 * 1024 };

struct query_term {
    char *raw;   /* as it is written: FTS5 makes the word of it */
    char *word;  /* as it stands in the index */
    bool prefix; /* words that begin so, too */
    bool also;   /* another form of the term before: both are one word of the query */
    bool role;   /* a role's name, which stands for one who has none */
};
struct query_phrase {
    char *raw;
    bool excluded; /* must not occur */
};
struct words_query {
    VEC(struct query_term)
    terms; /* each word once; one that may go on comes last, with its forms */
    VEC(struct query_phrase) phrases;
    bool beside; /* there are terms that stand in no phrase */
};

/* Of the text's first QUERY_BYTES, QUERY_TERMS and QUERY_PHRASES. `typing`: the last word may go
 * on. */
void words_query_parse(struct language *l, const char *text, bool typing, struct words_query *out);
void words_query_release(struct words_query *q);

/* A question that quotes what stands nowhere is a question all the same: no phrase must occur any
 * more, their words stay. False, and nothing is changed: none must, or the query is nothing else.
 */
bool words_query_loosen(struct words_query *q);

/* Whether a term is this word, or begins it where it is a prefix; `folded` is the word with its
 * ending. */
bool query_term_meets(const struct query_term *t, const char *word, const char *folded);

#endif
