#include "provider/choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/key_command.h"
#include "base/mem.h"
#include "base/url.h"
#include "provider/host.h"
#include "provider/model_name.h"

#define KEY_COMMAND_MS 30000

/* Where each provider's settings stand. NONE ends a list, or says that there is no such setting. */
#define NONE CONFIG_KEY_COUNT
#define MAX_SIGNS 3

struct setup {
    const char *provider, *title;
    const char *vendor_host; /* which needs a key; NULL: no host does */
    const char *url_variable;
    const char *key_variable, *token_variable;
    enum config_key url, model, key, command;
    enum config_key file_signs[MAX_SIGNS + 1]; /* who sets one of these wants this provider */
    const char *variable_signs[MAX_SIGNS + 1]; /* so does who has one of these */
};

/* In the order in which they are considered. */
static const struct setup setups[] = {
    {.provider = "anthropic",
     .title = "Anthropic",
     .url_variable = "ANTHROPIC_BASE_URL",
     .key_variable = "ANTHROPIC_API_KEY",
     .token_variable = "ANTHROPIC_AUTH_TOKEN",
     .url = CONFIG_ANTHROPIC_BASE_URL,
     .model = CONFIG_ANTHROPIC_MODEL,
     .key = CONFIG_ANTHROPIC_API_KEY,
     .command = CONFIG_ANTHROPIC_API_KEY_COMMAND,
     .file_signs = {CONFIG_ANTHROPIC_API_KEY, CONFIG_ANTHROPIC_API_KEY_COMMAND, NONE},
     .variable_signs = {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}},
    {.provider = "openai",
     .title = "OpenAI",
     .vendor_host = "api.openai.com",
     .url_variable = "OPENAI_BASE_URL",
     .key_variable = "OPENAI_API_KEY",
     .url = CONFIG_OPENAI_BASE_URL,
     .model = CONFIG_OPENAI_MODEL,
     .key = CONFIG_OPENAI_API_KEY,
     .command = CONFIG_OPENAI_API_KEY_COMMAND,
     .file_signs = {CONFIG_OPENAI_API_KEY, CONFIG_OPENAI_API_KEY_COMMAND, CONFIG_OPENAI_BASE_URL,
                    NONE},
     .variable_signs = {"OPENAI_API_KEY", "OPENAI_BASE_URL"}},
    {.provider = "ollama",
     .title = "Ollama",
     .url_variable = "OLLAMA_HOST",
     .url = CONFIG_OLLAMA_HOST,
     .model = CONFIG_OLLAMA_MODEL,
     .key = NONE,
     .command = NONE,
     .file_signs = {CONFIG_OLLAMA_HOST, CONFIG_OLLAMA_MODEL, NONE},
     .variable_signs = {"OLLAMA_HOST"}},
};
#define SETUP_COUNT (sizeof setups / sizeof *setups)

typedef char *environment(const char *name);

void choice_release(struct choice *c)
{
    free(c->model);
    free(c->endpoint.base_url);
    key_command_free(c->endpoint.key);
    *c = (struct choice){0};
}

static const struct setup *setup_of(const char *provider)
{
    for (size_t i = 0; i < SETUP_COUNT; i++)
        if (strcmp(setups[i].provider, provider) == 0)
            return &setups[i];
    return NULL;
}

/* An empty variable is none. */
static const char *variable(environment *getenv_fn, const char *name)
{
    const char *value = name ? getenv_fn(name) : NULL;
    return value && *value ? value : NULL;
}

static bool has_file_sign(const struct config *config, const struct setup *s)
{
    for (size_t i = 0; s->file_signs[i] != NONE; i++)
        if (config_origin(config, s->file_signs[i]) != CONFIG_FROM_DEFAULT &&
            *config_string(config, s->file_signs[i]))
            return true;
    return false;
}

static const char *variable_sign(environment *getenv_fn, const struct setup *s)
{
    for (size_t i = 0; s->variable_signs[i]; i++)
        if (variable(getenv_fn, s->variable_signs[i]))
            return s->variable_signs[i];
    return NULL;
}

static char *base_url(const struct config *config, environment *getenv_fn, const struct setup *s)
{
    const char *value = variable(getenv_fn, s->url_variable);
    char *url;
    if (!value)
        value = config_string(config, s->url);
    if (s->url == CONFIG_OLLAMA_HOST)
        return choose_ollama_url(value);
    url = mem_strdup(value);
    for (size_t len = strlen(url); len > 0 && url[len - 1] == '/'; len--)
        url[len - 1] = '\0';
    return url;
}

/* Whether an Ollama runs where it would be looked for anyway. */
static bool ollama_answers(const struct config *config, environment *getenv_fn,
                           bool (*answers)(void *, const char *), void *context)
{
    char *url = base_url(config, getenv_fn, setup_of("ollama"));
    bool yes = answers && answers(context, url);
    free(url);
    return yes;
}

static const char *consider_files(const struct config *config)
{
    const char *name = config_string(config, CONFIG_PROVIDER_NAME);
    if (*name)
        return name;
    for (size_t i = 0; i < SETUP_COUNT; i++)
        if (has_file_sign(config, &setups[i]))
            return setups[i].provider;
    return NULL;
}

static const char *consider_variables(environment *getenv_fn, const char **detail)
{
    for (size_t i = 0; i < SETUP_COUNT; i++) {
        *detail = variable_sign(getenv_fn, &setups[i]);
        if (*detail)
            return setups[i].provider;
    }
    return NULL;
}

/* The name of the provider, and in `out` why. */
static const char *decide(const struct config *config, const char *option, environment *getenv_fn,
                          bool (*answers)(void *, const char *), void *context, struct choice *out)
{
    const char *name = option;
    out->reason = CHOICE_OPTION;
    if (!name) {
        out->reason = CHOICE_CONFIG;
        name = consider_files(config);
    }
    if (!name) {
        out->reason = CHOICE_ENVIRONMENT;
        name = consider_variables(getenv_fn, &out->detail);
    }
    if (!name && ollama_answers(config, getenv_fn, answers, context)) {
        out->reason = CHOICE_ANSWERED;
        name = "ollama";
    }
    if (!name) {
        out->reason = CHOICE_FALLBACK;
        name = "offline";
    }
    return name;
}

/* [provider] model is meant for the provider that the same file names, if it names one. */
static const char *decide_model(const struct config *config, const char *provider,
                                const char *option)
{
    const struct setup *s = setup_of(provider);
    const char *meant = config_string(config, CONFIG_PROVIDER_NAME);
    const char *general = config_string(config, CONFIG_PROVIDER_MODEL);
    if (!s)
        return provider; /* offline has only itself */
    if (option && *option)
        return option;
    if (*general && (!*meant || strcmp(meant, provider) == 0))
        return general;
    return config_string(config, s->model);
}

const char *choose_nearest_provider(const char *name)
{
    const char *names[8];
    size_t count = 0;
    for (; providers[count] && count < sizeof names / sizeof *names; count++)
        names[count] = providers[count]->name;
    return config_nearest(name, names, count);
}

static bool unknown_provider(const char *name, struct error *e)
{
    const char *nearest = choose_nearest_provider(name);
    if (nearest)
        return err_set(e, ERR_USAGE, "unknown provider \"%s\"; did you mean \"%s\"?", name,
                       nearest);
    return err_set(e, ERR_USAGE,
                   "unknown provider \"%s\"; choose anthropic, openai, ollama or offline", name);
}

bool choose_provider(const struct config *config, const char *provider_name, const char *model,
                     char *(*getenv_fn)(const char *),
                     bool (*answers)(void *context, const char *base_url), void *context,
                     struct choice *out, struct error *e)
{
    const char *name;
    const struct setup *s;
    *out = (struct choice){0};
    name = decide(config, provider_name, getenv_fn, answers, context, out);
    out->provider = provider_find(name);
    if (!out->provider)
        return unknown_provider(name, e);
    s = setup_of(name);
    out->model = mem_strdup(decide_model(config, name, model));
    out->endpoint.base_url = s ? base_url(config, getenv_fn, s) : NULL;
    return true;
}

/* --- keys ------------------------------------------------------------------------------------ */

/* Whether the server at the URL wants a key for sure. Local and compatible ones need none. */
static bool needs_key(const struct setup *s, const char *url)
{
    char port[6];
    char *host = host_of_url(url, port);
    bool needs = s->vendor_host ? strcmp(host, s->vendor_host) == 0
                                : s->key != NONE && !host_is_loopback(host);
    free(host);
    return needs;
}

/* A line break in it would begin a header of its own. */
static bool check_key(const char *key, const char *source, struct error *e)
{
    for (; *key; key++)
        if ((unsigned char)*key <= ' ' || (unsigned char)*key >= 0x7F)
            return err_set(e, ERR_CONFIG_ERROR,
                           "the API key from %s contains a blank or an invalid character; set it "
                           "again",
                           source);
    return true;
}

static bool no_key(const struct setup *s, struct error *e)
{
    return err_set(e, ERR_CONFIG_ERROR,
                   "no API key for %s; set %s, or api_key_command in section [%s] of the "
                   "configuration",
                   s->title, s->key_variable, s->provider);
}

/* Finds a key, if there is one. False when what should give one fails. */
static bool find_key(const struct config *config, environment *getenv_fn,
                     const struct wakeup *wakeup, const struct setup *s, struct endpoint *endpoint,
                     const char **source, struct error *e)
{
    const char *value = variable(getenv_fn, s->key_variable);
    const char *command = config_string(config, s->command);
    *source = s->key_variable;
    if (!value && variable(getenv_fn, s->token_variable)) {
        value = variable(getenv_fn, s->token_variable);
        *source = s->token_variable;
        endpoint->bearer = true;
    }
    if (!value && *command) {
        *source = "api_key_command";
        return key_command_run("api_key_command", command, KEY_COMMAND_MS, wakeup, &endpoint->key,
                               e);
    }
    if (!value && *config_string(config, s->key)) {
        value = config_string(config, s->key);
        *source = "api_key";
    }
    endpoint->key = mem_strdup(value);
    return true;
}

enum key_state choose_key_state(const struct config *config, char *(*getenv_fn)(const char *),
                                const char *provider, const char **wants)
{
    const struct setup *s = setup_of(provider);
    *wants = NULL;
    if (!s || s->key == NONE || variable(getenv_fn, s->key_variable) ||
        variable(getenv_fn, s->token_variable))
        return KEY_READY;
    if (*config_string(config, s->command))
        return KEY_BY_COMMAND;
    char *url = base_url(config, getenv_fn, s);
    bool ready = *config_string(config, s->key) || !needs_key(s, url);
    free(url);
    *wants = ready ? NULL : s->key_variable;
    return ready ? KEY_READY : KEY_MISSING;
}

bool choose_key(const struct config *config, char *(*getenv_fn)(const char *),
                const struct wakeup *wakeup, struct choice *c, struct error *e)
{
    const struct setup *s = setup_of(c->provider->name);
    struct endpoint *endpoint = &c->endpoint;
    const char *source;
    key_command_free(endpoint->key);
    endpoint->key = NULL;
    endpoint->bearer = false;
    if (!s || s->key == NONE)
        return true;
    if (!find_key(config, getenv_fn, wakeup, s, endpoint, &source, e))
        return false;
    if (!endpoint->key)
        return !needs_key(s, endpoint->base_url) || no_key(s, e);
    if (check_key(endpoint->key, source, e))
        return true;
    key_command_free(endpoint->key);
    endpoint->key = NULL;
    return false;
}

void choose_hide_keys(void)
{
    for (size_t i = 0; i < SETUP_COUNT; i++) {
        const char *url = setups[i].url_variable ? getenv(setups[i].url_variable) : NULL;
        if (setups[i].key_variable)
            environment_hide(setups[i].key_variable);
        if (setups[i].token_variable)
            environment_hide(setups[i].token_variable);
        if (url && url_has_secret(url))
            environment_hide(setups[i].url_variable);
    }
}

/* --- models ---------------------------------------------------------------------------------- */

static void take_model(struct choice *c, const char *model)
{
    free(c->model);
    c->model = mem_strdup(model);
}

void choose_listed_model(struct choice *c, const struct provider_names *listed)
{
    const char *model = model_name_pick(listed);
    take_model(c, model ? model : c->provider->usual_model);
}

bool choose_model(const struct provider_call *call, struct choice *c, struct error *e)
{
    struct provider_names listed = {0};
    struct failure failure = {.kind = FAILURE_NONE};
    if (c->model && *c->model)
        return true;
    if (!c->provider->models)
        return err_set(e, ERR_CONFIG_ERROR,
                       "no model is chosen; name one with --model, or model in section [%s] of "
                       "the configuration",
                       c->provider->name);
    bool known = c->provider->models(call, &listed, &failure);
    const char *model = known ? model_name_pick(&listed) : NULL;
    bool cancelled = !known && failure.kind == FAILURE_CANCELLED;
    if (!cancelled)
        take_model(c, model ? model : c->provider->usual_model);
    provider_names_release(&listed);
    return !cancelled || err_set(e, ERR_INTERRUPTED, "%s", failure.text);
}
