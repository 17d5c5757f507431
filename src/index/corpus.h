/* Texts that are searched by words (words.h) and by vectors (vectors.h). They are in a table of the
 * corpus's owner; the index has tables of its own. The names of all begin with the same prefix P.
 *
 * The owner's: P_entry, one row a text, with the columns key, asks (1: the text ends with a
 * question), role ("user": the user's own) and speaker (NULL: no name), and the index P_asks over
 * key and asks. The index's: P_words, P_model, P_vector, P_floats, P_version. The owner tells what
 * it adds, changes and removes, within its own transactions. */
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
    char *words;   /* is indexed by words: a function of the row alone, so that the words can be
                      removed again */
    char *content; /* is embedded */
    char *speaker; /* is embedded with it; NULL: nobody */
};
void document_release(struct document *d);

struct corpus {
    struct store *store;
    const char *tables; /* the prefix, a constant: "memory" */
    /* The text with the lowest key from this one on. */
    bool (*document)(struct store *s, int64_t from, struct document *out, bool *found,
                     struct error *e);
};

/* sql_query(), sql_exec(), sql_number() and store_exec() for the corpus's tables. */
struct query corpus_query(const struct corpus *c, struct error *e, const char *sql,
                          const char *types, ...);
bool corpus_run(const struct corpus *c, struct error *e, const char *sql, const char *types, ...);
/* *out is 0 without a row. */
bool corpus_number(const struct corpus *c, int64_t *out, struct error *e, const char *sql,
                   const char *types, ...);
static inline bool corpus_exec(const struct corpus *c, const char *sql, struct error *e)
{
    return store_exec_in(c->store, c->tables, sql, e);
}

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
