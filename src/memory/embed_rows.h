/* The rows of the table of embedders, and what those with a network share. */
#ifndef MEMORY_EMBED_ROWS_H
#define MEMORY_EMBED_ROWS_H

#include "base/json.h"
#include "memory/embedder.h"

enum { EMBED_MOST_DIMENSIONS = 65536 };

extern const struct embedder embed_hashed, embed_openai, embed_ollama;

/* POSTs `body` (taken) to the endpoint's URL + path. NULL: the failure is filled in. */
struct json *embed_ask(const struct embedding_settings *s, struct http *http,
                       const struct wakeup *wakeup, const char *path, struct json *body,
                       struct failure *f);

/* A request's common part: {"model", "input": […], "dimensions"?}. */
struct json *embed_body(const struct embedding_settings *s, const char *const *texts, size_t count);

/* Puts one vector, an array of numbers, at its place among `count`; the first one says the
 * dimension of all. Makes its length 1. False: it is none. */
bool embed_take(struct embeddings *out, size_t place, size_t count, const struct json *vector,
                const char *name, struct failure *f);

/* Length 1, or 0 where all are 0. */
void embed_normalise(float *values, size_t count);

#endif
