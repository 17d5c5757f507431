#include "session/backend.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"
#include "index/embedder.h"
#include "provider/choose.h"
#include "provider/http.h"
#include "session/capability.h"

enum { NAME_SHOWN = 60 }; /* bytes of a name that an error has room for */

void backend_init(struct backend *b, const struct config *config, const struct wakeup *wakeup)
{
    *b = (struct backend){.config = config, .wakeup = wakeup, .http = http_new()};
}

void backend_release(struct backend *b)
{
    if (b->chosen)
        choice_release(&b->choice);
    http_free(b->http);
}

void backend_forget(struct backend *b)
{
    if (b->chosen)
        choice_release(&b->choice);
    *b = (struct backend){.config = b->config, .wakeup = b->wakeup, .http = b->http};
}

static void find_facts(struct backend *b)
{
    b->facts_known = *b->choice.model != '\0';
    b->facts = b->facts_known ? models_find(b->config, b->choice.model)
                              : (struct model_facts){.price = {-1, -1, -1, -1}};
}

static bool find_choice(const struct backend *b, const char *provider, const char *model,
                        struct choice *out, struct error *e)
{
    return choose_provider(b->config, provider, model, environment_get, choose_ollama_answers, NULL,
                           out, e);
}

static void take_choice(struct backend *b, const struct choice *choice)
{
    const char *earlier = b->choice.endpoint.base_url, *url = choice->endpoint.base_url;
    bool same = b->chosen && b->choice.provider == choice->provider &&
                strcmp(b->choice.model, choice->model) == 0 &&
                strcmp(earlier ? earlier : "", url ? url : "") == 0;
    if (b->chosen)
        choice_release(&b->choice);
    b->choice = *choice;
    b->chosen = true;
    b->keyed = false;
    if (same)
        return;
    b->window_asked = b->name_asked = false;
    find_facts(b);
}

bool backend_choose(struct backend *b, const char *provider, const char *model, struct error *e)
{
    struct choice choice;
    if (!find_choice(b, provider, model, &choice, e))
        return false;
    take_choice(b, &choice);
    return true;
}

static struct provider_call call_of(const struct backend *b, const struct choice *choice)
{
    return (struct provider_call){
        .http = b->http, .endpoint = &choice->endpoint, .config = b->config, .wakeup = b->wakeup};
}

/* The list is empty if the server does not answer. */
static void list_names(const struct backend *b, const struct choice *choice,
                       struct provider_names *out)
{
    struct failure failure;
    struct provider_call call = call_of(b, choice);
    failure_clear(&failure);
    if (choice->provider->models && !choice->provider->models(&call, out, &failure))
        provider_names_release(out);
}

static bool no_such_model(const struct choice *choice, const char *name,
                          const struct provider_names *listed, struct error *e)
{
    const char *const *names = (const char *const *)listed->names.items;
    const char *nearest = config_nearest(name, names, listed->names.len), *rest = "";
    int shown = (int)utf8_cut_bytes(name, strlen(name), NAME_SHOWN);
    if (!nearest) {
        char *provider = mem_strndup(name, strcspn(name, "/"));
        nearest = choose_nearest_provider(provider);
        rest = nearest ? name + strlen(provider) : "";
        free(provider);
    }
    if (nearest)
        return err_set(e, ERR_USAGE, "%s has no model \"%.*s\"; did you mean \"%.*s%.*s\"?",
                       choice->provider->name, shown, name, NAME_SHOWN, nearest, NAME_SHOWN, rest);
    return err_set(e, ERR_USAGE, "%s has no model \"%.*s\"; %s", choice->provider->name, shown,
                   name,
                   choice->provider->has_network ? "choose one of its list"
                                                 : "name a provider, too: PROVIDER/MODEL");
}

bool backend_change(struct backend *b, const char *provider, const char *model, struct error *e)
{
    AUTO(provider_names_release) struct provider_names listed = {0};
    struct choice choice;
    if (!provider && b->chosen && b->choice.provider->has_network)
        provider = b->choice.provider->name;
    if (!find_choice(b, provider, model, &choice, e))
        return false;
    const char *asked = model && *model ? model : NULL;
    bool ok = choose_key(b->config, environment_get, b->wakeup, &choice, e);
    if (ok && choice.provider->models) {
        list_names(b, &choice, &listed);
        ok = !asked || listed.names.len == 0 || model_name_is_listed(asked, &listed) ||
             no_such_model(&choice, asked, &listed, e);
        if (ok && !*choice.model && listed.names.len > 0)
            choose_listed_model(&choice, &listed);
    } else if (ok) {
        ok =
            !asked || strcmp(asked, choice.model) == 0 || no_such_model(&choice, asked, &listed, e);
    }
    if (!ok) {
        choice_release(&choice);
        return false;
    }
    take_choice(b, &choice);
    b->keyed = true;
    return true;
}

/* Whether the user did not interrupt: a deadline that has passed is no interruption. */
static bool may_go_on(const struct backend *b)
{
    return b->wakeup->go_on(b->wakeup->context) || wakeup_late(b->wakeup);
}

/* False with `e`: the provider needs a key and there is none. May run api_key_command. */
static bool backend_find_key(struct backend *b, struct error *e)
{
    b->keyed = b->keyed || choose_key(b->config, environment_get, b->wakeup, &b->choice, e);
    return b->keyed;
}

bool backend_ask_name(struct backend *b)
{
    struct provider_names listed = {0};
    struct error e;
    b->name_asked = true;
    if (!backend_find_key(b, &e)) /* the first request will say so */
        return false;
    list_names(b, &b->choice, &listed);
    bool known = listed.names.len > 0;
    if (known) {
        choose_listed_model(&b->choice, &listed);
        find_facts(b);
    } else {
        b->name_asked = may_go_on(b); /* ask again after an interruption */
    }
    provider_names_release(&listed);
    return known;
}

bool backend_prepare(struct backend *b, struct error *e)
{
    if (!backend_find_key(b, e))
        return false;
    struct provider_call call = call_of(b, &b->choice);
    if (!*b->choice.model && !choose_model(&call, &b->choice, e))
        return false;
    if (!b->facts_known)
        find_facts(b);
    if (b->facts.window == 0 || strcmp(b->choice.provider->name, "ollama") == 0)
        backend_ask_window(b);
    return true;
}

bool backend_ask_window(struct backend *b)
{
    int64_t window = 0;
    struct error e;
    if (b->window_asked || !b->choice.provider->window)
        return false;
    b->window_asked = true;
    if (!backend_find_key(b, &e))
        return false;
    struct provider_call call = call_of(b, &b->choice);
    if (!b->choice.provider->window(&call, b->choice.model, &window)) {
        b->window_asked = may_go_on(b); /* ask again after an interruption */
        return false;
    }
    if (window <= 0 || window == b->facts.window)
        return false;
    b->facts.window = window;
    return true;
}

bool backend_ask_sees(struct backend *b, bool *sees)
{
    struct provider_call call = call_of(b, &b->choice);
    return b->choice.provider->sees(&call, b->choice.model, sees);
}

backend_question *backend_next_question(const struct backend *b)
{
    const struct provider *p = b->choice.provider;
    const char *wants;
    bool name = b->chosen && !*b->choice.model && !b->name_asked && p->models;
    bool window =
        b->chosen && *b->choice.model && b->facts.window == 0 && !b->window_asked && p->window;
    if ((!name && !window) ||
        (!b->keyed && choose_key_state(b->config, environment_get, p->name, &wants) != KEY_READY))
        return NULL;
    return name ? backend_ask_name : backend_ask_window;
}

static bool ignore(void *context, enum block_type type, const char *text, size_t len)
{
    (void)context, (void)type, (void)text, (void)len;
    return true;
}

char *backend_ask(struct backend *b, const char *system, const char *text, int64_t most,
                  struct event *use, struct error *e)
{
    const struct model_facts *facts = &b->facts;
    AUTO(message_release) struct message m = {.role = ROLE_USER};
    AUTO(response_release) struct response r = {0};
    struct failure failure;
    const struct provider_call call = {.http = b->http,
                                       .endpoint = &b->choice.endpoint,
                                       .config = b->config,
                                       .wakeup = b->wakeup,
                                       .delta = ignore};
    int64_t output = facts->max_output > 0 && facts->max_output < most ? facts->max_output : most;
    vec_push(&m.blocks, block_text(text));
    const struct request request = {
        .model = b->choice.model,
        .system = system,
        .messages = &m,
        .message_count = 1,
        .max_output =
            facts->window > 0 && output > facts->window / 4 ? facts->window / 4 + 1 : output,
        .window = facts->window,
        .estimate = (int64_t)(strlen(text) + strlen(system)) / MESSAGE_BYTES_A_TOKEN,
    };
    response_init(&r);
    failure_clear(&failure);
    bool ok = b->choice.provider->complete(&call, &request, &r, &failure);
    if (usage_known(&r.usage)) {
        const struct price price = models_price(b->config, b->choice.model, &facts->price, r.model);
        use->model = mem_strdup(r.model ? r.model : b->choice.model);
        use->usage = r.usage;
        use->used = usage_cost(&r.usage, &price);
    }
    if (!ok) {
        (void)failure_error(&failure, e);
        return NULL;
    }
    struct buf answer = BUF_INIT;
    for (size_t i = 0; i < r.blocks.len; i++)
        if (r.blocks.items[i].type == BLOCK_TEXT)
            buf_addstr(&answer, r.blocks.items[i].text);
    return answer.len > 0 ? buf_take(&answer) : mem_strdup("");
}

bool backend_takes_effort(const struct backend *b, const char *effort)
{
    AUTO(buf_release) struct buf words = BUF_INIT;
    size_t len = effort ? strlen(effort) : 0;
    if (!b->chosen || len == 0)
        return false;
    models_efforts(b->choice.provider, &b->facts, &words);
    for (const char *at = words.data; *(at += strspn(at, " ")); at += strcspn(at, " "))
        if (strcspn(at, " ") == len && memcmp(at, effort, len) == 0)
            return true;
    return false;
}

bool backend_need_effort(const struct backend *b, const char *effort, struct error *e)
{
    AUTO(buf_release) struct buf words = BUF_INIT;
    const char *model = b->choice.model;
    if (backend_takes_effort(b, effort))
        return true;
    models_efforts(b->choice.provider, &b->facts, &words);
    if (words.len > 0)
        return err_set(e, ERR_USAGE, "%.60s has no effort \"%.20s\"; choose one of: %s", model,
                       effort, words.data);
    return err_set(
        e, ERR_USAGE,
        "no effort is known for the model %.60s; if it reasons, name its words as effort "
        "in [model %.60s] of the configuration",
        model, model);
}

bool backend_models(struct backend *b, struct provider_names *out, struct error *e)
{
    struct failure failure;
    failure_clear(&failure);
    if (!backend_find_key(b, e))
        return false;
    if (!b->choice.provider->models)
        return true;
    struct provider_call call = call_of(b, &b->choice);
    return b->choice.provider->models(&call, out, &failure) || failure_error(&failure, e);
}

void report_add(struct report_result *r, const char *name, const char *format, ...)
{
    struct buf value = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&value, format, args);
    va_end(args);
    struct buf shown = BUF_INIT;
    url_mask(&shown, value.data);
    vec_push(&r->facts, (struct report_fact){.name = mem_strdup(name), .value = buf_take(&shown)});
    buf_release(&value);
}

void report_backend(struct report_result *r, struct backend *b)
{
    static const char *const reasons[] = {[CHOICE_OPTION] = "asked for",
                                          [CHOICE_CONFIG] = "the configuration",
                                          [CHOICE_ENVIRONMENT] = "environment",
                                          [CHOICE_ANSWERED] = "it answers on its default port",
                                          [CHOICE_FALLBACK] = "nothing else is configured"};
    const struct choice *choice = &b->choice;
    if (!b->chosen) {
        report_add(r, "provider", "none could be chosen");
        return;
    }
    report_add(r, "provider", "%s", choice->provider->name);
    report_add(r, "why", "%s%s%s", reasons[choice->reason], choice->detail ? ": " : "",
               choice->detail ? choice->detail : "");
    if (choice->endpoint.base_url)
        report_add(r, "url", "%s", choice->endpoint.base_url);
    report_add(r, "model", "%s",
               *choice->model ? choice->model : "the first that the server lists");
    if (!backend_find_key(b, &r->fault))
        report_add(r, "key", "none: %s", r->fault.text);
    else
        report_add(r, "key", "%s", b->choice.endpoint.key ? "found" : "none needed");
    if (b->facts.window > 0)
        report_add(r, "window", "%lld tokens", (long long)b->facts.window);
    else
        report_add(r, "window", "unknown until the first request");
}

/* --- memory ---------------------------------------------------------------------------------- */

void report_memory(struct report_result *r, const struct config *config,
                   const struct wakeup *wakeup)
{
    AUTO(embedding_settings_release) struct embedding_settings s = {0};
    const char *ranking = config_string(config, CONFIG_MEMORY_RANKING);
    struct error e;
    if (!capability_need_memory(config_boolean(config, CONFIG_MEMORY_ENABLED), &e)) {
        report_add(r, "memory", "off; %s", e.text);
        return;
    }
    report_add(r, "memory", "on; scope %s, language %s", config_string(config, CONFIG_MEMORY_SCOPE),
               config_string(config, CONFIG_MEMORY_LANGUAGE));
    if (!embedding_settings_read(config, environment_get, wakeup, &s, &e)) {
        report_add(r, "vectors", "none: %s", e.text);
        if (r->fault.code == ERR_OK)
            r->fault = e;
    } else if (!s.embedder) {
        report_add(r, "vectors", "none; [embedding] provider is not set");
    } else {
        auto_free char *model = embedding_model_name(&s);
        if (!s.embedder->has_network)
            report_add(r, "vectors", "%s, made here", model);
        else
            report_add(r, "vectors", "%s at %s, key %s", model, s.base_url,
                       s.key ? "found" : "none");
    }
    if (strcmp(ranking, "auto") == 0)
        ranking = s.embedder && s.embedder->has_network ? "both" : "words";
    report_add(r, "ranking", "%s", s.embedder ? ranking : "words");
}
