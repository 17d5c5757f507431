/* Words that a language has seen, with what it made of them: a text says the same few words again
 * and again. Of a fixed size; a word that is met takes the place of another. */
#ifndef STORE_WORD_CACHE_H
#define STORE_WORD_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct word_cache;

struct word_cache *word_cache_new(void);
void word_cache_free(struct word_cache *c); /* NULL is fine */

/* What was made of these bytes, into `word`, which is cleared first; empty where they are passed
 * over. False: it is not known. */
bool word_cache_find(const struct word_cache *c, const char *text, size_t len, struct buf *word);
void word_cache_keep(struct word_cache *c, const char *text, size_t len, const struct buf *word);

#endif
