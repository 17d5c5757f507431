/* Vectors: the scan over all of them as bytes, and hnswlib's graph over those of hashed words. */
#include <stdlib.h>

#include "base/entropy.h"
#include "base/mem.h"
#include "bench/graph_peer.h"
#include "bench/memory_probe.h"
#include "bench/memory_texts.h"
#include "index/embedder.h"
#include "index/vectors_private.h"
#include "tests/screen.h"

enum {
    SCAN_DIMENSION = 768,
    SCANS = 200,
    CANDIDATES = 50,
    HASHED_DIMENSION = 4096,
    QUESTIONS = 400,
    HITS = 5,
    SEED = 7
};

/* --- the scan -------------------------------------------------------------------------------- */

static void random_vector(float *out, int dimension)
{
    for (int i = 0; i < dimension; i++)
        out[i] = (float)(entropy_unit() - 0.5);
}

static void add_row(struct vector_block *b, int64_t key)
{
    float values[SCAN_DIMENSION];
    int8_t bytes[SCAN_DIMENSION];
    random_vector(values, SCAN_DIMENSION);
    vec_push(&b->scales, int8_quantise(values, SCAN_DIMENSION, bytes));
    vec_push(&b->ids.items, (struct vector_id){.key = key, .stamp = 1});
    for (size_t i = 0; i < int8_stride(SCAN_DIMENSION); i++)
        vec_push(&b->bytes, bytes[i]);
}

void probe_scan(const char *directory, size_t count)
{
    struct vector_block block = {.model = 1, .version = 1, .dimension = SCAN_DIMENSION};
    const struct corpus_scope every = {.all = true};
    struct probe_times times = {0};
    (void)directory;
    entropy_seed(SEED);
    vec_reserve(&block.bytes, count * int8_stride(SCAN_DIMENSION));
    for (size_t i = 0; i < count; i++)
        add_row(&block, (int64_t)i + 1);
    for (size_t i = 0; i < SCANS; i++) {
        float values[SCAN_DIMENSION];
        random_vector(values, SCAN_DIMENSION);
        const struct vector_query query = {"random", SCAN_DIMENSION, values};
        struct vectors_field field = {.previous = 0.5};
        struct vector_search search = {
            .query = &query, .scope = &every, .limit = CANDIDATES, .field = &field};
        double start = screen_clock();
        vector_block_scan(&block, &search);
        vec_push(&times.ms, screen_clock() - start);
        if (search.near.items.len != CANDIDATES)
            probe_fail("the scan finds too few");
        vec_release(&search.near.items);
        vec_release(&search.also.items);
    }
    vector_block_release(&block);
    probe_times_tell(&times);
}

/* --- the graph ------------------------------------------------------------------------------- */

static void hash_words(const char *text, float out[HASHED_DIMENSION])
{
    const struct embedding_settings settings = {.embedder = embedder_find("hashed")};
    struct embeddings made = {0};
    struct failure f;
    if (!settings.embedder->embed(&settings, NULL, NULL, &text, 1, &made, &f) ||
        made.dimension != HASHED_DIMENSION)
        probe_fail("words cannot be hashed");
    for (size_t i = 0; i < HASHED_DIMENSION; i++)
        out[i] = made.values.items[i];
    embeddings_release(&made);
}

static void build_graph(struct graph_peer *g, const struct memory_texts *texts, size_t count)
{
    float values[HASHED_DIMENSION];
    struct buf text = BUF_INIT;
    double start = screen_clock();
    for (size_t i = 0; i < count; i++) {
        memory_texts_turn(texts, i, &text);
        hash_words(text.data, values);
        graph_peer_add(g, values, i);
    }
    probe_tell("build", screen_clock() - start);
    buf_release(&text);
}

void probe_graph(const char *directory, size_t count)
{
    float values[HASHED_DIMENSION];
    struct probe_times times = {0};
    struct buf question = BUF_INIT;
    struct graph_peer *g = graph_peer_new(HASHED_DIMENSION, count);
    if (!g)
        return;
    struct memory_texts *texts = memory_texts_new();
    build_graph(g, texts, count);
    for (size_t i = 0; i < QUESTIONS; i++) {
        memory_texts_question(texts, i * 7919 % count, &question, NULL);
        double start = screen_clock();
        hash_words(question.data, values);
        graph_peer_search(g, values, HITS);
        vec_push(&times.ms, screen_clock() - start);
    }
    probe_times_tell(&times);
    probe_tell("kept", graph_peer_save(g, directory));
    graph_peer_free(g);
    memory_texts_free(texts);
    buf_release(&question);
}
