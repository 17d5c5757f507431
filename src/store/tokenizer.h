/* The FTS5 tokenizer "tiro LANGUAGE": words of letters, marks and digits, case and accents
 * folded (Unicode), stop words out, Snowball stems. Scripts without blanks between words (Han,
 * Kana, Hangul, Thai) give overlapping pairs of characters, so that parts of a sentence are found.
 * Emoji are words of their own. LANGUAGE is english, german, french, spanish or none (no stems, no
 * stop words). */
#ifndef STORE_TOKENIZER_H
#define STORE_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"
#include "store/language.h"
#include "store/store.h"

/* For store.c: makes it known to a connection, which ends before the store does. Costs nothing
 * until it is used. */
bool tokenizer_register(struct store *s, struct error *e);

/* TEXT is indexed: pairs also end with a single character at the place of the last pair, so that
 * one character is found as the beginning of a word. QUERY is searched for; EVERY: the same with
 * stop words. PREFIX is the beginning of a word: no stems, with stop words. */
enum token_purpose { TOKENS_TEXT, TOKENS_QUERY, TOKENS_EVERY, TOKENS_PREFIX };

/* The last character of a TEXT may be its mark, which says what kind of text it is: the characters
 * from 1 on. It is a word of its own at the place of the last one, so that its place also tells how
 * long the text is. It is no word of a query. */
enum { TOKEN_MARKS = 4 };
static inline bool token_is_mark(char c)
{
    return c > 0 && c <= TOKEN_MARKS;
}

/* Tells of each token until `tell` returns something else than 0, and returns that. `place` is the
 * token's number; two have the same where they stand at the same place. */
struct token_seen {
    const char *word; /* folded stem, NUL-terminated; borrowed */
    size_t len;
    size_t start, end; /* bytes of the text */
    size_t place;
    bool single; /* one character of a script that has pairs */
};
typedef int (*token_teller)(void *context, const struct token_seen *t);
int tokens_each(struct language *l, enum token_purpose purpose, const char *text, size_t len,
                token_teller tell, void *context);

/* The same words of a text, for what is done without the index. */
struct token {
    char *word;        /* folded stem; owned */
    size_t start, end; /* bytes of the text */
    size_t place;
    bool single;
};
struct tokens {
    VEC(struct token) items;
};
void tokens_of(struct language *l, enum token_purpose purpose, const char *text, size_t len,
               struct tokens *out);
/* … of a language that is needed for this text alone. False: no such language. */
bool tokenize(const char *language, const char *text, size_t len, bool keep_stop_words,
              struct tokens *out);
void tokens_release(struct tokens *t);

#endif
