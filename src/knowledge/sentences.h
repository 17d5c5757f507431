/* Sentences and words of a message that the user typed. Pure. */
#ifndef KNOWLEDGE_SENTENCES_H
#define KNOWLEDGE_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct sentence {
    const char *text; /* within the message; without the white space and mark at its end */
    size_t len;
    bool question;
};
struct sentences {
    VEC(struct sentence) items;
};

/* Adds the sentences of a message, without the files that it begins with, code (fences, lines
 * indented by four columns), quoted lines ("> …") and sentences that are quoted as a whole. A
 * sentence ends at a newline and at ". ; ! ?" before white space, but not after an abbreviation or
 * an ordinal number, nor within `code` or a quotation. */
void sentences_read(const char *message, struct sentences *out);

/* Whether it begins with a quotation, so that its first words are somebody else's. */
bool sentence_quotes(const struct sentence *s);

/* A word without case and accents. */
struct folded_word {
    char *text;
    size_t begin, end; /* bytes of the text that it was read from */
};
struct folded_words {
    VEC(struct folded_word) items;
};

/* Adds the words of a text, which is valid UTF-8, parted at other characters than letters and
 * digits. Colons count as words. */
void folded_words_read(const char *text, size_t len, struct folded_words *out);
void folded_words_release(struct folded_words *w);

#endif
