/* What the parts of memories.h share. */
#ifndef SESSION_MEMORIES_PRIVATE_H
#define SESSION_MEMORIES_PRIVATE_H

#include "memory/recall.h"
#include "session/memories.h"

struct memories {
    const struct config *config;
    struct store *store; /* borrowed; NULL: nothing was ever kept, then `recall` is not there */
    char *project;
    const char *session; /* that is open, for scopes; NULL: none. Borrowed, as the next */
    const struct wakeup *wakeup; /* ends what a search waits for; NULL: nothing does */
    struct recall recall;
    VEC(struct memory_forgotten) forgotten; /* that can be put back, the last one last */
};

/* Its table of functions; only where there is a store. */
static inline const struct memory_store *memories_store(const struct memories *m)
{
    return m->recall.memory->store;
}

#endif
