/* A message of the user's as the sentences that were typed in it: a pure function. Left out are the
 * files that it begins with (chat/attached_file.h), code (fences, lines indented by four columns),
 * quoted lines ("> …") and sentences that are quoted as a whole. */
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

/* Whether it begins with a quotation, so that its first words are somebody else's. */
bool sentence_quotes(const struct sentence *s);

/* Adds those of the message. They end at a newline and at ". ; ! ?" before white space, but not
 * after an abbreviation or an ordinal number, nor within `code` or a quotation. */
void sentences_read(const char *message, struct sentences *out);

/* The words of a text as they are compared: without case and accents, parted at whatever is no
 * letter or digit. Colons count as words. A pure function. */

struct folded_word {
    char *text;
    size_t begin, end; /* bytes of the text that it was read from */
};
struct folded_words {
    VEC(struct folded_word) items;
};

/* Adds those of the text, which is valid UTF-8. */
void folded_words_read(const char *text, size_t len, struct folded_words *out);
void folded_words_release(struct folded_words *w);

#endif
