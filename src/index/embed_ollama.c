/* POST {host}/api/embed: Ollama, which cuts longer texts by itself. */
#include "index/embed_rows.h"

static const struct embed_post_form form = {.path = "/api/embed", .list = "embeddings"};

const struct embedder embed_ollama = {
    .name = "ollama",
    .usual_model = "nomic-embed-text",
    .has_network = true,
    .takes_dimensions = true,
    .max_batch = 2048,
    .max_bytes = 24000,
    .embed = embed_post,
    .post = &form,
};
