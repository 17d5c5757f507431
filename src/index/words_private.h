/* What the parts of the index of words share: words.c (putting in and taking out, also for the
 * index that is to take its place), words_upkeep.c (merging, purging, making it anew),
 * words_search.c. */
#ifndef INDEX_WORDS_PRIVATE_H
#define INDEX_WORDS_PRIVATE_H

#include "index/words.h"
#include "store/language.h"

/* The language that the index was made for; the caller frees. */
bool words_speak(const struct corpus *c, struct language **out, struct error *e);

/* Merges parts for who is about to add so many bytes, in that transaction. */
bool words_make_room(const struct corpus *c, size_t bytes, struct error *e);

/* A number as FTS5 keeps it, in a column's bytes from one on: seven bits a byte, the highest first,
 * all but the last byte marked. */
int64_t words_column_varint(const struct query *q, int column, int from);

/* Where words stand. *out: NULL where FTS5 has to be asked, for its pages are of another format, or
 * not all of it is in them yet. The caller closes it, within the same transaction. */
struct words_lists;
bool words_lists_open(const struct corpus *c, struct words_lists **out, struct error *e);
void words_lists_close(struct words_lists *l);
/* Entries, and the words of all of them. */
void words_lists_totals(const struct words_lists *l, int64_t *entries, int64_t *words);
/* Adds the postings of a word as it stands in the index, by key; `open`: of all words that begin
 * so, one an entry. *whole: false where pages make no sense: what FTS5 makes of them has to be
 * asked. */
bool words_list_read(const struct words_lists *l, const char *word, bool open, struct postings *out,
                     struct place_bytes *places, bool *whole, struct error *e);

/* An index that is to take the place of this one, in steps that each are a transaction of the
 * caller's. *key: the last text that it has, -1: none. */
bool words_next_key(const struct corpus *c, int64_t *key, bool *there, struct error *e);
/* Makes an empty one, unless there is one of this language; another is given up. */
bool words_next_begin(const struct corpus *c, const char *language, struct error *e);
bool words_next_add(const struct corpus *c, int64_t key, const char *text, struct error *e);
bool words_next_reach(const struct corpus *c, int64_t key, struct error *e);
bool words_next_use(const struct corpus *c, struct error *e);
/* The one that it has replaced goes in steps, too; *more: that was not all of it. */
bool words_old_waits(const struct corpus *c, bool *out, struct error *e);
bool words_old_step(const struct corpus *c, bool *more, struct error *e);
#endif
