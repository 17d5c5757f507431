/* UTF-8: decoding, grapheme borders (utf8proc), columns (wcwidth() alone), cleaning and
 * revealing (utf8_reveal.c). */
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

/* Columns of one code point: 0 for combining and control characters, 1 or 2 otherwise; of what the
 * locale's character set lacks, those of what is shown in its place (charset.h), and of what
 * utf8_clean() replaces beyond ASCII, those of its mark. */
int utf8_cp_width(uint32_t cp);

/* A character that is a picture: what emoji begin with, flags and keycaps apart. */
bool utf8_is_pictograph(uint32_t cp);

/* Columns of a text without line breaks. */
size_t utf8_width(const char *s, size_t len);

/* Byte offset of the next / previous grapheme border; pos must be a border. */
size_t utf8_next(const char *s, size_t len, size_t pos);
size_t utf8_prev(const char *s, size_t len, size_t pos);

/* Length of the longest prefix of at most `max` bytes / columns that ends on a grapheme border. */
size_t utf8_cut_bytes(const char *s, size_t len, size_t max);
size_t utf8_cut_width(const char *s, size_t len, size_t max_columns);
/* … of the first `max` code points. */
size_t utf8_cut_points(const char *s, size_t len, size_t max);

/* Appends the prefix of at most `max` bytes, and "…" if that is not all. */
void utf8_add_cut(struct buf *out, const char *s, size_t len, size_t max);

/* Appends a text that is safe to show: valid UTF-8, in which C0 controls and DEL became their
 * control pictures (U+2400…); C1 controls, bidirectional overrides, tags, variation selectors but
 * those of emoji, other characters that hide text, and invalid bytes U+FFFD.
 * CR LF, CR and the line separators U+2028 and U+2029 become LF. Newline and tab stay with
 * UTF8_MULTILINE, else they become spaces. */
enum utf8_clean_mode { UTF8_ONE_LINE, UTF8_MULTILINE };
void utf8_clean(struct buf *out, const char *s, size_t len, enum utf8_clean_mode mode);

/* For a text that somebody decides by: as utf8_clean(), but nothing in it is invisible, looks like
 * a plain space or is taken for another character. C0 controls are their pictures, CR too; other
 * controls, format and bidirectional characters, tags, variation selectors and joiners outside of
 * emoji, letters without a glyph, unassigned characters and every blank but the space are <U+XXXX>,
 * invalid bytes <0xXX>. Newline and tab stay with UTF8_MULTILINE. What was revealed once stays as
 * it is. */
void utf8_reveal(struct buf *out, const char *s, size_t len, enum utf8_clean_mode mode);

/* A control, format or ignorable character, beyond ASCII and but for joiners and the selectors of
 * emoji: our JSON has it as an escape. */
bool utf8_is_hidden(uint32_t cp);

/* The text with its characters composed (Unicode's normalisation form C), so that those that are
 * written in several ways are the same bytes. The text is valid; the caller frees. */
char *utf8_composed(const char *text);

/* NULL, or nothing but blanks and ends of lines. */
bool utf8_is_blank(const char *text);

/* Simple case folding for matching, both NUL-terminated: is `needle` part of `haystack`? */
bool utf8_contains_folded(const char *haystack, const char *needle);

/* Where it is first, and how long; NULL: nowhere. */
const char *utf8_find_folded(const char *s, size_t len, const char *needle, size_t *match_len);

/* The character set of the locale: what it lacks, and what is shown in its place. All texts of the
 * program are UTF-8; a terminal gets them in this set. */

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
