/* The vectors of a corpus: kept in the database, held in memory as bytes to scan, or in an HNSW
 * graph. */
#ifndef INDEX_VECTORS_H
#define INDEX_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "index/corpus.h"
#include "index/embedder.h"

/* The vectors that one thread has in memory; loaded at the first search, then updated. */
struct vectors;

/* For the corpus of these tables. `graph_directory` has the files of graphs; NULL: no graphs, only
 * the exact scan. From `graph_from` entries on a graph is used, if the build has graphs and it is
 * current. */
struct vectors *vectors_new(const char *tables, const char *graph_directory, int64_t graph_from);
void vectors_free(struct vectors *v); /* NULL is fine */

struct vector_query {
    const char *model; /* as embedding_model_name() */
    int dimension;
    const float *values; /* of length 1; borrowed */
};

/* Statistics of all vectors in scope, for a ranking by more than cosines. The nearness of an entry
 * is its cosine with the question, and a share of the cosine of the entry before it in its session.
 */
struct vectors_field {
    double previous;               /* the share */
    const struct candidates *also; /* entries that are reported at any rank; borrowed */

    /* Filled in: */
    int64_t count;          /* of vectors in scope */
    double mean, deviation; /* of their nearness; with a graph, of a sample */
};

/* The nearest, best first, at most `limit`, with cosine and calibrated score. An exact scan over
 * int8 whose best 50 are scored again in float, or the graph. Without `field` (NULL) by cosine, and
 * only those with a score of more than 0. With it by nearness, which is the rank, whatever the
 * score; behind these, in no order, the other entries of `also` that have a vector. */
bool vectors_search(struct vectors *v, const struct corpus *c, const struct vector_query *query,
                    const struct corpus_scope *scope, size_t limit, struct vectors_field *field,
                    struct candidates *out, struct error *e);

/* Texts that have no vector of a model. */
struct vectors_lacking {
    VEC(int64_t) keys;
    VEC(char *) contents; /* as far as an embedder reads */
    VEC(char *) texts;    /* with the speaker in front: these are embedded */
    size_t max_bytes;
    int64_t missing; /* all that lack one */
};
void vectors_lacking_release(struct vectors_lacking *l);

/* At most `most`, each up to `max_bytes`; none: all have a vector. */
bool vectors_lacking(const struct corpus *c, const char *model, int most, size_t max_bytes,
                     struct vectors_lacking *out, struct error *e);
/* Stores the vectors of these texts, except of texts that were edited or forgotten meanwhile. Their
 * dimension becomes that of the model. */
bool vectors_keep(const struct corpus *c, const char *model, const struct vectors_lacking *of,
                  const struct embeddings *made, struct error *e);
/* Fits the scores to the vectors of a model, when there are many more than at the last time. */
bool vectors_fit(const struct corpus *c, const char *model, struct error *e);

/* Numbers of texts with and without a vector of this model, and of vectors of other models. `model`
 * NULL: none is in use, and none is missing. */
struct vectors_counts {
    int64_t embedded, missing, stale;
    int dimension; /* 0: not known */
};
bool vectors_count(const struct corpus *c, const char *model, struct vectors_counts *out,
                   struct error *e);

/* Deletes the vectors of a text. */
bool vectors_remove(const struct corpus *c, int64_t key, struct error *e);
/* Gives the vectors of a text to another key of it, which has none. */
bool vectors_move(const struct corpus *c, int64_t from, int64_t to, struct error *e);

/* Makes this the dimension of the model; vectors of another one become stale. */
bool vectors_know_model(const struct corpus *c, const char *model, int dimension, struct error *e);

/* Deletes some vectors of other models. *more: there may be others. */
bool vectors_drop_stale(const struct corpus *c, const char *model, bool *more, struct error *e);

/* Updates or makes the file of the graph, in steps, if a graph is used. *left: entries that it
 * lacks. A damaged file is renamed to NAME.damaged and made again. */
bool vectors_graph_step(struct vectors *v, const struct corpus *c, const char *model, int step,
                        int64_t *left, struct error *e);
/* Removes forgotten vectors from the files of graphs; costs nothing without such files. `v` NULL:
 * the files beside the database. Also inside a transaction. */
bool vectors_graph_purge(struct vectors *v, const struct corpus *c, struct error *e);
bool vectors_has_graph(const struct vectors *v); /* the last search used it */

#endif
