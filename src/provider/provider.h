/* A model behind a table of functions. All calls block on the agent thread and return within
 * 100 ms after the wakeup says stop. A new provider of OpenAI's dialect is one row in provider.c
 * and its keys in config/keys.h. */
#ifndef PROVIDER_PROVIDER_H
#define PROVIDER_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "base/wakeup.h"
#include "chat/event.h"
#include "chat/message.h"
#include "chat/usage.h"
#include "config/config.h"
#include "provider/failure.h"

struct http;

/* A line, an SSE event or an error body past this fails the call. */
#define PROVIDER_MAX_EVENT ((size_t)16 * 1024 * 1024)
/* JSON values of one event of a stream, which has a dozen: an Ollama's arguments of as many are
 * read and written again in 50 ms, in which nothing else is answered. */
#define PROVIDER_MAX_EVENT_VALUES 50000

/* Bytes of a request where the server's limit is not known: what Anthropic takes, and far more than
 * any window holds. */
#define PROVIDER_MAX_REQUEST ((int64_t)32 * 1024 * 1024)

/* Tool calls of one answer. Further ones are dropped, and the response says so. */
#define PROVIDER_MAX_CALLS 128

struct tool_spec {
    const char *name;
    const char *description;
    const char *schema; /* JSON Schema of the arguments, as text */
    bool by_provider;   /* the provider runs it, under this name */
};

/* Whether a model takes images. */
enum model_eyes { EYES_UNKNOWN, EYES_NONE, EYES_SEE };

struct request {
    const char *model;
    const char *system; /* NULL or "": none */
    const struct message *messages;
    size_t message_count;
    const char
        *recalled; /* quoted data that is sent before the text of message recalled_at; NULL */
    size_t recalled_at;
    struct message_source *source; /* of those without blocks; NULL: all have them */
    const struct tool_spec *tools;
    size_t tool_count;
    enum model_eyes eyes;   /* NONE: texts stand for images; those of tools go to eyes that SEE */
    int64_t max_output;     /* tokens; always > 0 */
    const char *effort;     /* one of models_efforts(); NULL: not sent */
    int64_t window;         /* tokens; 0 unknown */
    int64_t estimate;       /* tokens that we think the request has */
    const char *session_id; /* of the conversation; NULL unknown. Not sent */
};

struct response {
    /* TEXT, REASONING, TOOL_CALL in the order of the stream; behind a signed call, which the
     * provider ran, its TOOL_RESULT. */
    VEC(struct block) blocks;
    enum stop_reason stop_reason;
    struct usage usage;
    char *model;           /* as the server names it; NULL if it does not */
    bool calls_refused;    /* there were more than PROVIDER_MAX_CALLS tool calls */
    bool prompt_truncated; /* the server dropped part of the prompt without saying so (Ollama) */
};

void response_init(struct response *r);
void response_release(struct response *r);

/* Where a provider is reached. Owned strings; the key is wiped on release. */
struct endpoint {
    const char *name; /* of the provider, for messages; NULL: the dialect's. Not owned */
    char *base_url;   /* without a trailing slash; NULL offline */
    char *key;        /* NULL: none */
    bool bearer;      /* Authorization: Bearer instead of x-api-key (anthropic) */
};

struct provider_call {
    struct http *http;
    const struct endpoint *endpoint;
    const struct config *config;
    const struct wakeup *wakeup;
    bool watched; /* a person sees the answer as it comes */

    /* Takes a piece of the answer, in order: TEXT or REASONING. Text is valid UTF-8 and whole
     * characters; many small pieces of one read from the network arrive as one call. False: nobody
     * takes any more, so the call ends soon, as if it had been cut off. */
    bool (*delta)(void *context, enum block_type type, const char *text, size_t len);

    /* The response has more blocks while the answer goes on: all that it has now stay as they are.
     * NULL: nobody wants them before the end. */
    void (*blocks)(void *context);
    void *context;
};

/* Bounds of a listing: no server has nearly as many models, and a list is filtered at every key. */
#define PROVIDER_MAX_NAMES 10000
#define PROVIDER_MAX_NAME 256 /* bytes; longer ones are left out */

struct provider_names {
    VEC(char *) names;
};
void provider_names_release(struct provider_names *n);

/* Ends a list of keys, or says that there is no such key. */
#define PROVIDER_NO_KEY CONFIG_KEY_COUNT

/* Limits that a provider documents for images; 0: it documents none. */
struct image_limits {
    int64_t bytes;   /* of one */
    int64_t request; /* of all in a request, as base64 */
    int count;       /* in a request */
    int side;        /* pixels of the longer side */
    int many;        /* with more images than these in a request, */
    int many_side;   /* the longer side may have so many pixels */
};

/* A row of provider.c: a dialect's functions, and the settings that lead to a server of it. The
 * settings are those of providers with a network alone. */
struct provider {
    const char *name, *title; /* "openai", "OpenAI" */
    bool has_network;
    bool searches_web;       /* a tool web_search of its own, at vendor_host if that is set */
    const char *usual_model; /* to ask for where neither the user nor the server names one */

    const char *vendor_host; /* the host that needs a key; NULL: every host but loopback does */
    const char *url_variable, *key_variable, *token_variable; /* NULL: none */
    enum config_key url, model, key, command;                 /* command: api_key_command */
    enum config_key file_signs[4]; /* a file that sets one of these chooses this provider */
    const char *variable_signs[3]; /* an environment with one of these does, too */

    /* One model call. On failure `response` holds what had arrived (for the partial answer). */
    bool (*complete)(const struct provider_call *call, const struct request *request,
                     struct response *response, struct failure *failure);

    struct image_limits images; /* at vendor_host, if that is set */

    /* Whether the model takes images; false if the server does not say. NULL: it never does. */
    bool (*sees)(const struct provider_call *call, const char *model, bool *sees);

    /* Tokens of the model's window, false if the server does not say. NULL: it never does. */
    bool (*window)(const struct provider_call *call, const char *model, int64_t *tokens);

    /* The models that the server offers. NULL: none to list. */
    bool (*models)(const struct provider_call *call, struct provider_names *out,
                   struct failure *failure);
};

/* Bytes that the body of a model call may have: [compaction] max_request_bytes, or where that is
 * unknown PROVIDER_MAX_REQUEST. A longer one is not sent: an OVERFLOW. */
int64_t provider_max_request(const struct config *config);

/* In the order in which they are considered; ends with NULL. */
extern const struct provider *const providers[];
extern const struct provider provider_anthropic, provider_openai, provider_ollama;
extern const struct provider provider_offline; /* quotes, without a model */
const struct provider *provider_find(const char *name);

struct model_facts {
    int64_t window;       /* tokens; 0 unknown */
    int64_t max_output;   /* tokens; 0 unknown */
    struct price price;   /* negative fields unknown */
    char price_date[16];  /* when the price was true; "": unknown */
    char effort[64];      /* words for the effort of reasoning, separated by blanks; "": unknown */
    enum model_eyes eyes; /* images in messages */
};

/* An entry fits a model when it is its name or a prefix of it that ends at "-", "." , ":" or "@";
 * the longest wins, the configuration's before the built-in. A vendor prefix ("openai/…") is
 * ignored unless an entry has it; case is ignored. Fields that the winner leaves out come from the
 * next shorter; a built-in price or effort holds only for the model itself and its dated snapshots.
 * The entry "*" fits every model. The table is read at the first call. Any thread. */
struct model_facts models_find(const struct config *config, const char *model);

/* Appends the words of effort that the provider takes for a model, separated by blanks. */
void models_efforts(const struct provider *p, const struct model_facts *facts, struct buf *out);

/* The price of an answer that came from `answered` when `asked`, of this price, was asked: routers
 * and proxies have another model answer, whose price counts. Where that is unknown, so is the cost,
 * unless the configuration has a price for the name that was asked: whoever wrote it knows what is
 * billed. `answered` NULL or "": the server does not say, so it is the one that was asked. `config`
 * NULL: the built-in table alone. */
struct price models_price(const struct config *config, const char *asked,
                          const struct price *asked_price, const char *answered);

#endif
