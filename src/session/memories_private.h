/* What the parts of memories.h share. */
#ifndef SESSION_MEMORIES_PRIVATE_H
#define SESSION_MEMORIES_PRIVATE_H

#include "memory/recall.h"
#include "session/memories.h"

struct memories {
    const struct config *config;
    struct store *store; /* NULL: nothing was ever kept, then `recall` is not there */
    char *directory;     /* that holds the store; NULL: it is in memory */
    char *project;
    struct recall recall;
};

/* Its table of functions; only where there is a store. */
static inline const struct memory_store *memories_store(const struct memories *m)
{
    return m->recall.memory->store;
}

#endif
