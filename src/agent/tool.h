/* What a tool is, and what tools share while they work. Where they come from: toolset.h. */
#ifndef AGENT_TOOL_H
#define AGENT_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/wakeup.h"
#include "chat/event.h"
#include "config/config.h"
#include "provider/provider.h"

/* What a preview saw of the file that the call changes. */
struct tool_sight {
    bool taken;  /* false: there was no preview, or it is of no file */
    bool exists; /* then `file` is filled */
    struct stat file;
    bool has_directory; /* then `directory` is filled */
    struct stat directory;
    char *text; /* as the surface has it, which counts then; owned; NULL: it has none */
};
void tool_sight_release(struct tool_sight *sight);

struct tool_context {
    void *self; /* the tool's own; set by tool_call.c, as what follows to the blank line */
    const struct tool_sight *sight;
    const char *guarded; /* the guarded place that this call may reach; NULL: none */

    size_t max_output;   /* bytes */
    int64_t deadline_ms; /* clock_mono_ms() at which the tool gives up */
    const struct wakeup *wakeup;

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

/* Whether a call that changes something is asked about first, where neither its name nor its class
 * is denied, and no list has its name. */
enum tool_consent {
    CONSENT_BY_CLASS, /* as [tools] has its class */
    CONSENT_ASKED,    /* always */
    CONSENT_GIVEN     /* never: it says what it did */
};

enum { TOOL_MAX_PREVIEW = 1024 * 1024 /* bytes */ };

struct tool {
    struct tool_spec spec;
    enum tool_class class;
    enum tool_consent consent;
    enum config_key timeout; /* the key with its seconds */
    const char *skill;       /* that joins the prompt with it (agent/skill.h); NULL: none */
    const char *accepts;     /* schema of what is taken, where that is more than the model is told;
                                NULL: the same */

    /* Set as it is listed (toolset.h). The functions below get `self`, run() and preview() as
     * context->self. */
    const struct tool_source *source;
    void *self;

    /* Why it cannot be had now, English for the model and borrowed; NULL: it can. Asked for each
     * prompt and again before a call runs. No such function: it always can. */
    const char *(*lacks)(const void *self);

    /* The resolved path that a call reaches; the caller frees. NULL: none, or it cannot be
     * followed. No such function: it takes no path. */
    char *(*reaches)(const void *self, const struct json *args);

    /* Appends which calls a person allows who allows such a one for the session: a text that they
     * read, and that is the same for all those calls. Nothing: each call is asked about. No such
     * function: all calls of the tool. */
    void (*grant)(const struct json *args, struct buf *out);

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

const char *tool_lacks(const struct tool *tool);

enum tool_stop { TOOL_GOES_ON, TOOL_INTERRUPTED, TOOL_TIMED_OUT };
enum tool_stop tool_stop(const struct tool_context *context);

/* Whether the tool must stop; `out` then holds why, and nothing else. */
bool tool_stopped(const struct tool_context *context, struct buf *out);

#endif
