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

typedef char *environment(const char *name);

void choice_release(struct choice *c)
{
    free(c->model);
    free(c->endpoint.base_url);
    key_command_free(c->endpoint.key);
    *c = (struct choice){0};
}

/* An empty variable counts as absent. */
static const char *variable(environment *getenv_fn, const char *name)
{
    const char *value = name ? getenv_fn(name) : NULL;
    return value && *value ? value : NULL;
}

static char *base_url(const struct config *config, environment *getenv_fn, const struct provider *p)
{
    const char *value = variable(getenv_fn, p->url_variable);
    if (!value)
        value = config_string(config, p->url);
    if (p->url == CONFIG_OLLAMA_HOST)
        return choose_ollama_url(value);
    char *url = mem_strdup(value);
    for (size_t len = strlen(url); len > 0 && url[len - 1] == '/'; len--)
        url[len - 1] = '\0';
    return url;
}

const char *choose_nearest_provider(const char *name)
{
    const char *names[8];
    size_t count = 0;
    for (; providers[count] && count < sizeof names / sizeof *names; count++)
        names[count] = providers[count]->name;
    return config_nearest(name, names, count);
}

/* The provider and the reason for it. */
static bool decide(const struct config *config, const char *option, environment *getenv_fn,
                   bool (*answers)(void *, const char *), void *context, struct choice *out,
                   struct error *e)
{
    const char *named = option ? option : config_string(config, CONFIG_PROVIDER_NAME);
    out->reason = option ? CHOICE_OPTION : CHOICE_CONFIG;
    if (option || *named) {
        out->provider = provider_find(named);
        const char *nearest = choose_nearest_provider(named);
        if (out->provider)
            return true;
        if (nearest)
            return err_set(e, ERR_USAGE, "unknown provider \"%s\"; did you mean \"%s\"?", named,
                           nearest);
        AUTO(buf_release) struct buf names = BUF_INIT;
        for (size_t i = 0; providers[i]; i++)
            buf_addf(&names, "%s%s",
                     i == 0             ? ""
                     : providers[i + 1] ? ", "
                                        : " or ",
                     providers[i]->name);
        return err_set(e, ERR_USAGE, "unknown provider \"%s\"; choose %s", named, names.data);
    }
    for (size_t i = 0; (out->provider = providers[i]); i++)
        for (const enum config_key *key = providers[i]->file_signs;
             providers[i]->has_network && *key != PROVIDER_NO_KEY; key++)
            if (config_origin(config, *key) != CONFIG_FROM_DEFAULT && *config_string(config, *key))
                return true;
    out->reason = CHOICE_ENVIRONMENT;
    for (size_t i = 0; (out->provider = providers[i]); i++)
        for (size_t k = 0; (out->detail = providers[i]->variable_signs[k]); k++)
            if (variable(getenv_fn, out->detail))
                return true;
    auto_free char *url = base_url(config, getenv_fn, &provider_ollama);
    bool running = answers && answers(context, url);
    out->reason = running ? CHOICE_ANSWERED : CHOICE_FALLBACK;
    out->provider = running ? &provider_ollama : &provider_offline;
    return true;
}

bool choose_provider(const struct config *config, const char *provider_name, const char *model,
                     char *(*getenv_fn)(const char *),
                     bool (*answers)(void *context, const char *base_url), void *context,
                     struct choice *out, struct error *e)
{
    *out = (struct choice){0};
    if (!decide(config, provider_name, getenv_fn, answers, context, out, e))
        return false;
    const struct provider *p = out->provider;
    /* [provider] model is meant for the provider that the same file names, if it names one. */
    const char *meant = config_string(config, CONFIG_PROVIDER_NAME);
    const char *general = config_string(config, CONFIG_PROVIDER_MODEL);
    bool fits = *general && (!*meant || strcmp(meant, p->name) == 0);
    out->model = mem_strdup(!p->has_network   ? p->name /* its only model */
                            : model && *model ? model
                            : fits            ? general
                                              : config_string(config, p->model));
    out->endpoint.name = p->name;
    out->endpoint.base_url = p->has_network ? base_url(config, getenv_fn, p) : NULL;
    return true;
}

/* --- keys ------------------------------------------------------------------------------------- */

/* Whether the server at the URL surely wants a key. Local and compatible ones need none. */
static bool needs_key(const struct provider *p, const char *url)
{
    char port[6];
    auto_free char *host = host_of_url(url, port);
    return p->vendor_host ? strcmp(host, p->vendor_host) == 0 : !host_is_loopback(host);
}

bool choose_searches(const struct provider *p, const struct endpoint *endpoint)
{
    char port[6];
    auto_free char *host =
        host_of_url(endpoint && endpoint->base_url ? endpoint->base_url : "", port);
    return p->searches_web && (!p->vendor_host || strcmp(host, p->vendor_host) == 0);
}

/* Finds a key, if there is one. False when the command for it fails. */
static bool find_key(const struct config *config, environment *getenv_fn,
                     const struct wakeup *wakeup, const struct provider *p,
                     struct endpoint *endpoint, const char **source, struct error *e)
{
    const char *value = variable(getenv_fn, p->key_variable);
    const char *command = config_string(config, p->command);
    *source = p->key_variable;
    if (!value && (value = variable(getenv_fn, p->token_variable))) {
        *source = p->token_variable;
        endpoint->bearer = true;
    }
    if (!value && *command) {
        *source = "api_key_command";
        return key_command_run("api_key_command", command, KEY_COMMAND_MS, wakeup, &endpoint->key,
                               e);
    }
    if (!value && *config_string(config, p->key)) {
        value = config_string(config, p->key);
        *source = "api_key";
    }
    endpoint->key = mem_strdup(value);
    return true;
}

enum key_state choose_key_state(const struct config *config, char *(*getenv_fn)(const char *),
                                const char *provider, const char **wants)
{
    const struct provider *p = provider_find(provider);
    *wants = NULL;
    if (!p || !p->has_network || p->key == PROVIDER_NO_KEY ||
        variable(getenv_fn, p->key_variable) || variable(getenv_fn, p->token_variable))
        return KEY_READY;
    if (*config_string(config, p->command))
        return KEY_BY_COMMAND;
    auto_free char *url = base_url(config, getenv_fn, p);
    if (*config_string(config, p->key) || !needs_key(p, url))
        return KEY_READY;
    *wants = p->key_variable;
    return KEY_MISSING;
}

bool choose_key(const struct config *config, char *(*getenv_fn)(const char *),
                const struct wakeup *wakeup, struct choice *c, struct error *e)
{
    const struct provider *p = c->provider;
    struct endpoint *endpoint = &c->endpoint;
    const char *source;
    key_command_free(endpoint->key);
    endpoint->key = NULL;
    endpoint->bearer = false;
    if (!p->has_network || p->key == PROVIDER_NO_KEY)
        return true;
    if (!find_key(config, getenv_fn, wakeup, p, endpoint, &source, e))
        return false;
    if (!endpoint->key)
        return !needs_key(p, endpoint->base_url) ||
               err_set(e, ERR_CONFIG_ERROR,
                       "no API key for %s; set %s, or api_key_command in section [%s] of the "
                       "configuration",
                       p->title, p->key_variable, p->name);
    for (const char *at = endpoint->key; *at; at++)
        if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7F) {
            /* A line break in a key would begin another header. */
            key_command_free(endpoint->key);
            endpoint->key = NULL;
            return err_set(e, ERR_CONFIG_ERROR,
                           "the API key from %s contains a blank or an invalid character; set it "
                           "again",
                           source);
        }
    return true;
}

void choose_hide_keys(void)
{
    for (size_t i = 0; providers[i]; i++) {
        const struct provider *p = providers[i];
        const char *url = p->url_variable ? getenv(p->url_variable) : NULL;
        if (p->key_variable)
            environment_hide(p->key_variable);
        if (p->token_variable)
            environment_hide(p->token_variable);
        if (url && url_mask(NULL, url))
            environment_hide(p->url_variable);
    }
}

/* --- models ----------------------------------------------------------------------------------- */

/* The first of the list that chats: servers list other models, too, and vendors in no
 * useful order. NULL: none does. */
static const char *pick_model(const struct provider_names *listed)
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

static void set_model(struct choice *c, const char *model)
{
    free(c->model);
    c->model = mem_strdup(model ? model : c->provider->usual_model);
}

void choose_listed_model(struct choice *c, const struct provider_names *listed)
{
    set_model(c, pick_model(listed));
}

bool choose_model(const struct provider_call *call, struct choice *c, struct error *e)
{
    AUTO(provider_names_release) struct provider_names listed = {0};
    struct failure failure = {.kind = FAILURE_NONE};
    if (c->model && *c->model)
        return true;
    if (!c->provider->models)
        return err_set(e, ERR_CONFIG_ERROR,
                       "no model is chosen; name one with --model, or model in section [%s] of "
                       "the configuration",
                       c->provider->name);
    bool known = c->provider->models(call, &listed, &failure);
    if (!known && failure.kind == FAILURE_CANCELLED)
        return err_set(e, ERR_INTERRUPTED, "%s", failure.text);
    set_model(c, known ? pick_model(&listed) : NULL);
    return true;
}

/* --- Ollama's address ------------------------------------------------------------------------- */

#define DEFAULT_PORT "11434"
#define ANSWER_MS 150

char *choose_ollama_url(const char *host)
{
    const char *colon = strstr(host, "://");
    auto_free char *scheme = colon ? mem_strndup(host, (size_t)(colon - host)) : mem_strdup("http");
    const char *rest = colon ? colon + 3 : host, *path = "";
    char port[6] = "";
    struct in6_addr v6;
    auto_free char *name = NULL;
    if (inet_pton(AF_INET6, rest, &v6) == 1) { /* a bare "::1" would read as a host with a port */
        name = mem_strdup(rest);
    } else {
        path = rest + strcspn(rest, "/");
        auto_free char *authority = mem_printf("%s://%.*s", scheme, (int)(path - rest), rest);
        name = host_of_url(authority, port);
    }
    size_t path_len = strlen(path);
    while (path_len > 0 && path[path_len - 1] == '/')
        path_len--;
    /* A server's "listen on all addresses" is no address to connect to. */
    const char *reached = !*name || strcmp(name, "0.0.0.0") == 0 ? "127.0.0.1"
                          : strcmp(name, "::") == 0              ? "::1"
                                                                 : name;
    /* Without a port: Ollama's own if there is no scheme, else the scheme's, as Ollama's client
     * reads it. */
    const char *usual = !colon ? DEFAULT_PORT : strcasecmp(scheme, "https") == 0 ? "443" : "80";
    return mem_printf(strchr(reached, ':') ? "%s://[%s]:%s%.*s" : "%s://%s:%s%.*s", scheme, reached,
                      *port ? port : usual, (int)path_len, path);
}

bool choose_ollama_answers(void *context, const char *base_url)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {0};
    char port[6];
    auto_free char *host = host_of_url(base_url, port);
    uint16_t number = htons((uint16_t)atoi(*port ? port : "80"));
    socklen_t len = sizeof address.v4;
    (void)context;
    if (!host_is_loopback(host))
        return false;
    if (strchr(host, ':')) {
        address.v6 = (struct sockaddr_in6){
            .sin6_family = AF_INET6, .sin6_port = number, .sin6_addr = in6addr_loopback};
        len = sizeof address.v6;
    } else {
        address.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = number};
        if (inet_pton(AF_INET, host, &address.v4.sin_addr) != 1)
            address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    int fd = descriptors_socket(address.any.sa_family, SOCK_STREAM, 0), fault = 0, count;
    if (fd < 0)
        return false;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    bool answers = connect(fd, &address.any, len) == 0;
    if (!answers && errno == EINPROGRESS) {
        int64_t deadline = clock_mono_ms() + ANSWER_MS;
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        socklen_t size = sizeof fault;
        do {
            int64_t left = deadline - clock_mono_ms();
            count = poll(&ready, 1, left > 0 ? (int)left : 0);
        } while (count < 0 && errno == EINTR);
        answers =
            count > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &size) == 0 && fault == 0;
    }
    close(fd);
    return answers;
}

/* --- names of models -------------------------------------------------------------------------- */

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

bool model_name_is_listed(const char *name, const struct provider_names *listed)
{
    static const char latest[] = "-latest";
    size_t len = strlen(name), end = sizeof latest - 1;
    size_t base = len > end && strcmp(name + len - end, latest) == 0 ? len - end : len;
    for (size_t i = 0; i < listed->names.len; i++) {
        const char *item = listed->names.items[i], *folder = strrchr(item, '/');
        if (strcmp(name, item) == 0 || (folder && strcmp(folder + 1, name) == 0) ||
            (strncmp(name, item, len) == 0 && item[len] == ':') ||
            (strncmp(name, item, base) == 0 && is_date(item + base)))
            return true;
    }
    return false;
}
