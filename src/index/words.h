/* The words of a corpus: their index (FTS5 table P_words, tokenizer of store/tokenizer.h), its
 * upkeep, and the search in it. */
#ifndef INDEX_WORDS_H
#define INDEX_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chat/memory.h"
#include "index/corpus.h"
#include "index/rank.h"

/* Called before texts of so many bytes are added, in that transaction: gives an index without texts
 * this language, and merges parts of the index when there are many. */
bool words_prepare(const struct corpus *c, const char *language, size_t bytes, struct error *e);

/* `text`: the document's words. */
bool words_add(const struct corpus *c, int64_t key, const char *text, struct error *e);
bool words_remove(const struct corpus *c, int64_t key, const char *text, struct error *e);

/* Removes the remains of removed texts from the index: at once, which takes its time; or `later`,
 * in steps, which other connections and later runs of the program can go on with. */
bool words_purge(const struct corpus *c, bool later, struct error *e);
bool words_purge_waits(const struct corpus *c, bool *out, struct error *e);
/* Such a step, in a transaction of its own, so that others write in between. The last one also
 * purges the files of graphs (`v`; NULL: there are none), and settles the store. *more: steps are
 * left. */
struct vectors;
bool words_purge_step(const struct corpus *c, struct vectors *v, bool *more, struct error *e);

/* Makes the index again in this language, with progress (may be NULL; false stops it, and searches
 * find as before). Without an open transaction it takes many, and others write in between;
 * words_tidy() goes on with one that was stopped. */
bool words_reindex(const struct corpus *c, const char *language,
                   bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                   struct error *e);

/* One step of merging parts of the index, or of making it again, if a reindex was not completed or
 * an older program made it with other rules (TOKEN_RULES). *more: steps are left. For idle time,
 * without a transaction. */
bool words_tidy(const struct corpus *c, bool *more, struct error *e);

/* Language of the tokenizer of the table P_wordsENDING; "" is the index. The caller frees. */
bool words_language(const struct corpus *c, const char *ending, char **out, struct error *e);

/* The mark (store/tokenizer.h) of a text, which tells facts that the ranking asks of many texts. */
enum { MARK_ASKS = 1, MARK_USER = 2 };
static inline char words_mark(bool asks, bool is_user)
{
    return (char)(1 + (asks ? MARK_ASKS : 0) + (is_user ? MARK_USER : 0));
}

struct words_question {
    const char *text;
    bool typing; /* the last word may go on */
    struct rank_settings rank;
};

/* rank_idf() of each word of a question; empty: not known. */
struct word_weights {
    VEC(double) items;
    double known; /* sum over the words that some text has */
    double most;  /* of a word that no text has */
};

/* The best `limit` texts with a word of the question, and those that rank the same as the last
 * (rank.h). Phrases in quotes must occur (if none does, the other words count), -words must not. */
bool words_search(const struct corpus *c, const struct words_question *question,
                  const struct corpus_scope *scope, size_t limit, struct candidates *out,
                  struct word_weights *weights, struct error *e);

/* Sets passages and marks of hits. The passage of a long text is the one that it is ranked by, with
 * the paragraphs around it, up to MEMORY_PASSAGE characters. */
bool words_explain(const struct corpus *c, const struct words_question *question,
                   const struct word_weights *weights, struct memory_hits *hits, struct error *e);

#endif
