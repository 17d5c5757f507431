/* Where in a text the words are that a full-text search found it by: as the index folds case and
 * accents, so does this. */
#ifndef INDEX_SEARCH_PLACE_H
#define INDEX_SEARCH_PLACE_H

#include "store/sql.h"

/* Gives the connection match_place(transcript_words, text), for queries of that table: the first
 * match as (offset << 32) | length in bytes, or NULL. Once a connection; again does nothing. */
bool search_place_register(struct store *s, struct error *e);

#endif
