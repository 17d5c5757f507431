/* Where an Ollama server is, and whether one listens there. */
#include "provider/choose.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "provider/http.h"

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

/* --- choose_ollama --- */

#define DEFAULT_PORT "11434"
#define ANSWER_MS 150

/* A server's "listen on all addresses" is no address to connect to. */
static const char *reachable(const char *host)
{
    if (!*host || strcmp(host, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(host, "::") == 0 ? "::1" : host;
}

/* Bare "::1", which would read as a host with a port. */
static bool is_bare_v6(const char *host)
{
    struct in6_addr v6;
    return inet_pton(AF_INET6, host, &v6) == 1;
}

/* A port that lacks is Ollama's own without a scheme, and the scheme's own with one, as its own
 * client reads it. */
static const char *default_port(const char *scheme, bool given)
{
    if (!given)
        return DEFAULT_PORT;
    return strcasecmp(scheme, "https") == 0 ? "443" : "80";
}

char *choose_ollama_url(const char *host)
{
    const char *colon = strstr(host, "://");
    char *scheme = colon ? mem_strndup(host, (size_t)(colon - host)) : mem_strdup("http");
    const char *rest = colon ? colon + 3 : host;
    char *name = is_bare_v6(rest) ? mem_strdup(rest) : NULL;
    const char *path = name ? "" : rest + strcspn(rest, "/");
    size_t path_len = strlen(path);
    char port[6] = "";
    char *url;
    if (!name) {
        char *authority = mem_printf("%s://%.*s", scheme, (int)(path - rest), rest);
        name = host_of_url(authority, port);
        free(authority);
    }
    while (path_len > 0 && path[path_len - 1] == '/')
        path_len--;
    url = mem_printf(strchr(reachable(name), ':') ? "%s://[%s]:%s%.*s" : "%s://%s:%s%.*s", scheme,
                     reachable(name), *port ? port : default_port(scheme, colon != NULL),
                     (int)path_len, path);
    free(name);
    free(scheme);
    return url;
}

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Its length, or 0 when the URL names no loopback address. */
static socklen_t loopback_address(const char *url, union address *out)
{
    char port[6];
    char *host = host_of_url(url, port);
    uint16_t number = htons((uint16_t)atoi(*port ? port : "80"));
    socklen_t len = 0;
    memset(out, 0, sizeof *out);
    if (host_is_loopback(host) && strchr(host, ':')) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = number;
        out->v6.sin6_addr = in6addr_loopback;
        len = sizeof out->v6;
    } else if (host_is_loopback(host)) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = number;
        if (inet_pton(AF_INET, host, &out->v4.sin_addr) != 1)
            out->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        len = sizeof out->v4;
    }
    free(host);
    return len;
}

static bool wait_connected(int fd)
{
    int64_t deadline = clock_mono_ms() + ANSWER_MS;
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    int fault = 0;
    socklen_t len = sizeof fault;
    for (;;) {
        int64_t left = deadline - clock_mono_ms();
        int count = poll(&ready, 1, left > 0 ? (int)left : 0);
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        if (count > 0)
            break;
    }
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &len) == 0 && fault == 0;
}

bool choose_ollama_answers(void *context, const char *base_url)
{
    union address address;
    socklen_t len = loopback_address(base_url, &address);
    bool answers;
    int fd;
    (void)context;
    if (len == 0)
        return false;
    fd = descriptors_socket(address.any.sa_family, SOCK_STREAM, 0);
    if (fd < 0)
        return false;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    answers = connect(fd, &address.any, len) == 0 || (errno == EINPROGRESS && wait_connected(fd));
    close(fd);
    return answers;
}

/* --- model_name --- */

/* "-20260101" or "-2026-01-01", to the end. */
static bool is_date(const char *text)
{
    static const char *const forms[] = {"-dddddddd", "-dddd-dd-dd"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const char *form = forms[f], *at = text;
        for (; *form && (*form == 'd' ? *at >= '0' && *at <= '9' : *at == *form); form++)
            at++;
        if (!*form && !*at)
            return true;
    }
    return false;
}

/* Bytes of the name in front of "-latest". */
static size_t base_of(const char *name)
{
    static const char latest[] = "-latest";
    size_t len = strlen(name), end = sizeof latest - 1;
    return len > end && strcmp(name + len - end, latest) == 0 ? len - end : len;
}

static bool means(const char *name, const char *listed)
{
    size_t len = strlen(name), base = base_of(name);
    const char *folder = strrchr(listed, '/');
    if (strcmp(name, listed) == 0 || (folder && strcmp(folder + 1, name) == 0))
        return true;
    if (strncmp(name, listed, len) == 0 && listed[len] == ':')
        return true;
    return strncmp(name, listed, base) == 0 && is_date(listed + base);
}

bool model_name_is_listed(const char *name, const struct provider_names *listed)
{
    for (size_t i = 0; i < listed->names.len; i++)
        if (means(name, listed->names.items[i]))
            return true;
    return false;
}

const char *model_name_nearest(const char *name, const struct provider_names *listed)
{
    return config_nearest(name, (const char *const *)listed->names.items, listed->names.len);
}

const char *model_name_pick(const struct provider_names *listed)
{
    static const char *const preferred[] = {"gpt-5.4-mini", "gpt-5-mini", "gpt-4.1"};
    static const char *const unfit[] = {"embed",  "rerank", "whisper", "tts",   "moderation",
                                        "dall-e", "bge-",   "minilm",  "image", "transcribe"};
    for (size_t p = 0; p < sizeof preferred / sizeof *preferred; p++)
        for (size_t i = 0; i < listed->names.len; i++)
            if (strcmp(listed->names.items[i], preferred[p]) == 0)
                return listed->names.items[i];
    for (size_t i = 0; i < listed->names.len; i++) {
        bool fits = true;
        for (size_t u = 0; fits && u < sizeof unfit / sizeof *unfit; u++)
            fits = !strstr(listed->names.items[i], unfit[u]);
        if (fits)
            return listed->names.items[i];
    }
    return NULL;
}
