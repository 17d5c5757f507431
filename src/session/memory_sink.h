/* Indexes conversations in semantic memory: messages that a compaction drops (compact/discard.h),
 * and messages of sessions that were left. The oldest dropped messages are indexed in the
 * compaction's transaction; if there are many, the others are deferred and indexed from the log in
 * the background. */
#ifndef SESSION_MEMORY_SINK_H
#define SESSION_MEMORY_SINK_H

#include "compact/discard.h"
#include "config/config.h"
#include "memory/memory.h"

struct memory_sink {
    struct discard_sink sink; /* its context is this struct: do not move it */
    struct memory *memory;    /* borrowed; on the connection that the sink is called with */
    bool tool_results;        /* [memory] index_tool_results */
    bool off;                 /* [memory] index: nothing new comes in */
    bool follows;             /* [memory] index: sessions that are left */
    bool closed;              /* the session takes nothing into memory now */
};

void memory_sink_init(struct memory_sink *s, struct memory *memory, const struct config *config);

/* Indexes some of what was deferred, in a transaction; *more: there was something. The memory is
 * on this connection. */
bool memory_sink_work(const struct memory_sink *sink, struct store *s, bool *more, struct error *e);

/* Defers the messages of a session that came since it was followed last, in a transaction. */
bool memory_sink_follow(const struct memory_sink *sink, struct store *s, const char *session_id,
                        struct error *e);

/* The next session to index ([memory] index = sessions): one that no process has open any more,
 * that is archived, or that got no message for an hour. */

enum { FOLLOW_IDLE_MS = 60 * 60 * 1000 };

struct memory_follow {
    const struct memory_sink *sink; /* borrowed, as all of it */
    struct store *store;
    const char *directory; /* of the store, for locks; NULL: it is in memory, without any */
    /* Without locks: whether this process has left the session; NULL: it has left none. */
    bool (*has_left)(void *context, const char *session_id);
    void *context;
};

/* True if the configuration turns this on. */
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
