/* What a model said, made fit to be kept: bounded, cleaned, cut where a thought ends. Pure. */
#ifndef COMPACT_SUMMARY_TEXT_H
#define COMPACT_SUMMARY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "chat/message.h"

/* The texts of these blocks as one, of at most `max` bytes, safe to show, without blanks at its
 * ends; with `cut_off` without the sentence or line that was broken off. NULL: nothing is left. The
 * caller frees. */
char *summary_text(const struct block *blocks, size_t count, size_t max, bool cut_off);

/* An empty user message's JSON, with room for large numbers. */
enum { SUMMARY_MESSAGE_BYTES = 160 };

/* Bytes of the longest beginning of a text whose message is estimated at `tokens` at most: whole
 * graphemes, and at least one character. */
size_t summary_text_fit(const char *text, size_t len, int64_t tokens);

/* Length of the text without the sentence or line that its end breaks off; all of it where that
 * would be more than half. */
size_t summary_text_sentences(const char *text, size_t len);

#endif
