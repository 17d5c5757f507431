/* Which provider and model to talk to, and why (spec: providers, default choice); names of models
 * as people give them, beside those that a server lists. */
#ifndef PROVIDER_CHOOSE_H
#define PROVIDER_CHOOSE_H

#include <stdbool.h>

#include "config/config.h"
#include "provider/provider.h"

enum choice_reason {
    CHOICE_OPTION,      /* --provider, --model, /model */
    CHOICE_CONFIG,      /* [provider] name */
    CHOICE_ENVIRONMENT, /* a variable; `detail` names it */
    CHOICE_ANSWERED,    /* Ollama answered on its default port */
    CHOICE_FALLBACK     /* nothing else: offline */
};

struct choice {
    const struct provider *provider;
    char *model; /* "" until choose_model() found one */
    struct endpoint endpoint;
    enum choice_reason reason;
    const char *detail; /* a variable's name, or NULL */
};

void choice_release(struct choice *c);

/* provider_name and model come from the command line or /model; NULL: not given. `answers` asks
 * whether an Ollama listens at a URL (150 ms at most); only called when nothing else decides.
 * Reads the environment with `getenv_fn`. Fills in the endpoint's URL, not its key. */
bool choose_provider(const struct config *config, const char *provider_name, const char *model,
                     char *(*getenv_fn)(const char *),
                     bool (*answers)(void *context, const char *base_url), void *context,
                     struct choice *out, struct error *e);

/* A non-blocking connect to the URL's host and port on loopback, at most 150 ms. */
bool choose_ollama_answers(void *context, const char *base_url);

/* Takes the variables that hold keys, or URLs with a password, out of the environment
 * (base/environment.h): before any thread is started. */
void choose_hide_keys(void);

/* Whether choose_key() will find a key for the provider, as far as that can be told without running
 * a command; that none is needed is as good. */
enum key_state {
    KEY_READY,
    KEY_BY_COMMAND,
    KEY_MISSING /* `wants`: the variable to set; NULL otherwise */
};
enum key_state choose_key_state(const struct config *config, char *(*getenv_fn)(const char *),
                                const char *provider, const char **wants);

/* The provider whose name is nearest; NULL: none is near. */
const char *choose_nearest_provider(const char *name);

/* The key: environment, api_key_command's first line, api_key. Runs the command. False with the
 * reason when the provider needs one and there is none. Called before the first request. */
bool choose_key(const struct config *config, char *(*getenv_fn)(const char *),
                const struct wakeup *wakeup, struct choice *c, struct error *e);

/* Whether the provider's server at the endpoint searches the web. */
bool choose_searches(const struct provider *p, const struct endpoint *endpoint);

/* A model for a choice that has none: configuration, else the first fit one that the server lists,
 * else the provider's usual one (many compatible servers list nothing and take any name). */
bool choose_model(const struct provider_call *call, struct choice *c, struct error *e);

/* As choose_model(), from a list that the server has given already. */
void choose_listed_model(struct choice *c, const struct provider_names *listed);

/* OLLAMA_HOST with scheme and port added where they lack. The caller frees. */
char *choose_ollama_url(const char *host);

/* Whether the name means one that is listed: itself, an alias of a dated one ("m-1" or "m-1-latest"
 * of "m-1-20260101"), one without its tag ("m" of "m:7b") or without the folder that the server
 * puts in front ("m" of "models/m"). */
bool model_name_is_listed(const char *name, const struct provider_names *listed);

#endif
