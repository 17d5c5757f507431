/* Shared by the search by words (words_search.c) and the passages of its hits (words_passage.c).
 */
#ifndef INDEX_WORDS_PRIVATE_H
#define INDEX_WORDS_PRIVATE_H

#include "index/words.h"
#include "store/language.h"

/* A blank between words. */
static inline bool words_is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The language of the index. The connection keeps it: its lists take milliseconds to make. */
bool words_open_language(const struct corpus *c, struct language **out, struct error *e);

/* A number as FTS5 keeps it, in the bytes of a column from `from` on: seven bits a byte, the
 * highest first, all but the last byte marked. */
int64_t words_column_varint(const struct query *q, int column, int from);

/* ---- a text as a query: words of which any may occur, "phrases" that must occur, -words and
 * -"phrases" that must not. Every text is a query. ---- */

enum { QUERY_TERMS = 64, QUERY_PHRASES = 16, QUERY_BYTES = 64 * 1024 };

struct query_term {
    char *raw;   /* as it is written: FTS5 stems it itself */
    char *word;  /* as it stands in the index */
    bool prefix; /* also words that begin so */
    bool also;   /* another form of the term before: both are one word of the query */
    bool role;   /* the name of a role, which is indexed for an entry without a speaker */
};
struct query_phrase {
    char *raw;
    bool excluded; /* must not occur */
};
struct words_query {
    VEC(struct query_term)
    terms; /* each word once; one that may go on comes last, with its forms */
    VEC(struct query_phrase) phrases;
    bool beside; /* there are terms outside of phrases */
    size_t span; /* places that the words of the same text take at most; 0: not known */
};

/* Reads the first QUERY_BYTES, QUERY_TERMS and QUERY_PHRASES. `typing`: the last word may go on. */
void words_query_parse(struct language *l, const char *text, bool typing, struct words_query *out);
void words_query_release(struct words_query *q);

/* Drops the phrases that must occur; their words stay. False when there are none, or nothing else.
 */
bool words_query_loosen(struct words_query *q);

/* Whether a term is this word, or, if it is a prefix, begins it; `folded` is the word with its
 * ending.
 */
bool query_term_meets(const struct query_term *t, const char *word, const char *folded);

#endif
