/* The vectors of a corpus: kept in the database, held in memory as bytes to scan, or in an HNSW
 * graph. */
#ifndef INDEX_VECTORS_H
#define INDEX_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "index/corpus.h"
#include "index/embedder.h"

/* What one thread holds; loaded at the first search, brought up to date by what changed since. */
struct vectors;

/* Of the corpus of these tables. `graph_directory`: where graphs are files (NULL: none, the exact
 * scan always answers). From `graph_from` entries on a graph is used, where the build has one and
 * it is current. */
struct vectors *vectors_new(const char *tables, const char *graph_directory, int64_t graph_from);
void vectors_free(struct vectors *v); /* NULL is fine */

struct vector_query {
    const char *model; /* as embedding_model_name() */
    int dimension;
    const float *values; /* of length 1; borrowed */
};

/* The nearest, best first, at most `limit`, with cosine and calibrated score, which is more than 0.
 * An exact scan over int8 whose best 50 are scored again in float, or the graph. */
bool vectors_search(struct vectors *v, const struct corpus *c, const struct vector_query *query,
                    const struct corpus_scope *scope, size_t limit, struct candidates *out,
                    struct error *e);

/* How a question stands to all vectors in scope, for who ranks by more than cosines. An entry's
 * nearness is its cosine with the question, and a share of that of the entry before it (rank.h:
 * the key below, of the same session). */
struct vectors_field {
    double previous;               /* the share */
    const struct candidates *also; /* of entries that are told of wherever they stand; borrowed */

    /* Told: */
    int64_t count;          /* of vectors in scope */
    double mean, deviation; /* of their nearness; with a graph, of a sample */
};

/* As vectors_search(), but the nearest by nearness, which is their rank, whatever their score; and
 * behind them, in no order, those of `also` that have a vector and are not among them. */
bool vectors_stand(struct vectors *v, const struct corpus *c, const struct vector_query *query,
                   const struct corpus_scope *scope, size_t limit, struct vectors_field *field,
                   struct candidates *out, struct error *e);

/* Texts that have no vector of a model. */
struct vectors_lacking {
    VEC(int64_t) keys;
    VEC(char *) contents; /* as far as an embedder reads */
    VEC(char *) texts;    /* what is embedded: who said it stands before it */
    size_t max_bytes;
    int64_t missing; /* these and others */
};
void vectors_lacking_release(struct vectors_lacking *l);

/* At most so many, each up to `max_bytes`; none: all have one. */
bool vectors_lacking(const struct corpus *c, const char *model, int most, size_t max_bytes,
                     struct vectors_lacking *out, struct error *e);
/* The vectors that were made of their texts, but of what was edited or forgotten meanwhile. From
 * now on their dimension is the model's. */
bool vectors_keep(const struct corpus *c, const char *model, const struct vectors_lacking *of,
                  const struct embeddings *made, struct error *e);
/* Fits the scores to the model's vectors, where there are many more than when that was done last.
 */
bool vectors_fit(const struct corpus *c, const char *model, struct error *e);

/* How many texts have a vector of this model and lack one, and how many vectors are of other ones.
 * `model` NULL: none is in use, and none is missing. */
struct vectors_counts {
    int64_t embedded, missing, stale;
    int dimension; /* 0: not known */
};
bool vectors_count(const struct corpus *c, const char *model, struct vectors_counts *out,
                   struct error *e);

/* The text is no longer what was embedded. */
bool vectors_remove(const struct corpus *c, int64_t key, struct error *e);

/* From now on this is the model's dimension; what has another one is stale. */
bool vectors_know_model(const struct corpus *c, const char *model, int dimension, struct error *e);

/* Takes vectors of other models away, some at a time. *more: there may be others left. */
bool vectors_drop_stale(const struct corpus *c, const char *model, bool *more, struct error *e);

/* Brings the graph's file up to date, or makes it, in steps; nothing where it is not used. *left:
 * entries that it still lacks. A file that is damaged is set aside (NAME.damaged) and made anew. */
bool vectors_graph_step(struct vectors *v, const struct corpus *c, const char *model, int step,
                        int64_t *left, struct error *e);
/* What was forgotten leaves the files of graphs at once; costs nothing where there are none. `v`
 * may be NULL: then they are looked for beside the database. Inside a transaction, too. */
bool vectors_graph_purge(struct vectors *v, const struct corpus *c, struct error *e);
bool vectors_has_graph(const struct vectors *v); /* the last search used it */

#endif
