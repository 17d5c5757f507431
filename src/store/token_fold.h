/* Texts that mean the same as the same bytes: compatibility forms (NFKC), case and marks. */
#ifndef STORE_TOKEN_FOLD_H
#define STORE_TOKEN_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Only so many characters of a word count. */
enum { WORD_CHARACTERS = 64 };

/* Adds a word's characters, case folded; what is no letter, mark or digit then is left out, but for
 * apostrophes, which become '. The text is valid UTF-8; ASCII is letters, digits and '. */
void token_fold(struct buf *out, const char *text, size_t len);

/* Takes accents and vowel points off what token_fold() gave. Marks that make another letter of a
 * script (Japanese voicing, Indian vowels) stay. */
void token_strip_marks(struct buf *text);

bool token_is_apostrophe(uint32_t cp);

#endif
