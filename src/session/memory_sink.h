/* Gives what a compaction drops to semantic memory (compact/discard.h). */
#ifndef SESSION_MEMORY_SINK_H
#define SESSION_MEMORY_SINK_H

#include "compact/discard.h"
#include "config/config.h"
#include "memory/memory.h"

struct memory_sink {
    struct discard_sink sink; /* its context is this struct: do not move it */
    struct memory *memory;    /* borrowed; on the connection that the sink is called with */
    bool tool_results;        /* [memory] index_tool_results */
};

void memory_sink_init(struct memory_sink *s, struct memory *memory, const struct config *config);

#endif
