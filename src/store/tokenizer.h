/* The FTS5 tokenizer "tiro LANGUAGE RULES": words of letters, marks and digits, case and accents
 * folded (Unicode), stop words out, Snowball stems. Scripts without blanks between words (Han,
 * Kana, Hangul, Thai) give overlapping pairs of characters, so that parts of a sentence are found.
 * Emoji are words of their own. An identifier such as "computeRetryDelay" is a word, and so are its
 * parts. LANGUAGE is one of store/language.c; none (no stems, no stop words); or auto: that of each
 * text. */
#ifndef STORE_TOKENIZER_H
#define STORE_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"
#include "store/language.h"
#include "store/store.h"

/* The version of the rules. Raise it, here and in data/schema.sql, when texts get other tokens: an
 * index of another version is made again in idle time (words_tidy()). */
#define TOKEN_RULES "2"

/* For store.c: registers the tokenizer for a connection, which ends before the store. Costs nothing
 * until it is used. */
bool tokenizer_register(struct store *s, struct error *e);

/* The languages whose stems stand for the words of a text, at the same place; the stop words are
 * those of the first. "auto" finds that by stop words and letters; English is the second, so that
 * the same word is found in a text and a question of different languages. A short text that tells
 * nothing has the stems of all, a long one those of English. */
struct text_languages {
    struct language *items[LANGUAGE_PARTS]; /* borrowed */
    size_t count;
};
struct text_languages text_languages_find(struct language *l, const char *text, size_t len);

/* A text that begins with TOKEN_LANGUAGE + language_number() is of that language alone. */
enum { TOKEN_LANGUAGE = 0x10 };

/* TEXT is indexed: pairs also end with a single character at the place of the last pair, so that
 * one character is found as the beginning of a word. QUERY is searched for; EVERY: the same with
 * stop words. PREFIX is the beginning of a word: no stems, with stop words. */
enum token_purpose { TOKENS_TEXT, TOKENS_QUERY, TOKENS_EVERY, TOKENS_PREFIX };

/* The last character of a TEXT may be its mark, a character from 1 to TOKEN_MARKS, which tells the
 * kind of the text. It is a word at the place of the last word, so that its place also tells the
 * length of the text. It is no word of a query. */
enum { TOKEN_MARKS = 4 };
static inline bool token_is_mark(char c)
{
    return c > 0 && c <= TOKEN_MARKS;
}

/* Calls `tell` for each token until it returns something else than 0, and returns that. `place` is
 * the number of the token. These have the same place: a pair and its last character, the stems of a
 * word in several languages, an identifier and its first part. */
struct token_seen {
    const char *word; /* folded stem, NUL-terminated; borrowed */
    size_t len;
    size_t start, end; /* bytes of the text */
    size_t place;
    bool single;                     /* one character of a script that has pairs */
    bool also;                       /* a further stem of the same word, in another language */
    bool in_identifier;              /* an identifier of several parts, or one of its parts */
    const struct language *language; /* of the stem */
};
typedef int (*token_teller)(void *context, const struct token_seen *t);
int tokens_each(const struct text_languages *l, enum token_purpose purpose, const char *text,
                size_t len, token_teller tell, void *context);

/* All tokens of a text. */
struct token {
    char *word;        /* folded stem; owned */
    size_t start, end; /* bytes of the text */
    size_t place;
    bool single, also, in_identifier;
    const struct language *language;
};
struct tokens {
    VEC(struct token) items;
};
void tokens_of(const struct text_languages *l, enum token_purpose purpose, const char *text,
               size_t len, struct tokens *out);
/* The same with a language for this text alone. False: there is none of this name. */
bool tokenize(const char *language, const char *text, size_t len, bool keep_stop_words,
              struct tokens *out);
void tokens_release(struct tokens *t);

#endif
