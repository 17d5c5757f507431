/* Semantic memory in the same SQLite database as the sessions: the store that programs use. */
#ifndef MEMORY_SQLITE_STORE_H
#define MEMORY_SQLITE_STORE_H

#include "index/vectors.h"
#include "memory/store.h"
#include "store/store.h"

/* On the caller's connection, which outlives it. Reads nothing: opening costs the same at any size.
 * `language` (NULL: english) is what an index without entries is made for; one that has some keeps
 * its own until a reindex. `vectors` (NULL: none) holds what this thread keeps of vectors;
 * borrowed. */
struct memory *memory_sqlite_new(struct store *s, const char *language, struct vectors *vectors);

/* The entries as the index of words and vectors sees them. */
struct corpus memory_sqlite_corpus(struct store *s);

/* A little of what keeps the index of words quick, and of a reindex that somebody did not bring to
 * its end; *more: that was not all. For who has the time, and no transaction. */
bool memory_sqlite_tidy(struct memory *m, bool *more, struct error *e);

#endif
