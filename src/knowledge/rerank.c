#include "knowledge/rerank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/key_command.h"
#include "base/mem.h"
#include "provider/exchange.h"

static const struct dialect dialect = {.name = "reranker"};

bool rerank_is_configured(const struct config *config)
{
    return config_is_set(config, CONFIG_CORPUS_RERANKER_URL);
}

/* --- the question ----------------------------------------------------------------------------- */

static struct json *body_of(const struct config *config, const char *query,
                            const char *const *texts, size_t count, int top_n)
{
    const char *model = config_string(config, CONFIG_CORPUS_RERANKER_MODEL);
    struct json *body = json_new_object(), *documents = json_new_array();
    for (size_t i = 0; i < count; i++)
        json_push(documents, json_new_string(texts[i]));
    if (*model)
        json_set_string(body, "model", model);
    json_set_string(body, "query", query);
    json_set(body, "documents", documents);
    json_set_int(body, "top_n", top_n);
    return body;
}

/* The caller frees it with key_command_free(). */
static bool read_key(const struct config *config, const struct wakeup *wakeup, char **key,
                     struct failure *f)
{
    const char *command = config_string(config, CONFIG_CORPUS_RERANKER_KEY_COMMAND);
    const char *own = config_string(config, CONFIG_CORPUS_RERANKER_KEY);
    struct error e = {0};
    *key = NULL;
    if (*command)
        return key_command_run("api_key_command", command, RERANK_MS, wakeup, key, &e) ||
               failure_set(f, FAILURE_SETUP, "reranker: %s", e.text);
    if (*own)
        *key = mem_strdup(own);
    return true;
}

/* --- the answer ------------------------------------------------------------------------------- */

static const struct json *find_list(const struct json *reply)
{
    const struct json *results = json_get(reply, "results");
    if (json_type(reply) == JSON_ARRAY)
        return reply;
    return results ? results : json_get(reply, "data");
}

static bool take_item(const struct json *v, size_t count, bool *taken, struct reranked *out)
{
    double index = json_get_number(v, "index", -1);
    double score = json_get_number(v, "relevance_score", json_get_number(v, "score", NAN));
    if (!(index >= 0) || index >= (double)count || index != floor(index) || !isfinite(score) ||
        taken[(size_t)index])
        return false;
    taken[(size_t)index] = true;
    vec_push(&out->items, (struct reranked_text){(size_t)index, score});
    return true;
}

static int better_first(const void *a, const void *b)
{
    const struct reranked_text *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool take_reply(const struct json *reply, size_t count, struct reranked *out,
                       struct failure *f)
{
    const struct json *list = find_list(reply);
    bool *taken = mem_alloc(count * sizeof *taken), ok = json_type(list) == JSON_ARRAY;
    for (const struct json *v = ok ? json_first(list) : NULL; v && ok; v = json_next(v))
        ok = take_item(v, count, taken, out);
    free(taken);
    if (ok && out->items.len > 0) {
        vec_sort(&out->items, better_first);
        return true;
    }
    vec_release(&out->items);
    return failure_set(f, FAILURE_PROTOCOL, "reranker: its reply is no order of the texts");
}

/* --- both ------------------------------------------------------------------------------------- */

struct patience {
    const struct wakeup *outer;
    int64_t end_ms;
};

static bool go_on(void *context)
{
    const struct patience *p = context;
    return clock_mono_ms() < p->end_ms && (!p->outer || p->outer->go_on(p->outer->context));
}

bool rerank(const struct config *config, struct http *http, const struct wakeup *wakeup,
            const char *query, const char *const *texts, size_t count, int top_n,
            struct reranked *out, struct failure *f)
{
    struct patience patience = {wakeup, clock_mono_ms() + RERANK_MS};
    const struct wakeup both = {.fd = wakeup ? wakeup->fd : -1,
                                .go_on = go_on,
                                .context = &patience,
                                .deadline_ms = patience.end_ms};
    struct endpoint endpoint = {.base_url =
                                    (char *)config_string(config, CONFIG_CORPUS_RERANKER_URL)};
    const struct provider_call call = {
        .http = http, .endpoint = &endpoint, .config = config, .wakeup = &both};
    *out = (struct reranked){0};
    failure_clear(f);
    if (!read_key(config, &both, &endpoint.key, f))
        return false;
    struct json *reply =
        exchange_ask(&call, &dialect, "", body_of(config, query, texts, count, top_n), f);
    bool ok = reply && take_reply(reply, count, out, f);
    json_free(reply);
    key_command_free(endpoint.key);
    return ok;
}
