/* The index of words (FTS5 table memory_words, tokenizer of store/tokenizer.h) and the search in
 * it. */
#ifndef MEMORY_WORDS_H
#define MEMORY_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/memory_entry.h"
#include "chat/memory_hit.h"
#include "memory/query.h"
#include "store/store.h"

/* The text that is indexed for an entry: speaker, weekday, day, month and year in English (UTC),
 * content. A function of the entry alone, so that it can be taken out again. The caller frees. */
char *words_text(const struct memory_entry *m);

bool words_add(struct store *s, int64_t key, const struct memory_entry *m, struct error *e);
bool words_remove(struct store *s, int64_t key, const struct memory_entry *m, struct error *e);
/* Until then what was removed is still somewhere in the index. At once, which takes its time, or
 * from now on in steps, which other connections and later runs of the program can go on with. */
bool words_purge(struct store *s, struct error *e);
bool words_purge_later(struct store *s, struct error *e);
bool words_purge_waits(struct store *s, bool *out, struct error *e);
bool words_purge_step(struct store *s, bool *more, struct error *e); /* in a transaction */

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
/* Drops the index and makes an empty one for this language. */
bool words_reset(struct store *s, const char *language, struct error *e);

#endif
