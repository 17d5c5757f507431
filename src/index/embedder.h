/* Texts to vectors, behind a table of functions: one file and one row each. Calls block, and return
 * within 100 ms after the wakeup says stop. */
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
    values; /* one vector after the other, each of length 1; or 0, which is like nothing:
               a text without words */
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
    /* How those with a network differ: where they are asked, and where the vectors are in a reply.
     */
    struct {
        const char *path;   /* behind the endpoint's URL */
        const char *list;   /* the member that holds what came, one item a text */
        const char *vector; /* an item's member that is its vector; NULL: the item itself is */
        const char *place;  /* an item's member that says which text's it is; NULL: in order */
    } post;
};
extern const struct embedder embed_hashed, embed_openai, embed_ollama;

enum { EMBED_MOST_DIMENSIONS = 65536 };
/* Length 1, or 0 where all are 0. */
void embed_normalise(float *values, size_t count);

/* As [embedding] provider names it ("builtin" is hashed); NULL: there is none. */
const struct embedder *embedder_find(const char *name);

/* False with CONFIG_ERROR that says what is missing. May run api_key_command. */
bool embedding_settings_read(const struct config *config, char *(*getenv_fn)(const char *),
                             const struct wakeup *wakeup, struct embedding_settings *out,
                             struct error *e);
void embedding_settings_release(struct embedding_settings *s);

/* "openai/text-embedding-3-small": what a stored vector is known by. The caller frees. */
char *embedding_model_name(const struct embedding_settings *s);

/* One try at up to max_batch texts. */
bool embed_once(const struct embedding_settings *s, struct http *http, const struct wakeup *wakeup,
                const char *const *texts, size_t count, struct embeddings *out, struct failure *f);

/* Any number of texts, in batches, with the retries of [provider]. */
bool embed_all(const struct embedding_settings *s, struct http *http, const struct wakeup *wakeup,
               const char *const *texts, size_t count, struct embeddings *out, struct failure *f);

#endif
