/* What the surface of a conversation does for its tools: an editor has files open that are not
 * saved, and writes them. */
#ifndef AGENT_TOOL_SURFACE_H
#define AGENT_TOOL_SURFACE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "chat/decision.h"

/* Paths are resolved, and may be reached. `out` gets what was asked for, or why it FAILED. Each
 * comes back soon after the deadline or the wakeup of the tool. */
struct tool_surface {
    /* The whole text of a file. PASSED: what is on the disk counts. */
    enum surface_outcome (*read)(void *context, const struct tool_context *tool, const char *path,
                                 struct buf *out);
    /* The whole content of a file, which need not exist; its directory does. DID: it is written,
     * and `out` gets nothing. FAILED by time or wakeup: whether it is, is unknown; `out` says so.
     */
    enum surface_outcome (*write)(void *context, const struct tool_context *tool, const char *path,
                                  const char *content, struct buf *out);
    void *context;
};

#endif
