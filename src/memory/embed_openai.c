/* POST {base}/embeddings: OpenAI's, and all who speak like it. */
#include <stdlib.h>

#include "base/mem.h"
#include "memory/embed_rows.h"

/* Where a vector belongs, by its "index"; a server that gives none keeps the order. */
static size_t place_of(const struct json *item, size_t nth, size_t count)
{
    int64_t index = json_get_int(item, "index", (int64_t)nth);
    return index >= 0 && (uint64_t)index < count ? (size_t)index : count;
}

static bool take_reply(const struct json *reply, size_t count, struct embeddings *out,
                       struct failure *f)
{
    const char *name = embed_openai.name;
    const struct json *data = json_get(reply, "data");
    bool *taken, ok = json_type(data) == JSON_ARRAY && json_len(data) == count;
    size_t nth = 0;
    if (!ok)
        return failure_set(f, FAILURE_PROTOCOL, "%s: %zu vectors came for %zu texts", name,
                           json_len(data), count);
    taken = mem_alloc(count * sizeof *taken);
    for (const struct json *v = json_first(data); ok && v; v = json_next(v), nth++) {
        size_t place = place_of(v, nth, count);
        if (place >= count || taken[place]) {
            ok = failure_set(f, FAILURE_PROTOCOL, "%s: the vectors' numbers are no order", name);
        } else {
            taken[place] = true;
            ok = embed_take(out, place, count, json_get(v, "embedding"), name, f);
        }
    }
    free(taken);
    return ok;
}

static bool embed(const struct embedding_settings *settings, struct http *http,
                  const struct wakeup *wakeup, const char *const *texts, size_t count,
                  struct embeddings *out, struct failure *f)
{
    struct json *body = embed_body(settings, texts, count);
    struct json *reply = embed_ask(settings, http, wakeup, "/embeddings", body, f);
    bool ok = reply && take_reply(reply, count, out, f);
    json_free(reply);
    return ok;
}

const struct embedder embed_openai = {
    .name = "openai",
    .usual_model = "text-embedding-3-small",
    .has_network = true,
    .takes_dimensions = true,
    .max_batch = 2048,
    .max_bytes = 24000, /* about 8,192 tokens */
    .embed = embed,
};
