/* Vectors of a server: of the texts' number, one dimension, finite, and of length 1 or 0. The first
 * byte chooses the embedder. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/embedder.h"
#include "tests/fuzz/fuzz.h"

struct body {
    const uint8_t *bytes;
    size_t len;
};

static bool answer(void *context, const struct http_request *request, struct http_reply *reply,
                   struct failure *f)
{
    const struct body *b = context;
    (void)request;
    reply->status = 200;
    snprintf(reply->content_type, sizeof reply->content_type, "application/json");
    return buf_try_add(&reply->body, b->bytes, b->len) ||
           failure_set(f, FAILURE_TOO_LARGE, "large");
}

static void check_vectors(const struct embeddings *v, size_t count)
{
    FUZZ_CHECK(v->dimension > 0 && v->values.len == count * (size_t)v->dimension);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int k = 0; k < v->dimension; k++) {
            double x = v->values.items[i * (size_t)v->dimension + (size_t)k];
            FUZZ_CHECK(isfinite(x));
            sum += x * x;
        }
        FUZZ_CHECK(sum == 0 || fabs(sum - 1) < 1e-3);
    }
}

int fuzz_embedding(const uint8_t *data, size_t size)
{
    static const struct embedder *const all[] = {&embed_openai, &embed_ollama};
    static const char *const texts[] = {"one", "two"};
    static char url[] = "http://127.0.0.1:1", model[] = "test";
    static struct config *config;
    if (!config)
        config = config_new();
    if (size == 0)
        return -1;
    struct embedding_settings s = {.embedder = all[data[0] & 1],
                                   .base_url = url,
                                   .model = model,
                                   .batch = 2,
                                   .config = config};
    struct body body = {data + 1, size - 1};
    struct http *http = http_new_answered(answer, &body);
    struct embeddings out = {0};
    struct failure f;
    if (embed_once(&s, http, NULL, texts, 2, &out, &f))
        check_vectors(&out, 2);
    else
        FUZZ_CHECK(fuzz_is_clean(f.text, strlen(f.text), false) && *f.text);
    embeddings_release(&out);
    http_free(http);
    return 0;
}
