/* The bytes of a vector graph. Any bytes can be loaded and searched, and a saved graph loads equal.
 * The bytes are also loaded as a file, once unchanged and once with a matching checksum. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/graph_file.h"
#include "tests/fuzz/fuzz.h"

enum { DIMENSION = 4, MOST_HITS = 8 };

static void check_search(struct hnsw *h)
{
    int8_t bytes[INT8_LANES] = {127, -3, 0, 5};
    struct hnsw_hit hits[MOST_HITS];
    size_t found = hnsw_search(h, bytes, 0.1f, MOST_HITS, hits);
    FUZZ_CHECK(found <= MOST_HITS && found <= hnsw_count(h));
    for (size_t i = 0; i < found; i++)
        FUZZ_CHECK(hits[i].element < hnsw_count(h));
}

static bool take(void *context, const void *bytes, size_t len)
{
    buf_add(context, bytes, len);
    return true;
}

static void check_graph(const void *bytes, size_t len)
{
    AUTO(buf_release) struct buf written = BUF_INIT, again = BUF_INIT;
    struct hnsw *h = hnsw_read(DIMENSION, bytes, len);
    if (!h)
        return;
    check_search(h);
    FUZZ_CHECK(hnsw_write(h, take, &written));
    struct hnsw *copy = hnsw_read(DIMENSION, written.data, written.len);
    FUZZ_CHECK(copy && hnsw_count(copy) == hnsw_count(h) && hnsw_write(copy, take, &again));
    FUZZ_CHECK(written.len == again.len && memcmp(written.data, again.data, again.len) == 0);
    hnsw_free(copy);
    hnsw_free(h);
}

static void check_file(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("memory-m.hnsw", data, size);
    struct graph_content content = {.model = "m", .dimension = DIMENSION};
    if (graph_file_read(path, &content)) {
        FUZZ_CHECK(hnsw_count(content.hnsw) == content.of.items.len);
        check_search(content.hnsw);
        hnsw_free(content.hnsw);
        vec_release(&content.of.items);
    } else {
        FUZZ_CHECK(!content.hnsw && !content.of.items.items);
    }
    graph_file_remove(path);
}

/* The checksum as graph_file.c computes it. */
static uint64_t checksum(const char *bytes, size_t len)
{
    uint64_t sum = 1;
    for (size_t at = 0; at < len; at += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, len - at < sizeof word ? len - at : sizeof word);
        sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 32;
    }
    return sum;
}

int fuzz_graph(const uint8_t *data, size_t size)
{
    AUTO(buf_release) struct buf summed = BUF_INIT;
    buf_add(&summed, data, size);
    uint64_t sum = checksum(summed.data, summed.len);
    buf_add(&summed, &sum, sizeof sum);
    check_graph(data, size);
    check_file(data, size);
    check_file((const uint8_t *)summed.data, summed.len);
    return 0;
}
