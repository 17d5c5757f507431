/* The index of words (FTS5 table memory_words, tokenizer of store/tokenizer.h) and the search in
 * it. */
#ifndef INDEX_WORDS_H
#define INDEX_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/memory_entry.h"
#include "chat/memory_hit.h"
#include "index/query.h"
#include "store/store.h"

/* The text that is indexed for an entry: speaker (first), weekday, day, month and year in English
 * (UTC), content. A function of the entry alone, so that it can be taken out again. The caller
 * frees. */
char *words_text(const struct memory_entry *m);

bool words_add(struct store *s, int64_t key, const struct memory_entry *m, struct error *e);
bool words_remove(struct store *s, int64_t key, const struct memory_entry *m, struct error *e);
/* Until then what was removed is still somewhere in the index. At once, which takes its time, or
 * from now on in steps, which other connections and later runs of the program can go on with. */
bool words_purge(struct store *s, struct error *e);
bool words_purge_later(struct store *s, struct error *e);
bool words_purge_waits(struct store *s, bool *out, struct error *e);
bool words_purge_step(struct store *s, bool *more, struct error *e); /* in a transaction */

/* Parts of the index are merged, so that it stays quick: by who is about to add entries with so
 * many bytes of text, in that transaction; and a little of it, in no transaction, by who has the
 * time. */
bool words_make_room(struct store *s, size_t bytes, struct error *e);
bool words_merge_step(struct store *s, bool *more, struct error *e);

/* Whether it has been purged so often that it should be made anew when there is time, or before it
 * is purged again. */
bool words_are_worn(struct store *s, bool *out, struct error *e);
bool words_are_worn_out(struct store *s, bool *out, struct error *e);

/* An index that is to take the place of this one (words_next.c), in steps that each are a
 * transaction of the caller's. *key: the last entry that it has, -1: none. */
bool words_next_key(struct store *s, int64_t *key, bool *there, struct error *e);
/* Makes an empty one, or finds one of this language; *begun is false where one of another had to be
 * given up, which is then an old one. */
bool words_next_begin(struct store *s, const char *language, bool *begun, struct error *e);
bool words_next_add(struct store *s, int64_t key, const char *text, struct error *e);
bool words_next_reach(struct store *s, int64_t key, struct error *e);
bool words_next_use(struct store *s, struct error *e); /* this one is then an old one */
/* What is written to the index goes to the next one, too, as far as that is. */
bool words_next_change(struct store *s, int64_t key, const char *text, bool add, struct error *e);

/* An old one is cleared bit by bit, or dropped at once. There must be none for _begin() and _use().
 */
bool words_old_waits(struct store *s, bool *out, struct error *e);
bool words_old_clear(struct store *s, bool *more, struct error *e);
bool words_old_drop(struct store *s, struct error *e);

/* Sessions that may be found; `all`: every one. */
struct scope_sessions {
    bool all;
    VEC(int64_t) numbers; /* ascending */
};
bool scope_has(const struct scope_sessions *scope, int64_t session);

struct candidate {
    int64_t key;
    double rank, score;
    struct memory_why why;
};
struct candidates {
    VEC(struct candidate) items; /* best first */
};

/* The best `limit` entries that have a word of the query, and those that rank the same as the last
 * (rank.h). Phrases in quotes must occur (where none does, the other words count), -words must not.
 * min_score and vectors are not its business; nor are `exact` texts. */
bool words_search(struct store *s, const struct memory_query *query,
                  const struct scope_sessions *scope, size_t limit, struct candidates *out,
                  struct error *e);

/* Sets passages and marks of hits whose entries are there. A passage is packed of paragraphs up to
 * PASSAGE_CHARS characters; the one with the most of the query wins. */
enum { PASSAGE_CHARS = 800 };
bool words_explain(struct store *s, const struct memory_query *query, struct memory_hits *hits,
                   struct error *e);

/* Language that the index was made for; the caller frees. */
bool words_language(struct store *s, char **out, struct error *e);
/* Drops the index, and the next and the old one, and makes an empty one for this language. */
#define WORDS_TABLE_SQL(name)                                                                      \
    "CREATE VIRTUAL TABLE " name                                                                   \
    " USING fts5 ("                                                                                \
    "words, content = '', prefix = '2 3', tokenize = 'tiro %s');"                                  \
    "INSERT INTO " name " (" name ", rank) VALUES ('automerge', 0)"
bool words_reset(struct store *s, const char *language, struct error *e);

#endif
