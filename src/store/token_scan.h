/* A text as pieces that words are made of, from left to right. */
#ifndef STORE_TOKEN_SCAN_H
#define STORE_TOKEN_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* WORD: letters, marks and digits of scripts that put blanks between words, apostrophes within.
 * SIGN: one character, with what modifies it, of a script that does not (Han, Kana, Hangul, Thai
 * …). EMOJI: one, however many characters it is made of. */
enum piece_kind { PIECE_WORD, PIECE_SIGN, PIECE_EMOJI };

struct piece {
    enum piece_kind kind;
    size_t start, end; /* bytes */
};

struct token_scan {
    const char *text;
    size_t len, at;
    bool elides; /* apostrophes part words */
};

/* False at the end of the text. Invalid bytes part words. */
bool token_scan_next(struct token_scan *scan, struct piece *out);

#endif
