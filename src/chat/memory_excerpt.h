/* An entry of memory with those around it in its conversation: how it is named, and what is given
 * of it. Pure. */
#ifndef CHAT_MEMORY_EXCERPT_H
#define CHAT_MEMORY_EXCERPT_H

#include <stddef.h>

#include "chat/memory_entry.h"

/* An entry by its id, or, where that is NULL, the first of this turn of the session; and how many
 * before and after it. Texts are borrowed. */
struct memory_place {
    const char *id;
    const char *session_id;
    int64_t turn; /* -1: none is named */
    int before, after;
};

enum { MEMORY_AROUND_DEFAULT = 2, MEMORY_AROUND_MOST = 20 };

/* Its members, for its shape and for the schema that models are told: X(row, member, help), where a
 * row is TEXT, TURN or COUNT; `FIRST` instead of X for the first. */
#define MEMORY_PLACE_MEMBERS(FIRST, X)                                                             \
    FIRST(TEXT, id, "the entry, as memory_search names it")                                        \
    X(TEXT, session_id, "instead of id, with turn")                                                \
    X(TURN, turn, "the first entry of this turn")                                                  \
    X(COUNT, before, "how many entries before it; default 2, at most 20")                          \
    X(COUNT, after, "how many entries after it; default 2, at most 20")

extern const struct shape memory_place_shape; /* closed: parameters */

/* USAGE: it names no entry. */
bool memory_place_check(const struct memory_place *p, struct error *e);

struct memory_excerpt {
    struct memory_entries entries; /* in the order of the conversation, one at least */
    int asked;                     /* which of them was asked for */
    int64_t bytes_cut;             /* of its content */
    int left_out;                  /* of the others */
};

void memory_excerpt_release(struct memory_excerpt *x);

/* Leaves out what does not fit into so many bytes of memory_excerpt_model_shape: the farthest
 * neighbours first, then the end of the entry itself. */
void memory_excerpt_fit(struct memory_excerpt *x, size_t max);

extern const struct shape memory_excerpt_shape;       /* whole entries */
extern const struct shape memory_excerpt_model_shape; /* what a model needs of them; to write */

#endif
