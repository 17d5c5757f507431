/* Stands in for hnsw.cc where hnswlib or a C++ compiler was not found. */
#include "index/hnsw.h"

bool hnsw_available(void)
{
    return false;
}

struct hnsw *hnsw_new(int dimension, size_t capacity)
{
    (void)dimension;
    (void)capacity;
    return NULL;
}

void hnsw_free(struct hnsw *h)
{
    (void)h;
}

bool hnsw_add(struct hnsw *h, const int8_t *bytes, float scale)
{
    (void)h;
    (void)bytes;
    (void)scale;
    return false;
}

size_t hnsw_count(const struct hnsw *h)
{
    (void)h;
    return 0;
}

void hnsw_blank(struct hnsw *h, uint32_t element)
{
    (void)h;
    (void)element;
}

float hnsw_cosine(const struct hnsw *h, uint32_t element, const int8_t *bytes, float scale)
{
    (void)h;
    (void)element;
    (void)bytes;
    (void)scale;
    return 0;
}

size_t hnsw_search(struct hnsw *h, const int8_t *bytes, float scale, size_t limit,
                   struct hnsw_hit *out)
{
    (void)h;
    (void)bytes;
    (void)scale;
    (void)limit;
    (void)out;
    return 0;
}

bool hnsw_write(const struct hnsw *h, bool (*write)(void *context, const void *bytes, size_t len),
                void *context)
{
    (void)h;
    (void)write;
    (void)context;
    return false;
}

struct hnsw *hnsw_read(int dimension, const void *bytes, size_t len)
{
    (void)dimension;
    (void)bytes;
    (void)len;
    return NULL;
}
