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
    VEC(size_t) ends; /* the end of each event or line within the body */
    size_t pause_at;  /* position where the server waits for the release; SIZE_MAX: none */
    bool drop;        /* the connection is dropped at the end */
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

/* Appends the answer to a listing's path ("/v1/models", "/api/tags", …); `anthropic` distinguishes
 * two providers with the same path. Returns false for an unknown path, which gets a 404. */
bool listing_build(struct buf *out, const char *path, bool anthropic,
                   const struct listing *listing);

/* Appends a JSON string with its quotes. */
void wire_string(struct buf *out, const char *text, size_t len);

#endif
