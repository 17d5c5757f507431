/* Folding and stemming of words. "Bought" has the stem of "buy" (data/forms/). Not thread-safe: one
 * a connection. */
#ifndef STORE_LANGUAGE_H
#define STORE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* ---- folding: texts that mean the same get the same bytes ---- */

/* Only so many characters of a word count. */
enum { WORD_CHARACTERS = 64 };

/* Appends the characters of a word in compatibility form (NFKC), case folded; apostrophes become ',
 * and other characters that are no letter, mark or digit are left out. The text is valid UTF-8; its
 * ASCII characters are letters, digits and '. */
void token_fold(struct buf *out, const char *text, size_t len);

/* Removes accents and vowel points from a folded word. Marks that make another letter of a script
 * (Japanese voicing, Indian vowels) stay. */
void token_strip_marks(struct buf *text);

bool token_is_apostrophe(uint32_t cp);

/* ---- languages ---- */

struct language;

/* NULL: there is none of this name. */
struct language *language_new(const char *name);
void language_free(struct language *l); /* NULL is fine */
bool language_known(const char *name);

/* For texts of a few words, as questions are: no cache of words. */
void language_is_brief(struct language *l);

/* Frees the cache of words, some 800 kB; it fills again. */
void language_give_back_memory(struct language *l);

/* Endings that a stem does not have, up to NULL: whoever types "paintin" is on the way to a word
 * whose stem is "paint". */
const char *const *language_endings(const struct language *l);

/* The next irregular form after `last` (NULL: the first) that begins so: "bought" for "bough".
 * NULL: there are no more. Folded; the language's. */
const char *language_next_form(struct language *l, const char *begun, const char *last);

/* ---- texts of several languages ----
 *
 * The language "auto" has the others but "none" as its parts, English first. */

enum { LANGUAGE_PARTS = 10 };

/* Part `i` of "auto"; the language itself is part 0 of any other, which has no more (NULL). */
struct language *language_part(struct language *l, size_t i);

/* The number of the language as a part; -1: it is none. */
int language_number(const struct language *l);

/* Adds what a word of a text tells of the text's language to the points of each part: VOTE for a
 * stop word, shared if several languages have it; half a VOTE for a letter that not all have.
 * False: nothing. */
enum { LANGUAGE_VOTE = 12 };
bool language_vote(struct language *l, const char *word, size_t len, int points[LANGUAGE_PARTS]);

/* Whether an apostrophe separates words, as in "l'homme"; else it stands within one. */
bool language_elides(const struct language *l);

/* STEM of a whole word that is no stop word, PREFIX: a word that may go on (no stem, never a stop
 * word), ANY_STEM: the stem, also of a stop word. */
enum word_form { WORD_STEM, WORD_PREFIX, WORD_ANY_STEM };

/* Replaces `out` by the form of a word of letters, marks, digits and apostrophes. False: it is a
 * stop word, or nothing of it is left. */
bool language_word(struct language *l, const char *text, size_t len, enum word_form form,
                   struct buf *out);

#endif
