/* POST {host}/api/embed: Ollama, which cuts longer texts by itself. */
#include "memory/embed_rows.h"

static bool take_reply(const struct json *reply, size_t count, struct embeddings *out,
                       struct failure *f)
{
    const char *name = embed_ollama.name;
    const struct json *vectors = json_get(reply, "embeddings");
    size_t nth = 0;
    if (json_type(vectors) != JSON_ARRAY || json_len(vectors) != count)
        return failure_set(f, FAILURE_PROTOCOL, "%s: %zu vectors came for %zu texts", name,
                           json_len(vectors), count);
    for (const struct json *v = json_first(vectors); v; v = json_next(v), nth++)
        if (!embed_take(out, nth, count, v, name, f))
            return false;
    return true;
}

static bool embed(const struct embedding_settings *settings, struct http *http,
                  const struct wakeup *wakeup, const char *const *texts, size_t count,
                  struct embeddings *out, struct failure *f)
{
    struct json *body = embed_body(settings, texts, count);
    struct json *reply = embed_ask(settings, http, wakeup, "/api/embed", body, f);
    bool ok = reply && take_reply(reply, count, out, f);
    json_free(reply);
    return ok;
}

const struct embedder embed_ollama = {
    .name = "ollama",
    .usual_model = "nomic-embed-text",
    .has_network = true,
    .takes_dimensions = true,
    .max_batch = 2048,
    .max_bytes = 24000,
    .embed = embed,
};
