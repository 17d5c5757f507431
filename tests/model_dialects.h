/* The wire format of the scripted model server: a reply in a provider's format, as bytes with
 * marks. It is written by hand, so that the providers are not tested against their own code. */
#ifndef TESTS_MODEL_DIALECTS_H
#define TESTS_MODEL_DIALECTS_H

#include "base/buf.h"
#include "base/vec.h"
#include "tests/model_server.h"

enum dialect { DIALECT_ANTHROPIC, DIALECT_OPENAI, DIALECT_OLLAMA };

struct script {
    int status;
    const char *content_type;
    struct buf body;
    VEC(size_t) ends; /* where each event or line ends within the body */
    size_t pause_at;  /* silence from here on until the release; SIZE_MAX: never */
    bool drop;        /* at its end the connection is dropped */
};

/* `model` is echoed. The caller releases the script. */
void script_build(struct script *out, enum dialect dialect, const struct reply *r,
                  const char *model);
/* Like script_build(), for an embeddings request (openai, ollama): its body holds the texts to
 * embed. */
void script_build_embeddings(struct script *out, enum dialect dialect, const struct reply *r,
                             const char *body, size_t len);
void script_release(struct script *s);

/* The content of a model listing. `names` ends with NULL and may itself be NULL; a window of 0 is
 * left out. */
struct listing {
    const char *const *names;
    long window;
};

/* Appends the answer to a listing's path ("/v1/models", "/api/tags", …); `anthropic` tells two
 * providers with the same path apart. False: there is
 * no such path, and a 404 is the answer. */
bool listing_build(struct buf *out, const char *path, bool anthropic,
                   const struct listing *listing);

/* Appends a JSON string with its quotes. */
void wire_string(struct buf *out, const char *text, size_t len);

#endif
