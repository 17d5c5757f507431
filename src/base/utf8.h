/* UTF-8: decoding, grapheme borders (utf8proc), columns (wcwidth() alone), cleaning, revealing, and
 * the character set of the locale. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Reads one character. Returns the bytes used (at least 1 when len > 0); an invalid or truncated
 * sequence is one byte long and yields U+FFFD. */
size_t utf8_decode(const char *s, size_t len, uint32_t *cp);

/* Writes at most 4 bytes, returns how many. An invalid code point is written as U+FFFD. */
size_t utf8_encode(uint32_t cp, char out[4]);

bool utf8_valid(const char *s, size_t len);

/* Bytes at the end that begin a character which is not complete yet: 0 to 3. */
size_t utf8_incomplete_tail(const char *s, size_t len);

/* Columns of one code point: 0 for combining and control characters, 1 or 2 otherwise. A character
 * that the locale's set lacks has the columns of its stand-in (charset_lacks()); one that
 * utf8_clean() replaces by U+FFFD has 1. */
int utf8_cp_width(uint32_t cp);

/* A character that an emoji can begin with, except flags and keycaps. */
bool utf8_is_pictograph(uint32_t cp);

/* Columns of a text without line breaks. */
size_t utf8_width(const char *s, size_t len);

/* Byte offset of the next / previous grapheme border; pos must be a border. */
size_t utf8_next(const char *s, size_t len, size_t pos);
size_t utf8_prev(const char *s, size_t len, size_t pos);

/* Length of the longest prefix of at most `max` bytes / columns that ends on a grapheme border. */
size_t utf8_cut_bytes(const char *s, size_t len, size_t max);
size_t utf8_cut_width(const char *s, size_t len, size_t max_columns);
/* The length of the first `max` code points. */
size_t utf8_cut_points(const char *s, size_t len, size_t max);

/* Appends the prefix of at most `max` bytes, and "…" if that is not all. */
void utf8_add_cut(struct buf *out, const char *s, size_t len, size_t max);

/* Appends the text, made safe to show: valid UTF-8, in which C0 controls and DEL are replaced by
 * their control pictures (U+2400…), and by U+FFFD: C1 controls, bidirectional overrides, tags,
 * variation selectors except those of emoji, other characters that hide text, and invalid bytes.
 * CR LF, CR and the line separators U+2028 and U+2029 become LF. Newline and tab stay with
 * UTF8_MULTILINE, else they become spaces. */
enum utf8_clean_mode { UTF8_ONE_LINE, UTF8_MULTILINE };
void utf8_clean(struct buf *out, const char *s, size_t len, enum utf8_clean_mode mode);
/* Appends a piece of a program's output, cleaned, to the pieces before it: a CR begins its line
 * anew. Keeps the last `max` bytes, whole lines where that can be. */
void utf8_add_output(struct buf *out, const char *piece, size_t max);

/* utf8_clean() to one line; of NULL "". The caller frees. */
char *utf8_clean_line(const char *text);

/* utf8_clean() for a text by which somebody decides: nothing in it is invisible or looks like a
 * plain space. C0 controls, CR too, become their pictures; other controls, format and bidirectional
 * characters, tags, variation selectors and joiners outside of emoji, letters without a glyph,
 * unassigned characters and every blank but the space become <U+XXXX>, invalid bytes <0xXX>.
 * Newline and tab stay with UTF8_MULTILINE. Idempotent. */
void utf8_reveal(struct buf *out, const char *s, size_t len, enum utf8_clean_mode mode);

/* A control, format or ignorable character beyond ASCII, except joiners and the selectors of emoji:
 * our JSON writes it as an escape. */
bool utf8_is_hidden(uint32_t cp);

/* The valid text in Unicode's normalisation form C, so that equal characters are equal bytes. The
 * caller frees. */
char *utf8_composed(const char *text);

/* NULL, or nothing but blanks and ends of lines. */
bool utf8_is_blank(const char *text);

/* Simple case folding for matching, both NUL-terminated: is `needle` part of `haystack`? */
bool utf8_contains_folded(const char *haystack, const char *needle);

/* The first match and its length; NULL: none. */
const char *utf8_find_folded(const char *s, size_t len, const char *needle, size_t *match_len);

/* ---- the character set of the locale ---- All texts of the program are UTF-8; a terminal gets
 * them in this set. */

enum charset {
    CHARSET_UTF8,
    CHARSET_ASSUMED, /* the environment names a locale of UTF-8 that is not installed: characters
                        are UTF-8, all else is as in the locale "C" */
    CHARSET_OTHER    /* lacks some characters */
};

/* Sets the locale of the environment, once, before any thread. If the environment names none,
 * characters are UTF-8. */
enum charset charset_start(void);

/* The result of charset_start(); CHARSET_UTF8 before it. */
enum charset charset(void);

/* The locale that the environment names for characters; "" if none. Borrowed. */
const char *charset_locale(void);

/* Whether the set lacks the character. If so, `out` is its stand-in in ASCII: a transliteration
 * ("ue", "EUR", "->"), "?" if there is none, "" for marks on other characters. Any thread. */
enum { CHARSET_STAND_IN_MAX = 16 }; /* bytes, with the NUL */
bool charset_lacks(uint32_t cp, char out[CHARSET_STAND_IN_MAX]);

/* Appends the UTF-8 text with <U+XXXX> for characters that the set lacks: for a text by which
 * somebody decides, in which a stand-in could be taken for another character. */
void charset_reveal(struct buf *out, const char *s, size_t len);

/* Appends the UTF-8 text in the set, with stand-ins. */
void charset_encode(struct buf *out, const char *s, size_t len);

/* Appends text of the set as UTF-8; invalid bytes as U+FFFD. Valid UTF-8 is taken as such:
 * terminals send it more often than their locale says. */
void charset_decode(struct buf *out, const char *s, size_t len);

#endif
