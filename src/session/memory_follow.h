/* Which session comes into semantic memory next ([memory] index = sessions): one that nobody has
 * open any more, that is archived, or that nothing was said in for an hour. */
#ifndef SESSION_MEMORY_FOLLOW_H
#define SESSION_MEMORY_FOLLOW_H

#include "session/memory_sink.h"

enum { FOLLOW_IDLE_MS = 60 * 60 * 1000 };

struct memory_follow {
    const struct memory_sink *sink; /* borrowed, as all of it */
    struct store *store;
    const char *directory; /* of the store, for locks; NULL: it is in memory, without any */
    /* Without locks: whether this process has left the session; NULL: it has left none. */
    bool (*has_left)(void *context, const char *session_id);
    void *context;
};

/* What the configuration says. */
bool memory_follow_is_on(const struct config *config);

/* Whether one is to be followed now; else *wait_ms is how long until the next may be, -1: nothing
 * waits. */
bool memory_follow_wait(const struct memory_follow *f, bool *due, int64_t *wait_ms,
                        struct error *e);

/* Follows one. *more: there was one; else *wait_ms as above. */
bool memory_follow_next(const struct memory_follow *f, bool *more, int64_t *wait_ms,
                        struct error *e);

/* Follows one of those that were written to since then: what a program that ends has left. */
bool memory_follow_since(const struct memory_follow *f, int64_t since_ms, bool *more,
                         struct error *e);

#endif
