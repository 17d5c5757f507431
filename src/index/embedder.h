/* Vectors of texts, from embedders behind a table of functions. Calls block, and return within 100
 * ms after the wakeup says stop. */
#ifndef INDEX_EMBEDDER_H
#define INDEX_EMBEDDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "base/wakeup.h"
#include "config/config.h"
#include "provider/failure.h"
#include "provider/http.h"

struct embeddings {
    int dimension;
    VEC(float)
    values; /* one vector after the other, each of length 1; or 0: a text without words */
};
void embeddings_release(struct embeddings *v);

/* [embedding], read once. Owned strings; the key is wiped on release. */
struct embedder;
struct embedding_settings {
    const struct embedder *embedder; /* NULL: none is configured */
    char *base_url, *key, *model;
    int dimensions; /* to ask for; 0: the model's own */
    int batch;      /* texts a request, at most */
    const struct config *config;
};

struct embedder {
    const char *name;        /* "hashed" */
    const char *usual_model; /* where none is configured */
    bool has_network;
    bool takes_dimensions; /* [embedding] dimensions is asked for */
    int max_batch;         /* texts a request; OpenAI: 2,048 */
    size_t max_bytes;      /* of one text: longer ones are cut at a character's border */

    bool (*embed)(const struct embedding_settings *settings, struct http *http,
                  const struct wakeup *wakeup, const char *const *texts, size_t count,
                  struct embeddings *out, struct failure *f);
    /* Of an embedder with a network: */
    struct {
        const char *path;   /* is appended to the endpoint's URL */
        const char *list;   /* member of the reply, one item a text */
        const char *vector; /* member of an item; NULL: the item is the vector */
        const char *place;  /* member of an item: the index of its text; NULL: in order */
    } post;
};
extern const struct embedder embed_hashed, embed_openai, embed_ollama;

enum { EMBED_MOST_DIMENSIONS = 65536 };

/* As [embedding] provider names it ("builtin" is hashed); NULL: there is none. */
const struct embedder *embedder_find(const char *name);

/* False with CONFIG_ERROR that says what is missing. May run api_key_command. */
bool embedding_settings_read(const struct config *config, char *(*getenv_fn)(const char *),
                             const struct wakeup *wakeup, struct embedding_settings *out,
                             struct error *e);
void embedding_settings_release(struct embedding_settings *s);

/* "openai/text-embedding-3-small", the name of stored vectors. The caller frees. */
char *embedding_model_name(const struct embedding_settings *s);

/* One try at up to max_batch texts, of each the first max_bytes. */
bool embed_once(const struct embedding_settings *s, struct http *http, const struct wakeup *wakeup,
                const char *const *texts, size_t count, size_t max_bytes, struct embeddings *out,
                struct failure *f);

/* Any number of texts, in batches, with the retries of [provider]. */
bool embed_all(const struct embedding_settings *s, struct http *http, const struct wakeup *wakeup,
               const char *const *texts, size_t count, struct embeddings *out, struct failure *f);

/* ---- the configured embedder, for searches and background work ----
 *
 * Its settings are read when vectors are first needed, the vector of the last question is kept, and
 * an endpoint that does not answer is not asked for a while. Belongs to one thread. */

enum { ENCODER_PATIENCE_MS = 5000, ENCODER_DEAD_MS = 30000 };

struct encoder {
    const struct config *config;
    struct http *http;
    struct embedding_settings embedding; /* read at the first question that needs it */
    bool read;
    struct error fault;
    char *model;      /* name of its vectors; NULL until the settings were read */
    int patience_ms;  /* how long a question waits; tests shorten it */
    int64_t retry_ms; /* clock_mono_ms() before which a dead endpoint is not asked again */

    char *asked_text; /* the last question and its vector */
    struct embeddings asked;
};

/* Costs nothing until it is used. */
void encoder_init(struct encoder *p, const struct config *config);
void encoder_release(struct encoder *p);

/* Whether an embedder is configured; else `fault` says why it cannot be used, ERR_OK: there is
 * none. The command for the key may ask a person, so this is called only when vectors are needed.
 */
bool encoder_read(struct encoder *p, const struct wakeup *wakeup);

/* Sets `asked` to the vector of a question, with one try, since a person or a model waits. False
 * without it; *stopped: because of the wakeup. */
bool encoder_ask(struct encoder *p, const char *text, const struct wakeup *wakeup, bool *stopped);

#endif
