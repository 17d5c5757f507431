/* Shared by the files of the vectors: vectors.c (searching, rows, embedding), vectors_scan.c (all
 * vectors in memory), vectors_graph.c (the graph and its file). */
#ifndef INDEX_VECTORS_PRIVATE_H
#define INDEX_VECTORS_PRIVATE_H

#include "index/blend.h"
#include "index/hnsw.h"
#include "index/int8.h"
#include "index/vectors.h"

/* --- rows (vectors.c) ------------------------------------------------------------------------ */

/* A model with stored vectors. */
struct vector_model {
    int64_t number; /* 0: it is not known */
    int dimension;
    int64_t fitted;
    struct calibration calibration;
};
/* dimension 0: the one that is in use. */
bool vector_model_find(const struct corpus *c, const char *name, int dimension,
                       struct vector_model *out, struct error *e);

/* P_version, which changes whenever a vector is written or deleted. */
bool vectors_version(const struct corpus *c, int64_t *out, struct error *e);

/* The vectors of a model, by key: an entry's key and P_version when its vector was written. */
struct vector_id {
    int64_t key, stamp;
};
struct vector_ids {
    VEC(struct vector_id) items;
};
bool vectors_ids(const struct corpus *c, int64_t model, struct vector_ids *out, struct error *e);
bool vectors_number(const struct corpus *c, int64_t model, int64_t *out, struct error *e);

/* A vector as int8_stride() bytes. *found is false when it is gone. */
bool vectors_bytes(const struct corpus *c, int64_t model, int64_t key, int dimension, int8_t *bytes,
                   float *scale, bool *found, struct error *e);

/* --- all of them in memory (vectors_scan.c) -------------------------------------------------- */

struct vector_block {
    int64_t model, version;
    int dimension;
    struct vector_ids ids;
    VEC(float) scales;
    VEC(int8_t) bytes; /* a row of int8_stride() each */
};
void vector_block_release(struct vector_block *b);
/* Loads it, or what changed since. */
bool vector_block_update(struct vector_block *b, const struct corpus *c,
                         const struct vector_model *model, struct error *e);

struct nearest {
    int64_t key;
    float cosine, before; /* `before`: the share of the cosine of the entry before */
};
struct nearest_list {
    VEC(struct nearest) items; /* best first, by the sum of both */
};

/* A search in all vectors. */
struct vector_search {
    const struct vector_query *query;
    const struct corpus_scope *scope;
    size_t limit;
    struct vectors_field *field; /* NULL: only the nearest are wanted */

    /* Found: */
    struct nearest_list near, also;
};

void vector_block_scan(const struct vector_block *b, struct vector_search *s);
/* Adds one that is among the `limit` nearest. */
void nearest_add(struct nearest_list *list, size_t limit, const struct nearest *one);

/* Sums over the nearness of entries. */
struct nearness {
    int64_t count;
    double sum, squares;
};
void nearness_add(struct nearness *n, const struct nearest *one);
void nearness_tell(const struct nearness *n, struct vectors_field *out); /* not its count */

/* --- the graph (vectors_graph.c) ------------------------------------------------------------- */

struct graph_file {
    int64_t device, inode, size, changed_ns; /* of the file that was read last; 0: none */
};
struct vector_graph {
    struct hnsw *hnsw; /* NULL: none */
    char *model;       /* of the graph */
    int64_t number;
    int dimension;
    int64_t version;      /* P_version of the vectors that it holds */
    struct vector_ids of; /* by element; key -1: blank */
    size_t gone;
    struct vector_ids pending; /* vectors of version `target` that it lacks, the next one last */
    int64_t target;
    size_t unsaved; /* changes that the file lacks */
    bool overdue;   /* forgotten vectors are among them */
    struct graph_file file;
    int lock; /* descriptor, while it is made or changed; -1 */
};
struct vectors {
    const char *tables;
    char *directory; /* NULL: no files */
    int64_t graph_from;
    struct vector_block block;
    struct vector_graph graph;
    bool used_graph;
};

/* Whether there is a graph that holds what the store holds at this version. Reads the file where
 * that may help. */
bool vector_graph_ready(struct vectors *v, const char *name, const struct vector_model *model,
                        int64_t version);
void vector_graph_search(struct vector_graph *g, struct vector_search *s);
/* Mean and deviation of the nearness (s->field) of a sample of what it holds, spread over all. */
void vector_graph_measure(const struct vector_graph *g, struct vector_search *s);
void vector_graph_release(struct vector_graph *g);

#endif
