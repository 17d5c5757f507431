/* A place in a transcript that a full-text search found. */
#ifndef CHAT_SEARCH_HIT_H
#define CHAT_SEARCH_HIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/entropy.h"
#include "base/shape.h"
#include "base/vec.h"
#include "chat/message.h"

struct search_hit {
    char session_id[UUID_LEN + 1];
    char *title; /* of the session */
    int64_t seq; /* of the event that holds the text */
    int64_t at_ms;
    enum role role;    /* who said it */
    bool archived;     /* the session is */
    char *snippet;     /* one line, cleaned, at most 240 bytes, the first match in its middle */
    size_t match, len; /* bytes of the snippet that matched first; len 0: not found in it */
};

struct search_hits {
    VEC(struct search_hit) items;
};

void search_hits_release(struct search_hits *h);

extern const struct shape search_hit_shape;

#endif
