#include "index/embedder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entropy.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "provider/choose.h"

enum { KEY_COMMAND_MS = 30000, SHORTEST_CUT = 256 };

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

void embeddings_release(struct embeddings *v)
{
    vec_release(&v->values);
    v->dimension = 0;
}

void embed_normalise(float *values, size_t count)
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

/* --- settings -------------------------------------------------------------------------------- */

void embedding_settings_release(struct embedding_settings *s)
{
    free(s->base_url);
    free(s->model);
    key_command_free(s->key);
    *s = (struct embedding_settings){0};
}

static char *trimmed_url(const char *url)
{
    size_t len = strlen(url);
    while (len > 0 && url[len - 1] == '/')
        len--;
    return mem_strndup(url, len);
}

/* [embedding]'s own URL in place of the provider's. */
static void prefer_own_url(const struct config *config, const struct embedder *embedder,
                           struct endpoint *endpoint)
{
    const char *own = config_string(config, CONFIG_EMBEDDING_BASE_URL);
    if (!*own)
        return;
    free(endpoint->base_url);
    endpoint->base_url = embedder == &embed_ollama ? choose_ollama_url(own) : trimmed_url(own);
}

static bool read_key(const struct config *config, char *(*getenv_fn)(const char *),
                     const struct wakeup *wakeup, struct choice *c, struct error *e)
{
    const char *command = config_string(config, CONFIG_EMBEDDING_API_KEY_COMMAND);
    const char *own = config_string(config, CONFIG_EMBEDDING_API_KEY);
    if (*command)
        return key_command_run("api_key_command", command, KEY_COMMAND_MS, wakeup, &c->endpoint.key,
                               e);
    if (!*own)
        return choose_key(config, getenv_fn, wakeup, c, e);
    c->endpoint.key = mem_strdup(own);
    return true;
}

static bool read_endpoint(const struct config *config, char *(*getenv_fn)(const char *),
                          const struct wakeup *wakeup, struct embedding_settings *out,
                          struct error *e)
{
    struct choice c;
    if (!choose_provider(config, out->embedder->name, NULL, getenv_fn, NULL, NULL, &c, e))
        return false;
    prefer_own_url(config, out->embedder, &c.endpoint);
    bool ok = read_key(config, getenv_fn, wakeup, &c, e);
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

/* Other dimensions of a model are other vectors. */
char *embedding_model_name(const struct embedding_settings *s)
{
    if (s->dimensions > 0 && s->embedder->takes_dimensions)
        return mem_printf("%s/%s@%d", s->embedder->name, s->model, s->dimensions);
    return mem_printf("%s/%s", s->embedder->name, s->model);
}

/* --- embedding ------------------------------------------------------------------------------- */

/* The text, or the start of it (which is then *owned) where it is too long. */
static const char *cut_text(const char *text, size_t max, char **owned)
{
    size_t len = strlen(text);
    *owned = NULL;
    if (len <= max)
        return text;
    size_t keep = utf8_cut_bytes(text, len, max);
    *owned = mem_strndup(text, keep > 0 ? keep : max);
    return *owned;
}

static bool embed_cut(const struct embedding_settings *s, struct http *http,
                      const struct wakeup *wakeup, const char *const *texts, size_t count,
                      size_t max_bytes, struct embeddings *out, struct failure *f)
{
    char **owned = mem_alloc(count * sizeof *owned);
    const char **cut = mem_alloc(count * sizeof *cut);
    for (size_t i = 0; i < count; i++)
        cut[i] = cut_text(texts[i], max_bytes, &owned[i]);
    *out = (struct embeddings){0};
    failure_clear(f);
    bool ok = s->embedder->embed(s, http, wakeup, cut, count, out, f);
    for (size_t i = 0; i < count; i++)
        free(owned[i]);
    free(owned);
    free(cut);
    if (!ok)
        embeddings_release(out);
    return ok;
}

bool embed_once(const struct embedding_settings *s, struct http *http, const struct wakeup *wakeup,
                const char *const *texts, size_t count, struct embeddings *out, struct failure *f)
{
    return embed_cut(s, http, wakeup, texts, count, s->embedder->max_bytes, out, f);
}

static bool embed_patiently(const struct embedding_settings *s, struct http *http,
                            const struct wakeup *wakeup, const char *const *texts, size_t count,
                            size_t max_bytes, struct embeddings *out, struct failure *f)
{
    int retries = (int)config_integer(s->config, CONFIG_PROVIDER_MAX_RETRIES);
    for (int attempt = 1; !embed_cut(s, http, wakeup, texts, count, max_bytes, out, f); attempt++) {
        int64_t wait = failure_retry_wait(f, attempt, retries, entropy_unit());
        if (wait < 0)
            return false;
        if (!wakeup_sleep(wakeup, wait > INT32_MAX ? INT32_MAX : (int)wait))
            return failure_set(f, FAILURE_CANCELLED, "interrupted");
    }
    return true;
}

static bool is_too_much(const struct failure *f)
{
    return f->kind == FAILURE_TOO_LARGE || f->kind == FAILURE_OVERFLOW;
}

static bool append(struct embeddings *to, struct embeddings *from, struct failure *f)
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

/* Fewer texts at once where a request or its reply is too large, then less of a text. False: there
 * is no less. */
static bool ask_for_less(size_t asked, size_t *batch, size_t *max_bytes)
{
    if (asked > 1)
        *batch = asked / 2;
    else
        *max_bytes /= 2;
    return *max_bytes >= SHORTEST_CUT;
}

bool embed_all(const struct embedding_settings *s, struct http *http, const struct wakeup *wakeup,
               const char *const *texts, size_t count, struct embeddings *out, struct failure *f)
{
    size_t batch = (size_t)s->batch, max_bytes = s->embedder->max_bytes;
    *out = (struct embeddings){0};
    for (size_t done = 0; done < count;) {
        size_t ask = count - done < batch ? count - done : batch;
        struct embeddings some;
        if (embed_patiently(s, http, wakeup, texts + done, ask, max_bytes, &some, f)) {
            if (!append(out, &some, f))
                goto failed;
            done += ask;
            max_bytes = s->embedder->max_bytes;
        } else if (!is_too_much(f) || !ask_for_less(ask, &batch, &max_bytes)) {
            goto failed;
        }
    }
    return true;
failed:
    embeddings_release(out);
    return false;
}
