/* The character set of the locale: what it lacks, and what is shown in its place. All texts of the
 * program are UTF-8; a terminal gets them in this set. */
#ifndef BASE_CHARSET_H
#define BASE_CHARSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum charset {
    CHARSET_UTF8,
    CHARSET_ASSUMED, /* the environment names a locale that is not installed, of UTF-8 by its name:
                        characters are UTF-8, all else is as in the locale "C" */
    CHARSET_OTHER    /* has not every character */
};

/* Takes the locale of the environment, once, before any thread. Where the environment names none,
 * characters are UTF-8. */
enum charset charset_start(void);

/* What charset_start() found; CHARSET_UTF8 before it. */
enum charset charset(void);

/* The locale that the environment names for characters; "" if none. Borrowed. */
const char *charset_locale(void);

/* Whether the set lacks the character. Then `out` is what is shown in its place, in ASCII: letters
 * that are meant ("ue", "EUR", "->"), "?" where nothing is near, "" for what is no character by
 * itself, as marks on others. Any thread. */
enum { CHARSET_STAND_IN_MAX = 16 }; /* bytes, with the NUL */
bool charset_lacks(uint32_t cp, char out[CHARSET_STAND_IN_MAX]);

/* Appends the UTF-8 text with <U+XXXX> for what the set lacks: for a text that somebody decides by,
 * in which a stand-in could be taken for another. */
void charset_reveal(struct buf *out, const char *s, size_t len);

/* Appends the UTF-8 text in the set, with what stands in for what it lacks. */
void charset_encode(struct buf *out, const char *s, size_t len);

/* Appends text of the set as UTF-8; bytes that are none of it as U+FFFD. What is valid UTF-8 is
 * taken for it: terminals speak that far more often than their locale says so. */
void charset_decode(struct buf *out, const char *s, size_t len);

#endif
