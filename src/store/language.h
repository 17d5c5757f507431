/* What a language makes of a word: folded, stemmed, or passed over. "Bought" is the stem of "buy"
 * (data/forms/). Not thread-safe: one a
 * connection. */
#ifndef STORE_LANGUAGE_H
#define STORE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct language;

/* NULL: there is none of this name. */
struct language *language_new(const char *name);
void language_free(struct language *l); /* NULL is fine */
bool language_known(const char *name);

/* Frees the words that it has met, some 800 kB; it meets them again. */
void language_give_back_memory(struct language *l);

/* Endings that stems are without, up to NULL: "paintin" is on its way to a word whose stem is
 * "paint". */
const char *const *language_endings(const struct language *l);

/* The word after `last` (NULL: the first) of those that begin so and whose stem is another word's:
 * "bought" after "bough". NULL: there is none, or no more. Folded; the language's. */
const char *language_next_form(struct language *l, const char *begun, const char *last);

/* Whether an apostrophe parts words, as in "l'homme"; else it stands within one. */
bool language_elides(const struct language *l);

/* The whole word, the word as it may go on (no stem, never a stop word), and the stem even of a
 * stop word. */
enum word_form { WORD_STEM, WORD_PREFIX, WORD_ANY_STEM };

/* A word of letters, marks, digits and apostrophes into `out`, which is cleared first. False: it is
 * a stop word, or nothing of it is left. */
bool language_word(struct language *l, const char *text, size_t len, enum word_form form,
                   struct buf *out);

#endif
