/* What the surface of a conversation does for its tools: an editor has files open that are not
 * saved, writes them, and has terminals. */
#ifndef AGENT_TOOL_SURFACE_H
#define AGENT_TOOL_SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "chat/decision.h"

/* A command of a shell. */
struct surface_command {
    const char *text;
    const char *first;     /* what the shell does before, as child_environment_script() has it */
    const char *directory; /* an absolute path */
    size_t max_output;     /* bytes that are wanted */
    int64_t deadline_ms;   /* clock_mono_ms() at which it is ended */
};

enum surface_run_end { SURFACE_ENDED, SURFACE_LATE, SURFACE_INTERRUPTED };

struct surface_run {
    struct buf output; /* foreign, and as long as the surface likes */
    bool truncated;    /* its beginning was left out */
    enum surface_run_end end;
    int64_t status; /* of exit(); -1: unknown */
    char *signal;   /* its name, foreign; NULL: none */
};
void surface_run_release(struct surface_run *r);

/* Paths are resolved, and may be reached. `out` gets what was asked for, or why it FAILED. Each
 * comes back soon after the deadline or the wakeup of the tool. */
struct tool_surface {
    /* The whole text of a file. PASSED: it has none of its own, and what is on the disk counts. */
    enum surface_outcome (*read)(void *context, const struct tool_context *tool, const char *path,
                                 struct buf *out);
    /* The whole content of a file, which need not exist; its directory does. DID: it is written,
     * and `out` gets nothing. FAILED by time or wakeup: whether it is, is unknown; `out` says so.
     */
    enum surface_outcome (*write)(void *context, const struct tool_context *tool, const char *path,
                                  const char *content, struct buf *out);
    /* DID: it ran, and `run` is filled, to be released. */
    enum surface_outcome (*run)(void *context, const struct tool_context *tool,
                                const struct surface_command *command, struct surface_run *run,
                                struct buf *out);
    void *context;
};

#endif
