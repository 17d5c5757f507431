/* Texts that can be searched for by words (words.h) and by vectors (vectors.h). They stand in a
 * table of somebody else's, the owner; the index has tables of its own beside it, all named after
 * the same prefix P.
 *
 * The owner's: P_entry with the column key, a row a text, and asks (1: it ends with a question),
 * both in the index P_asks; and with role ("user": the user's own) and speaker (NULL: who has no
 * name). The index's: P_words, P_model, P_vector, P_floats, P_version. The owner
 * says what comes, changes and goes, within its own transactions. */
#ifndef INDEX_CORPUS_H
#define INDEX_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/memory.h"
#include "index/rank.h"
#include "store/sql.h"

/* A text as the index sees it. */
struct document {
    int64_t key;
    char *words;   /* what its words are taken from: a function of the row alone, so that they can
                      be taken out again */
    char *content; /* what is embedded */
    char *speaker; /* whose name is embedded with it; NULL: nobody's */
};
void document_release(struct document *d);

struct corpus {
    struct store *store;
    const char *tables; /* the prefix, a constant: "memory" */
    /* The text with the lowest key from this one on. */
    bool (*document)(struct store *s, int64_t from, struct document *out, bool *found,
                     struct error *e);
};

/* query_begin_in() and store_exec_in() for the corpus's tables. */
struct query corpus_query(const struct corpus *c, const char *sql, struct error *e);
bool corpus_exec(const struct corpus *c, const char *sql, struct error *e);
/* Runs a statement with one parameter; negative: with none. */
bool corpus_run(const struct corpus *c, const char *sql, int64_t parameter, struct error *e);
/* The number in the first row, 0 where there is none. `parameter` negative: it has none. */
bool corpus_number(const struct corpus *c, const char *sql, int64_t parameter, int64_t *out,
                   struct error *e);
bool corpus_has(const struct corpus *c, const char *sql, bool *out, struct error *e);

/* Bytes that words and vectors take. */
bool corpus_bytes(const struct corpus *c, int64_t *out, struct error *e);

/* Sessions whose texts may be found (rank_key_session()); `all`: every one. */
struct corpus_scope {
    bool all;
    VEC(int64_t) numbers; /* ascending */
};
bool corpus_scope_has(const struct corpus_scope *scope, int64_t session);

struct candidate {
    int64_t key;
    double rank, score;
    struct memory_why why;
};
struct candidates {
    VEC(struct candidate) items; /* best first */
    /* Of words_search(): */
    double average;    /* words that an entry of the corpus has */
    bool knows_equals; /* an entry of the same text as the question is one of these */
    struct rank_whole equals;
};

#endif
