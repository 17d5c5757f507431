/* A bag of words in 4,096 buckets: for comparison, and to run the path of vectors anywhere. */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "index/embedder.h"
#include "store/tokenizer.h"

enum { BUCKETS = 4096, MEGABYTE = 1 << 20 };

/* FNV-1a. The low bits of the product are mixed least. */
static size_t bucket_of(const char *word)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *word; word++)
        hash = (hash ^ (unsigned char)*word) * 0x100000001b3u;
    return (size_t)((hash ^ (hash >> 32)) % BUCKETS);
}

static void count_words(const char *text, float *buckets)
{
    struct tokens words = {0};
    tokenize("none", text, strlen(text), true, &words);
    for (size_t i = 0; i < words.items.len; i++)
        buckets[bucket_of(words.items.items[i].word)] += 1;
    tokens_release(&words);
    embed_normalise(buckets, BUCKETS);
}

static bool embed(const struct embedding_settings *settings, struct http *http,
                  const struct wakeup *wakeup, const char *const *texts, size_t count,
                  struct embeddings *out, struct failure *f)
{
    (void)settings;
    (void)http;
    (void)wakeup;
    (void)f;
    out->dimension = BUCKETS;
    vec_reserve(&out->values, count * BUCKETS);
    out->values.len = count * BUCKETS;
    memset(out->values.items, 0, count * BUCKETS * sizeof(float));
    for (size_t i = 0; i < count; i++)
        count_words(texts[i], out->values.items + i * BUCKETS);
    return true;
}

const struct embedder embed_hashed = {
    .name = "hashed",
    .usual_model = "words",
    .max_batch = 256,
    .max_bytes = MEGABYTE,
    .embed = embed,
};
