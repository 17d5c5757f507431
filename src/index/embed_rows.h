/* The rows of the table of embedders, and what they share. */
#ifndef INDEX_EMBED_ROWS_H
#define INDEX_EMBED_ROWS_H

#include "index/embedder.h"

enum { EMBED_MOST_DIMENSIONS = 65536 };

extern const struct embedder embed_hashed, embed_openai, embed_ollama;

/* How those with a network differ: where they are asked, and where the vectors are in a reply. */
struct embed_post_form {
    const char *path;   /* behind the endpoint's URL */
    const char *list;   /* the member that holds what came, one item a text */
    const char *vector; /* an item's member that is its vector; NULL: the item itself is */
    const char *place;  /* an item's member that says which text's it is; NULL: they are in order */
};

/* `embed` of those with a network (embed_post.c), which say their form in `post`. */
bool embed_post(const struct embedding_settings *settings, struct http *http,
                const struct wakeup *wakeup, const char *const *texts, size_t count,
                struct embeddings *out, struct failure *f);

/* Length 1, or 0 where all are 0. */
void embed_normalise(float *values, size_t count);

#endif
