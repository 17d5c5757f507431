/* What the parts of the index of words share: words.c (putting in and taking out), words_merge.c,
 * words_purge.c, words_next.c (the index that is to take its place), words_reindex.c. */
#ifndef INDEX_WORDS_PRIVATE_H
#define INDEX_WORDS_PRIVATE_H

#include "index/words.h"
#include "store/language.h"

/* An empty table P_words, or P_words_next by the ending "_next". */
bool words_make_table(const struct corpus *c, const char *ending, const char *language,
                      struct error *e);

/* Runs a statement for a key and a text. */
bool words_write(const struct corpus *c, const char *sql, int64_t key, const char *text,
                 struct error *e);

/* The language of P_words or P_words_next; the caller frees. */
bool words_table_language(const struct corpus *c, const char *ending, char **out, struct error *e);
/* The language that the index was made for; the caller frees. */
bool words_speak(const struct corpus *c, struct language **out, struct error *e);

/* Merging parts, so that the index stays quick: for who is about to add so many bytes, in that
 * transaction; and a little of it, in no transaction. */
bool words_make_room(const struct corpus *c, size_t bytes, struct error *e);
bool words_merge_step(const struct corpus *c, bool *more, struct error *e);

/* Whether it has been purged so often that it should be made anew when there is time, or before it
 * is purged again. */
bool words_are_worn(const struct corpus *c, bool *out, struct error *e);
bool words_are_worn_out(const struct corpus *c, bool *out, struct error *e);

/* An index that is to take the place of this one, in steps that each are a transaction of the
 * caller's. *key: the last text that it has, -1: none. */
bool words_next_key(const struct corpus *c, int64_t *key, bool *there, struct error *e);
/* Makes an empty one, unless there is one of this language; one of another is given up. */
bool words_next_begin(const struct corpus *c, const char *language, struct error *e);
bool words_next_add(const struct corpus *c, int64_t key, const char *text, struct error *e);
bool words_next_reach(const struct corpus *c, int64_t key, struct error *e);
bool words_next_use(const struct corpus *c, struct error *e);
/* What is written to the index goes to the next one, too, as far as that is. */
bool words_next_change(const struct corpus *c, int64_t key, const char *text, bool add,
                       struct error *e);

#endif
