/* The vectors of entries: kept in the database, held in memory as bytes to scan, or in an HNSW
 * graph. */
#ifndef INDEX_VECTORS_H
#define INDEX_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/memory_hit.h"
#include "index/embedder.h"
#include "index/words.h"
#include "store/store.h"

/* What one thread holds; loaded at the first search, brought up to date by what changed since. */
struct vectors;

/* `graph_directory`: where graphs are files (NULL: none, the exact scan always answers). From
 * `graph_from` entries on a graph is used, where the build has one and it is current. */
struct vectors *vectors_new(const char *graph_directory, int64_t graph_from);
void vectors_free(struct vectors *v); /* NULL is fine */

struct vector_query {
    const char *model; /* as embedding_model_name() */
    int dimension;
    const float *values; /* of length 1; borrowed */
};

/* The nearest, best first, at most `limit`, with cosine and calibrated score, which is more than 0.
 * An exact scan over int8 whose best 50 are scored again in float, or the graph. */
bool vectors_search(struct vectors *v, struct store *s, const struct vector_query *query,
                    const struct scope_sessions *scope, size_t limit, struct candidates *out,
                    struct error *e);

/* Vectors of the model for entries that have none: `step` entries are embedded and kept. *left is
 * how many still lack one, 0: done. A failure of the endpoint is `f`, of the store `e`. */
enum embed_result { EMBED_DONE, EMBED_MORE, EMBED_FAILED, EMBED_STORE_FAILED };
enum embed_result vectors_embed_step(struct store *s, const struct embedding_settings *settings,
                                     struct http *http, const struct wakeup *wakeup, int step,
                                     int64_t *left, struct failure *f, struct error *e);

/* How many entries have a vector of this model, lack one, and how many vectors are of other ones.
 * `model` NULL: none is in use. */
bool vectors_count(struct store *s, const char *model, struct memory_stats *out, struct error *e);

/* From now on this is the model's dimension; what has another one is stale. */
bool vectors_know_model(struct store *s, const char *model, int dimension, struct error *e);

/* Takes vectors of other models away, some at a time. *more: there may be others left. */
bool vectors_drop_stale(struct store *s, const char *model, bool *more, struct error *e);

/* Brings the graph's file up to date, or makes it, in steps; nothing where it is not used. *left:
 * entries that it still lacks. A file that is damaged is set aside (NAME.damaged) and made anew. */
bool vectors_graph_step(struct vectors *v, struct store *s, const char *model, int step,
                        int64_t *left, struct error *e);
/* What was forgotten leaves the files of graphs at once; costs nothing where there are none. `v`
 * may be NULL: then they are looked for beside the database. Inside a transaction, too. */
bool vectors_graph_purge(struct vectors *v, struct store *s, struct error *e);
bool vectors_has_graph(const struct vectors *v); /* the last search used it */

#endif
