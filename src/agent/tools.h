/* The tools that a model may call: one file and one row each. */
#ifndef AGENT_TOOLS_H
#define AGENT_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/wakeup.h"
#include "provider/provider.h"

struct tool_context {
    int root_fd;         /* the working directory; paths cannot leave it */
    const char *root;    /* its name, for messages */
    size_t max_output;   /* bytes */
    int64_t deadline_ms; /* clock_mono_ms() at which the tool gives up */
    const struct wakeup *wakeup;
};

enum tool_class { TOOL_READ };

struct tool {
    struct tool_spec spec;
    enum tool_class class;

    /* Appends the result for the model to `out` (bounded by the caller). False: `out` holds the
     * reason, and the model gets it as an error; the turn goes on. Arguments fit the schema. */
    bool (*run)(const struct tool_context *context, const struct json *args, struct buf *out);
};

extern const struct tool *const tools[]; /* ends with NULL */
const struct tool *tool_find(const char *name);

/* Parses the arguments and checks them against the schema (types, required, enum, minimum, maximum,
 * no unknown members), runs the tool and cuts its output at a character's border with a note.
 * Returns whether the result is an error. `out` is always filled. */
bool tool_call(const struct tool_context *context, const char *name, const char *args,
               struct buf *out);

#endif
