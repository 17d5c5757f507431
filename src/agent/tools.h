/* The tools that a model may call: one file and one row each. */
#ifndef AGENT_TOOLS_H
#define AGENT_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/wakeup.h"
#include "chat/event.h"
#include "chat/memory_hit.h"
#include "config/config.h"
#include "provider/provider.h"

/* What a preview saw of the file that the call changes. */
struct tool_sight {
    bool taken;  /* false: there was no preview, or it is of no file */
    bool exists; /* then `file` is filled */
    struct stat file;
    bool has_directory; /* then `directory` is filled */
    struct stat directory;
};

/* Semantic memory, for the tool that searches it. */
struct tool_memory {
    /* Best first, at most `limit`. */
    bool (*search)(void *context, const char *query, int limit, struct memory_hits *out,
                   struct error *e);
    void *context;
};

struct tool_context {
    int root_fd;         /* the working directory; paths cannot leave it */
    const char *root;    /* its name, for messages */
    size_t max_output;   /* bytes */
    int64_t deadline_ms; /* clock_mono_ms() at which the tool gives up */
    const struct wakeup *wakeup;
    const struct tool_sight *sight;   /* set by tool_call_run() */
    const char *environment;          /* names of further variables for a command; NULL: none */
    const char *guarded;              /* the guarded place that this call may reach; NULL: none */
    const struct tool_memory *memory; /* NULL: there is none */

    /* What the tool did that is worth an event of its own; takes it. NULL: nobody listens. */
    void (*tell)(void *context, struct event *ev);
    void *tell_context;
};

/* X(NAME, "name"): what a tool can do to the user. */
#define TOOL_CLASSES(X)                                                                            \
    X(READ, "read")                                                                                \
    X(WRITE, "write")                                                                              \
    X(EXECUTE, "execute")                                                                          \
    X(NETWORK, "network")

enum tool_class {
#define X(id, name) TOOL_##id,
    TOOL_CLASSES(X)
#undef X
        TOOL_CLASS_COUNT
};
const char *tool_class_name(enum tool_class class);

struct tool {
    struct tool_spec spec;
    enum tool_class class;
    enum config_key timeout; /* the key with its seconds */
    bool takes_path;     /* its argument "path" is what it reaches; default: the directory itself */
    bool needs_memory;   /* offered only where there is one, and then also without a directory */
    const char *accepts; /* schema of what is taken, where that is more than the model is told;
                            NULL: the same */

    /* Appends the result for the model to `out` (bounded by the caller). False: `out` holds the
     * reason, and the model gets it as an error; the turn goes on. Arguments fit the schema. What
     * context->sight shows must be there still: a person allowed no other change. */
    bool (*run)(const struct tool_context *context, const struct json *args, struct buf *out);

    /* Appends what run() would do, in full and for a person: the command line, or the difference
     * that it would make; `sight` keeps what that was made from. Changes nothing. False: it would
     * fail, and `out` holds why. NULL: the arguments say it. */
    bool (*preview)(const struct tool_context *context, const struct json *args,
                    struct tool_sight *sight, struct buf *out);
};

extern const struct tool *const tools[]; /* ends with NULL */
const struct tool *tool_find(const char *name);

/* Whether a tool is offered at this level of [chat] tools: none, read (what cannot change anything)
 * or full. */
bool tool_offered(const struct tool *tool, const char *level);

/* A call whose tool exists and whose arguments fit. */
struct tool_call {
    const struct tool *tool;
    struct json *args;       /* owned */
    struct tool_sight sight; /* of its preview */
    char *guarded; /* owned: the guarded place that its path leads to (agent/guard.h); NULL: none */
    bool asked;    /* the user allowed this very call */
};

/* Parses the arguments and checks them against the schema (types, required, enum, minimum, maximum,
 * no unknown members). False: `out` holds the reason for the model. */
bool tool_call_prepare(struct tool_call *call, const char *name, const char *args, struct buf *out);
void tool_call_release(struct tool_call *call);

/* Finds out where the call's path leads; `guarded` is that place. Such a call is to be asked
 * whatever is allowed, and without `asked` it fails. */
bool tool_call_is_guarded(struct tool_call *call, const struct tool_context *context);

/* Runs the tool and cuts its output at a character's border with a note. Returns whether the result
 * is an error: also when a file is no longer what tool_call_preview() saw. `out` is always filled.
 */
bool tool_call_run(const struct tool_call *call, const struct tool_context *context,
                   struct buf *out);

/* What a person should see before it runs, with nothing in it that cannot be seen (utf8_reveal()).
 * False: it cannot succeed, or has more than 1 MiB and so could not be read; `out` says why. */
enum { TOOL_MAX_PREVIEW = 1024 * 1024 };
bool tool_call_preview(struct tool_call *call, const struct tool_context *context, struct buf *out);

/* For the tools themselves, while they work. */
/* Opens the path within the working directory. -1 with the reason; also where it leads to a guarded
 * place that the user was not asked about. `where` as in confine_open(). */
int tool_open(const struct tool_context *context, const char *path, int flags, char **where,
              struct error *e);

/* Whether this resolved path may be reached; else `e` says why not. */
bool tool_may_reach(const struct tool_context *context, const char *path, const char *where,
                    struct error *e);

enum tool_stop { TOOL_GOES_ON, TOOL_INTERRUPTED, TOOL_TIMED_OUT };
enum tool_stop tool_stop(const struct tool_context *context);

/* Whether the tool must stop; `out` then holds why, and nothing else. */
bool tool_stopped(const struct tool_context *context, struct buf *out);

#endif
