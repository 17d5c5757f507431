/* POST {base}/embeddings: OpenAI's, and all who speak like it. */
#include "index/embed_rows.h"

static const struct embed_post_form form = {
    .path = "/embeddings", .list = "data", .vector = "embedding", .place = "index"};

const struct embedder embed_openai = {
    .name = "openai",
    .usual_model = "text-embedding-3-small",
    .has_network = true,
    .takes_dimensions = true,
    .max_batch = 2048,
    .max_bytes = 24000, /* about 8,192 tokens */
    .embed = embed_post,
    .post = &form,
};
