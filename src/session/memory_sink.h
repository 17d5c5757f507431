/* Gives conversations to semantic memory: what a compaction drops (compact/discard.h), and the
 * messages of sessions that were left. Of what a compaction drops the oldest messages are indexed
 * in its transaction; if there are many, the others are deferred, and indexed in the background out
 * of the log. */
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
    bool closed;              /* the session takes nothing into memory now */
};

void memory_sink_init(struct memory_sink *s, struct memory *memory, const struct config *config);

/* Indexes some of what was deferred, in a transaction; *more: there was something. The memory is
 * on this connection. */
bool memory_sink_work(const struct memory_sink *sink, struct store *s, bool *more, struct error *e);

/* Defers the messages of a session that came since it was followed last, in a transaction. */
bool memory_sink_follow(const struct memory_sink *sink, struct store *s, const char *session_id,
                        struct error *e);

#endif
