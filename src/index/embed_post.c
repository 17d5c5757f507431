/* The exchange of the embedders with a network: a POST of texts, vectors as arrays of numbers. */
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "chat/usage.h"
#include "index/embedder.h"
#include "provider/exchange.h"

/* What it is read from and into. */
struct reply {
    const struct embedder *embedder;
    size_t count; /* of the texts */
    struct embeddings *out;
    bool *taken; /* places */
};

/* --- the request ------------------------------------------------------------------------------ */

/* {"model", "input": […], "dimensions"?} */
static struct json *body_of(const struct embedding_settings *s, const char *const *texts,
                            size_t count)
{
    struct json *body = json_new_object();
    struct json *input = json_new_array();
    for (size_t i = 0; i < count; i++)
        json_push(input, json_new_string(texts[i]));
    json_set_string(body, "model", s->model);
    json_set(body, "input", input);
    if (s->dimensions > 0)
        json_set_int(body, "dimensions", s->dimensions);
    return body;
}

/* Takes the body. NULL: the failure is filled in. */
static struct json *ask(const struct embedding_settings *s, struct http *http,
                        const struct wakeup *wakeup, struct json *body, struct failure *f)
{
    const struct dialect dialect = {.name = s->embedder->name};
    const struct endpoint endpoint = {.base_url = s->base_url, .key = s->key};
    const struct provider_call call = {
        .http = http, .endpoint = &endpoint, .config = s->config, .wakeup = wakeup};
    return exchange_ask(&call, &dialect, s->embedder->post.path, body, f);
}

/* --- the reply -------------------------------------------------------------------------------- */

static bool refuse(const struct reply *r, struct failure *f, const char *why)
{
    return failure_set(f, FAILURE_PROTOCOL, "%s: %s", r->embedder->name, why);
}

/* The first vector says the dimension of all. */
static bool set_dimension(const struct reply *r, size_t dimension, struct failure *f)
{
    struct embeddings *out = r->out;
    if (dimension < 1 || dimension > EMBED_MOST_DIMENSIONS)
        return failure_set(f, FAILURE_PROTOCOL, "%s: a vector has %zu dimensions",
                           r->embedder->name, dimension);
    if (out->dimension == 0) {
        out->dimension = (int)dimension;
        vec_reserve(&out->values, dimension * r->count);
        out->values.len = dimension * r->count;
    }
    return (size_t)out->dimension == dimension ||
           refuse(r, f, "the vectors have different dimensions");
}

static bool take_vector(const struct reply *r, size_t place, const struct json *vector,
                        struct failure *f)
{
    if (json_type(vector) != JSON_ARRAY)
        return refuse(r, f, "the reply holds no vectors");
    if (!set_dimension(r, json_len(vector), f))
        return false;
    size_t dimension = (size_t)r->out->dimension;
    float *start = r->out->values.items + place * dimension, *to = start;
    for (const struct json *v = json_first(vector); v; v = json_next(v)) {
        double n = json_number(v, NAN);
        *to = (float)n;
        if (!isfinite(n) || !isfinite(*to))
            return refuse(r, f, "a vector holds what is no number");
        to++;
    }
    embed_normalise(start, dimension);
    return true;
}

/* A server that gives no places keeps the order. */
static size_t place_of(const struct reply *r, const struct json *item, size_t nth)
{
    const char *place = r->embedder->post.place;
    double told = place ? json_get_number(item, place, (double)nth) : (double)nth;
    int64_t index = figure_from(told, (int64_t)r->count - 1);
    return index >= 0 ? (size_t)index : r->count;
}

static bool take_item(const struct reply *r, const struct json *item, size_t nth, struct failure *f)
{
    const char *vector = r->embedder->post.vector;
    size_t place = place_of(r, item, nth);
    if (place >= r->count || r->taken[place])
        return refuse(r, f, "the vectors' numbers are no order");
    r->taken[place] = true;
    return take_vector(r, place, vector ? json_get(item, vector) : item, f);
}

static bool take_reply(const struct reply *r, const struct json *reply, struct failure *f)
{
    const struct json *list = json_get(reply, r->embedder->post.list);
    size_t nth = 0;
    if (json_type(list) != JSON_ARRAY || json_len(list) != r->count)
        return failure_set(f, FAILURE_PROTOCOL, "%s: %zu vectors came for %zu texts",
                           r->embedder->name, json_len(list), r->count);
    for (const struct json *item = json_first(list); item; item = json_next(item), nth++)
        if (!take_item(r, item, nth, f))
            return false;
    return true;
}

static bool embed_post(const struct embedding_settings *settings, struct http *http,
                       const struct wakeup *wakeup, const char *const *texts, size_t count,
                       struct embeddings *out, struct failure *f)
{
    struct json *reply = ask(settings, http, wakeup, body_of(settings, texts, count), f);
    if (!reply)
        return false;
    struct reply r = {.embedder = settings->embedder,
                      .count = count,
                      .out = out,
                      .taken = mem_alloc(count * sizeof *r.taken)};
    bool ok = take_reply(&r, reply, f);
    free(r.taken);
    json_free(reply);
    return ok;
}

/* --- who speaks so ---------------------------------------------------------------------------- */

/* OpenAI's, and all who speak like it. */
const struct embedder embed_openai = {
    .name = "openai",
    .usual_model = "text-embedding-3-small",
    .has_network = true,
    .takes_dimensions = true,
    .max_batch = 2048,
    .max_bytes = 24000, /* about 8,192 tokens */
    .embed = embed_post,
    .post = {.path = "/embeddings", .list = "data", .vector = "embedding", .place = "index"},
};

/* Ollama, which cuts longer texts by itself. */
const struct embedder embed_ollama = {
    .name = "ollama",
    .usual_model = "nomic-embed-text",
    .has_network = true,
    .takes_dimensions = true,
    .max_batch = 2048,
    .max_bytes = 24000,
    .embed = embed_post,
    .post = {.path = "/api/embed", .list = "embeddings"},
};
