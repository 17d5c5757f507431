/* A graph for nearest neighbours in memory (HNSW, M = 16, ef_construction = 200, at most 16
 * layers): a C interface to hnswlib. Elements are vectors as bytes (int8.h), numbered from 0 in the
 * order in which they were added. One thread. Without hnswlib there is no graph (hnsw_none.c). */
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

/* NULL without memory for it, or without hnswlib. `capacity` is a hint. */
struct hnsw *hnsw_new(int dimension, size_t capacity);
void hnsw_free(struct hnsw *h); /* NULL is fine */

/* int8_stride() bytes, copied. False: out of memory, and the graph can only be freed. */
bool hnsw_add(struct hnsw *h, const int8_t *bytes, float scale);
size_t hnsw_count(const struct hnsw *h);

/* Overwrites the vector of the element with zeros; it still leads to others. */
void hnsw_blank(struct hnsw *h, uint32_t element);

/* Cosine of an element and a vector. */
float hnsw_cosine(const struct hnsw *h, uint32_t element, const int8_t *bytes, float scale);

/* At most `limit` elements, nearest first; the result is how many. */
size_t hnsw_search(struct hnsw *h, const int8_t *bytes, float scale, size_t limit,
                   struct hnsw_hit *out);

/* Writes the graph as bytes, in pieces; false when `write` returns false. */
bool hnsw_write(const struct hnsw *h, bool (*write)(void *context, const void *bytes, size_t len),
                void *context);
/* NULL: these bytes are no such graph. The bytes are not trusted. */
struct hnsw *hnsw_read(int dimension, const void *bytes, size_t len);

#ifdef __cplusplus
}
#endif

#endif
