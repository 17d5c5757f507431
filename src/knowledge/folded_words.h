/* The words of a text as they are compared: without case and accents, parted at whatever is no
 * letter or digit. Colons count as words. A pure function. */
#ifndef KNOWLEDGE_FOLDED_WORDS_H
#define KNOWLEDGE_FOLDED_WORDS_H

#include <stddef.h>

#include "base/vec.h"

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
