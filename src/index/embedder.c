/* A bag of words in 4,096 buckets: for comparison, and to run the path of vectors anywhere. */
#include "index/embedder.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/environment.h"
#include "base/json.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"
#include "provider/choose.h"
#include "provider/exchange.h"
#include "store/tokenizer.h"

void embeddings_release(struct embeddings *v)
{
    vec_release(&v->values);
    v->dimension = 0;
}

/* Length 1, or 0 where all are 0. */
static void normalise(float *values, size_t count)
{
    double largest = 0, square = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)values[i]));
    if (largest <= 0)
        return;
    for (size_t i = 0; i < count; i++)
        square += (values[i] / largest) * (values[i] / largest);
    double scale = 1 / (largest * sqrt(square));
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(values[i] * scale);
}

/* --- hashed: a bag of words in 4,096 buckets, for comparison, and to test vectors anywhere */

enum { BUCKETS = 4096, MEGABYTE = 1 << 20 };

static bool embed_hash(const struct embedding_settings *settings, struct http *http,
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
    for (size_t i = 0; i < count; i++) {
        float *buckets = out->values.items + i * BUCKETS;
        struct tokens words = {0};
        tokenize("none", texts[i], strlen(texts[i]), true, &words);
        for (size_t k = 0; k < words.items.len; k++) {
            const char *word = words.items.items[k].word;
            uint64_t hash =
                mem_hash(MEM_HASH, word, strlen(word)); /* its low bits are mixed least */
            buckets[(hash ^ (hash >> 32)) % BUCKETS] += 1;
        }
        tokens_release(&words);
        normalise(buckets, BUCKETS);
    }
    return true;
}

const struct embedder embed_hashed = {
    .name = "hashed",
    .usual_model = "words",
    .max_batch = 256,
    .max_bytes = MEGABYTE,
    .embed = embed_hash,
};

/* --- embedders with a network: a POST of texts, vectors as arrays of numbers */

/* A reply that is being read. */
struct reply {
    const struct embedder *embedder;
    size_t count; /* of texts */
    struct embeddings *out;
};

static bool refuse(const struct reply *r, struct failure *f, const char *why)
{
    return failure_set(f, FAILURE_PROTOCOL, "%s: %s", r->embedder->name, why);
}

/* The dimension of the first vector is that of all. */
static bool take_vector(const struct reply *r, size_t place, const struct json *vector,
                        struct failure *f)
{
    struct embeddings *out = r->out;
    if (json_type(vector) != JSON_ARRAY)
        return refuse(r, f, "the reply holds no vectors");
    size_t dimension = json_len(vector);
    if (dimension < 1 || dimension > EMBED_MOST_DIMENSIONS)
        return failure_set(f, FAILURE_PROTOCOL, "%s: a vector has %zu dimensions",
                           r->embedder->name, dimension);
    if (out->dimension == 0) {
        out->dimension = (int)dimension;
        vec_reserve(&out->values, dimension * r->count);
        out->values.len = dimension * r->count;
    }
    if ((size_t)out->dimension != dimension)
        return refuse(r, f, "the vectors have different dimensions");
    float *start = out->values.items + place * dimension, *to = start;
    for (const struct json *v = json_first(vector); v; v = json_next(v)) {
        double n = json_number(v, NAN);
        *to = (float)n;
        if (!isfinite(n) || !isfinite(*to))
            return refuse(r, f, "a vector holds what is no number");
        to++;
    }
    normalise(start, dimension);
    return true;
}

static bool embed_post(const struct embedding_settings *settings, struct http *http,
                       const struct wakeup *wakeup, const char *const *texts, size_t count,
                       struct embeddings *out, struct failure *f)
{
    const struct dialect dialect = {.name = settings->embedder->name};
    const struct endpoint endpoint = {.base_url = settings->base_url, .key = settings->key};
    const struct provider_call call = {
        .http = http, .endpoint = &endpoint, .config = settings->config, .wakeup = wakeup};
    struct json *input = json_new_array();
    for (size_t i = 0; i < count; i++)
        json_push(input, json_new_string(texts[i]));
    struct json *body = json_pack("{model:s input:o}", settings->model, input);
    if (settings->dimensions > 0)
        json_set_int(body, "dimensions", settings->dimensions);
    AUTO(json_free_local)
    struct json *reply = exchange_ask(&call, &dialect, settings->embedder->post.path, body, f);
    if (!reply)
        return false;
    auto_free bool *taken = mem_alloc(count * sizeof *taken); /* places */
    const struct reply r = {settings->embedder, count, out};
    const char *vector = r.embedder->post.vector, *place = r.embedder->post.place;
    const struct json *list = json_get(reply, r.embedder->post.list);
    size_t nth = 0;
    if (json_type(list) != JSON_ARRAY || json_len(list) != count)
        return failure_set(f, FAILURE_PROTOCOL, "%s: %zu vectors came for %zu texts",
                           r.embedder->name, json_len(list), count);
    for (const struct json *item = json_first(list); item; item = json_next(item), nth++) {
        /* A server that gives no places keeps the order. */
        double told = place ? json_get_number(item, place, (double)nth) : (double)nth;
        int64_t index = figure_from(told, (int64_t)count - 1);
        if (index < 0 || taken[index])
            return refuse(&r, f, "the vectors' numbers are no order");
        taken[index] = true;
        if (!take_vector(&r, (size_t)index, vector ? json_get(item, vector) : item, f))
            return false;
    }
    return true;
}

/* OpenAI, and servers that speak its dialect. */
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

/* Ollama cuts longer texts by itself. */
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

enum { KEY_COMMAND_MS = 30000, SHORTEST_CUT = 256 };

/* --- settings -------------------------------------------------------------------------------- */

static const struct embedder *const embedders[] = {&embed_hashed, &embed_openai, &embed_ollama,
                                                   NULL};

const struct embedder *embedder_find(const char *name)
{
    if (strcmp(name, "builtin") == 0)
        return &embed_hashed;
    for (size_t i = 0; embedders[i]; i++)
        if (strcmp(embedders[i]->name, name) == 0)
            return embedders[i];
    return NULL;
}

void embedding_settings_release(struct embedding_settings *s)
{
    free(s->base_url);
    free(s->model);
    key_command_free(s->key);
    *s = (struct embedding_settings){0};
}

static bool read_endpoint(const struct config *config, char *(*getenv_fn)(const char *),
                          const struct wakeup *wakeup, struct embedding_settings *out,
                          struct error *e)
{
    struct choice c;
    const char *url = config_string(config, CONFIG_EMBEDDING_BASE_URL);
    const char *command = config_string(config, CONFIG_EMBEDDING_API_KEY_COMMAND);
    const char *key = config_string(config, CONFIG_EMBEDDING_API_KEY);
    if (!choose_provider(config, out->embedder->name, NULL, getenv_fn, NULL, NULL, &c, e))
        return false;
    if (*url) {
        size_t len = strlen(url);
        while (len > 0 && url[len - 1] == '/')
            len--;
        free(c.endpoint.base_url);
        c.endpoint.base_url =
            out->embedder == &embed_ollama ? choose_ollama_url(url) : mem_strndup(url, len);
    }
    bool ok = true;
    if (*command)
        ok =
            key_command_run("api_key_command", command, KEY_COMMAND_MS, wakeup, &c.endpoint.key, e);
    else if (*key)
        c.endpoint.key = mem_strdup(key);
    else
        ok = choose_key(config, getenv_fn, wakeup, &c, e);
    if (ok) {
        out->base_url = c.endpoint.base_url;
        out->key = c.endpoint.key;
        c.endpoint = (struct endpoint){0};
    }
    choice_release(&c);
    return ok;
}

bool embedding_settings_read(const struct config *config, char *(*getenv_fn)(const char *),
                             const struct wakeup *wakeup, struct embedding_settings *out,
                             struct error *e)
{
    const char *model = config_string(config, CONFIG_EMBEDDING_MODEL);
    *out = (struct embedding_settings){
        .embedder = embedder_find(config_string(config, CONFIG_EMBEDDING_PROVIDER)),
        .config = config};
    if (!out->embedder)
        return true;
    if (out->embedder->has_network && !read_endpoint(config, getenv_fn, wakeup, out, e)) {
        embedding_settings_release(out);
        return false;
    }
    out->model =
        mem_strdup(*model && out->embedder->has_network ? model : out->embedder->usual_model);
    out->dimensions = (int)config_integer(config, CONFIG_EMBEDDING_DIMENSIONS);
    out->batch = (int)config_integer(config, CONFIG_EMBEDDING_BATCH);
    if (out->batch > out->embedder->max_batch)
        out->batch = out->embedder->max_batch;
    return true;
}

/* Vectors of a model with other dimensions are other vectors. */
char *embedding_model_name(const struct embedding_settings *s)
{
    if (s->dimensions > 0 && s->embedder->takes_dimensions)
        return mem_printf("%s/%s@%d", s->embedder->name, s->model, s->dimensions);
    return mem_printf("%s/%s", s->embedder->name, s->model);
}

/* --- embedding ------------------------------------------------------------------------------- */

bool embed_once(const struct embedding_settings *s, struct http *http, const struct wakeup *wakeup,
                const char *const *texts, size_t count, size_t max_bytes, struct embeddings *out,
                struct failure *f)
{
    auto_free char **owned = mem_alloc(count * sizeof *owned);
    auto_free const char **cut = mem_alloc(count * sizeof *cut);
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(texts[i]);
        size_t keep = len > max_bytes ? utf8_cut_bytes(texts[i], len, max_bytes) : 0;
        if (len > max_bytes)
            owned[i] = mem_strndup(texts[i], keep > 0 ? keep : max_bytes);
        cut[i] = owned[i] ? owned[i] : texts[i];
    }
    *out = (struct embeddings){0};
    failure_clear(f);
    bool ok = s->embedder->embed(s, http, wakeup, cut, count, out, f);
    for (size_t i = 0; i < count; i++)
        free(owned[i]);
    if (!ok)
        embeddings_release(out);
    return ok;
}

static bool append_vectors(struct embeddings *to, struct embeddings *from, struct failure *f)
{
    bool fits = to->dimension == 0 || to->dimension == from->dimension;
    size_t old = to->values.len;
    if (fits) {
        to->dimension = from->dimension;
        vec_reserve(&to->values, old + from->values.len);
        memcpy(to->values.items + old, from->values.items, from->values.len * sizeof(float));
        to->values.len += from->values.len;
    }
    embeddings_release(from);
    return fits || failure_set(f, FAILURE_PROTOCOL, "the vectors have different dimensions");
}

bool embed_all(const struct embedding_settings *s, struct http *http, const struct wakeup *wakeup,
               const char *const *texts, size_t count, struct embeddings *out, struct failure *f)
{
    int retries = (int)config_integer(s->config, CONFIG_PROVIDER_MAX_RETRIES), attempt = 1;
    size_t batch = (size_t)s->batch, max_bytes = s->embedder->max_bytes, done = 0;
    bool ok = true;
    *out = (struct embeddings){0};
    while (ok && done < count) {
        size_t ask = count - done < batch ? count - done : batch;
        struct embeddings some;
        if (embed_once(s, http, wakeup, texts + done, ask, max_bytes, &some, f)) {
            ok = append_vectors(out, &some, f);
            done += ask;
            max_bytes = s->embedder->max_bytes;
            attempt = 1;
            continue;
        }
        int64_t wait = failure_retry_wait(f, attempt++, retries, entropy_unit());
        if (wait >= 0) {
            if (!wakeup_sleep(wakeup, wait > INT32_MAX ? INT32_MAX : (int)wait))
                ok = failure_set(f, FAILURE_CANCELLED, "interrupted");
            continue;
        }
        /* A request or its reply is too large: fewer texts at once, then less of a text. */
        ok = f->kind == FAILURE_TOO_LARGE || f->kind == FAILURE_OVERFLOW;
        if (ask > 1)
            batch = ask / 2;
        else
            max_bytes /= 2;
        ok = ok && max_bytes >= SHORTEST_CUT;
        attempt = 1;
    }
    if (!ok)
        embeddings_release(out);
    return ok;
}

void encoder_init(struct encoder *p, const struct config *config)
{
    *p = (struct encoder){.config = config, .http = http_new(), .patience_ms = ENCODER_PATIENCE_MS};
}

void encoder_release(struct encoder *p)
{
    http_free(p->http);
    embedding_settings_release(&p->embedding);
    embeddings_release(&p->asked);
    free(p->asked_text);
    free(p->model);
    *p = (struct encoder){0};
}

bool encoder_read(struct encoder *p, const struct wakeup *wakeup)
{
    if (p->read)
        return p->embedding.embedder != NULL;
    if (!embedding_settings_read(p->config, environment_get, wakeup, &p->embedding, &p->fault)) {
        p->read = p->fault.code != ERR_INTERRUPTED;
        return false;
    }
    p->read = true;
    p->fault = (struct error){0};
    p->model = p->embedding.embedder ? embedding_model_name(&p->embedding) : NULL;
    return p->embedding.embedder != NULL;
}

/* --- the configured embedder -------------------------------------------------------------------
 */

/* A wakeup that also stops when the endpoint has had its time. */
struct patience {
    const struct wakeup *outer; /* NULL: none */
    int64_t end_ms;
    bool stopped; /* by the outer one */
};

static bool patience_go_on(void *context)
{
    struct patience *p = context;
    if (p->outer && !p->outer->go_on(p->outer->context))
        p->stopped = true;
    return !p->stopped && clock_mono_ms() < p->end_ms;
}

bool encoder_ask(struct encoder *p, const char *text, const struct wakeup *wakeup, bool *stopped)
{
    struct patience patience = {.outer = wakeup, .end_ms = clock_mono_ms() + p->patience_ms};
    struct wakeup both = {.fd = wakeup ? wakeup->fd : -1,
                          .go_on = patience_go_on,
                          .context = &patience,
                          .deadline_ms = patience.end_ms};
    if (wakeup && wakeup->deadline_ms != 0 && wakeup->deadline_ms < both.deadline_ms)
        both.deadline_ms = wakeup->deadline_ms;
    struct failure f;
    *stopped = false;
    if (p->asked_text && strcmp(p->asked_text, text) == 0)
        return true;
    if (clock_mono_ms() < p->retry_ms)
        return false;
    free(p->asked_text);
    p->asked_text = NULL;
    embeddings_release(&p->asked);
    if (embed_once(&p->embedding, p->http, &both, &text, 1, p->embedding.embedder->max_bytes,
                   &p->asked, &f)) {
        p->asked_text = mem_strdup(text);
        return true;
    }
    *stopped = patience.stopped;
    if (!patience.stopped)
        p->retry_ms = clock_mono_ms() + ENCODER_DEAD_MS;
    return false;
}
