/* A graph to find nearest neighbours in (HNSW, M = 16, ef_construction = 200, at most 16 layers),
 * in memory: hnswlib behind a face in C. Elements are vectors as bytes (int8.h), numbered from 0 in
 * the order in which they came. One thread. Without hnswlib there is none (hnsw_none.c). */
#ifndef INDEX_HNSW_H
#define INDEX_HNSW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HNSW_M = 16, HNSW_EF_CONSTRUCTION = 200, HNSW_LAYERS = 16 };

struct hnsw;
struct hnsw_hit {
    uint32_t element;
    float cosine;
};

bool hnsw_available(void);

/* NULL where there is no memory for it, or no hnswlib. `capacity` is a hint. */
struct hnsw *hnsw_new(int dimension, size_t capacity);
void hnsw_free(struct hnsw *h); /* NULL is fine */

/* int8_stride() bytes, copied. False: out of memory, and the graph can only be freed. */
bool hnsw_add(struct hnsw *h, const int8_t *bytes, float scale);
size_t hnsw_count(const struct hnsw *h);

/* Overwrites the element's vector with zeros: its place stays as a way to others. */
void hnsw_blank(struct hnsw *h, uint32_t element);

/* Of an element and these bytes. */
float hnsw_cosine(const struct hnsw *h, uint32_t element, const int8_t *bytes, float scale);

/* At most `limit` elements, nearest first; the result is how many. */
size_t hnsw_search(struct hnsw *h, const int8_t *bytes, float scale, size_t limit,
                   struct hnsw_hit *out);

/* The graph as bytes, in pieces; false when `write` says so. */
bool hnsw_write(const struct hnsw *h, bool (*write)(void *context, const void *bytes, size_t len),
                void *context);
/* NULL: these bytes are no such graph. Whatever they are, it can be searched in. */
struct hnsw *hnsw_read(int dimension, const void *bytes, size_t len);

#ifdef __cplusplus
}
#endif

#endif
