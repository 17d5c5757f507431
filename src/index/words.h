/* The words of a corpus: their index (FTS5 table P_words, tokenizer of store/tokenizer.h) and the
 * search in it. */
#ifndef INDEX_WORDS_H
#define INDEX_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chat/memory.h"
#include "index/corpus.h"
#include "index/rank.h"

/* Before texts of so many bytes are added, in that transaction: an index without texts becomes one
 * of this language, and parts of one that has many are merged. */
bool words_prepare(const struct corpus *c, const char *language, size_t bytes, struct error *e);

/* `text`: the document's words. */
bool words_add(const struct corpus *c, int64_t key, const char *text, struct error *e);
bool words_remove(const struct corpus *c, int64_t key, const char *text, struct error *e);

/* Until then what was removed is still somewhere in the index. At once, which takes its time; or,
 * `later`, from now on in steps, which other connections and later runs of the program can go on
 * with. */
bool words_purge(const struct corpus *c, bool later, struct error *e);
bool words_purge_waits(const struct corpus *c, bool *out, struct error *e);
/* Such a step, in a transaction of its own, so that others write in between; the last one takes
 * what was forgotten out of the files of graphs (`v`, NULL: there are none), too, and settles the
 * store. *more: that was not all. */
struct vectors;
bool words_purge_step(const struct corpus *c, struct vectors *v, bool *more, struct error *e);

/* Makes the index anew in this language, with progress (may be NULL; false stops it, and searches
 * find as before). Where no transaction is open, it takes many, and others write in between; what
 * was stopped goes on the next time. */
bool words_reindex(const struct corpus *c, const char *language,
                   bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                   struct error *e);

/* A little of what keeps the index quick, of a reindex
 * that somebody did not bring to its end; *more: that was not all. For who has the time, and no
 * transaction. */
bool words_tidy(const struct corpus *c, bool *more, struct error *e);

/* Language that the index was made for; the caller frees. */
bool words_language(const struct corpus *c, char **out, struct error *e);

struct words_question {
    const char *text;
    bool typing; /* the last word may go on */
    struct rank_settings rank;
};

/* How rare each word of a question is (rank_idf()); none: it is not known. */
struct word_weights {
    VEC(double) items;
};

/* The best `limit` texts that have a word of the question, and those that rank the same as the last
 * (rank.h). Phrases in quotes must occur (where none does, the other words count), -words must not.
 */
bool words_search(const struct corpus *c, const struct words_question *question,
                  const struct corpus_scope *scope, size_t limit, struct candidates *out,
                  struct word_weights *weights, struct error *e);

/* Sets passages and marks of hits whose entries are there. A passage is what a long text is ranked
 * by (places.h) with what stands around it: paragraphs, up to MEMORY_PASSAGE characters. */
bool words_explain(const struct corpus *c, const struct words_question *question,
                   const struct word_weights *weights, struct memory_hits *hits, struct error *e);

#endif
