/* What a model is asked to propose for learned memory and the graph out of what the user typed in a
 * session, and its answer. Pure functions. */
#ifndef KNOWLEDGE_EXTRACTION_H
#define KNOWLEDGE_EXTRACTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "chat/learned_item.h"

enum {
    EXTRACTION_TURNS = 3,         /* that a session has at least */
    EXTRACTION_TEXT_BYTES = 4000, /* of a message */
    EXTRACTION_BYTES = 48 * 1024, /* of all; of more the newest */
    EXTRACTION_PROPOSALS = 20,    /* items, and as many entities, that are taken of an answer */
    EXTRACTION_OBSERVATIONS = 10, /* of an entity */
    EXTRACTION_KNOWN = 50         /* items that the model is told of */
};

/* What the user typed: sentences alone, without files, code and quotations, secrets masked. */
struct typed_message {
    int64_t seq; /* of its event */
    char *text;
};
struct typed_messages {
    VEC(struct typed_message) items;
};
void typed_messages_release(struct typed_messages *m);
/* False: nothing of it was typed. */
bool typed_messages_add(struct typed_messages *m, int64_t seq, const char *message);

/* The request's one message: the messages, numbered from 1 on, and what is known already, as JSON.
 * The caller frees. */
char *extraction_request(const struct typed_messages *m, const struct learned_items *known);

struct proposal {
    enum learned_kind kind; /* ENTITY: its text as of entity_text.h */
    int64_t seq;            /* of the message that it is of */
    char *text;
};
struct proposals {
    VEC(struct proposal) items;
};
void proposals_release(struct proposals *p);

/* What of the answer can be used: a proposal that names no message, no kind or no text is left out.
 * False where it is no JSON object. */
bool extraction_read(const char *answer, const struct typed_messages *m, struct proposals *out,
                     struct error *e);

#endif
