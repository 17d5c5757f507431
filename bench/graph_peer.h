/* hnswlib without changes: floats, inner product, M = 16, ef_construction = 200. */
#ifndef BENCH_GRAPH_PEER_H
#define BENCH_GRAPH_PEER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct graph_peer;

/* NULL: this build has no hnswlib. */
struct graph_peer *graph_peer_new(size_t dimension, size_t capacity);
void graph_peer_free(struct graph_peer *g);

void graph_peer_add(struct graph_peer *g, const float *values, size_t number);
void graph_peer_search(struct graph_peer *g, const float *values, size_t limit);

/* Saves the graph to a file of the directory; returns its size in megabytes. */
double graph_peer_save(struct graph_peer *g, const char *directory);

#ifdef __cplusplus
}
#endif

#endif
