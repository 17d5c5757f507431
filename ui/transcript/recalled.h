/* What the model asked of semantic memory and what it was given, out of memory_recalled events. */
#ifndef UI_RECALLED_H
#define UI_RECALLED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/event.h"
#include "chat/memory_hit.h"

struct recalled {
    int64_t seq, at_ms;
    char *query; /* clean, one line */
    char *badge; /* likewise; NULL: it was searched as configured */
    struct memory_hits hits;
    bool fresh; /* came while the person was not looking at it */
};

struct recalled *recalled_new(const struct event *ev);
void recalled_free(struct recalled *r); /* NULL is fine */

/* Those of a session, oldest first. */
struct recalls {
    VEC(struct recalled *) items;
};
void recalls_clear(struct recalls *r);
void recalls_release(struct recalls *r);

/* In any order of pages; false if it was there, or is no memory_recalled. */
bool recalls_add(struct recalls *r, const struct event *ev, bool fresh);

#endif
