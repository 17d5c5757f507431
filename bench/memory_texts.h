/* Turns of conversations whose word frequencies fall off as in natural language, and questions
 * about them. Equal seeds give equal texts. */
#ifndef BENCH_MEMORY_TEXTS_H
#define BENCH_MEMORY_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { MEMORY_VOCABULARY = 30000, MEMORY_TALK = 40 /* turns of one session */ };

struct memory_texts;

/* Ends the program with a message on failure. */
struct memory_texts *memory_texts_new(void);
void memory_texts_free(struct memory_texts *t);

/* Replaces `out` by turn `i`, of 15 to 45 words, a third of them common ones. */
void memory_texts_turn(const struct memory_texts *t, uint64_t i, struct buf *out);

/* Replaces `question` by a sentence with three to six rarer words of turn `i` among common ones;
 * `words` (may be NULL) gets the rarer words alone. */
void memory_texts_question(const struct memory_texts *t, uint64_t i, struct buf *question,
                           struct buf *words);

/* Replaces `question` by question `i` of four words that are each in about every fifth turn. */
void memory_texts_common(const struct memory_texts *t, uint64_t i, struct buf *question);

#endif
