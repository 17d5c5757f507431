/* One call of a tool: checked before it runs, shown to a person, bounded in what it returns. */
#ifndef AGENT_TOOL_CALL_H
#define AGENT_TOOL_CALL_H

#include "agent/toolset.h"

/* Whether a value fits the part of JSON Schema that tools use: type, properties, required, enum,
 * minimum, maximum, items. Members that `properties` does not name are refused. False with the path
 * of the first member that does not fit, and why. */
bool tool_schema_check(const struct json *schema, const struct json *value, struct error *e);

/* A call whose tool exists and whose arguments fit. */
struct tool_call {
    const struct tool *tool;
    struct json *args;       /* owned */
    struct tool_sight sight; /* of its preview */
    char *guarded; /* owned: the guarded place that its path leads to (agent/guard.h); NULL: none */
    bool asked;    /* the user allowed this very call */
};

/* Finds the tool, which must be one that can be had now, parses the arguments and checks them
 * against the schema (types, required, enum, minimum, maximum, no unknown members). False: `out`
 * holds the reason for the model. */
bool tool_call_prepare(struct tool_call *call, const struct toolset *tools, const char *name,
                       const char *args, struct buf *out);
void tool_call_release(struct tool_call *call);

/* Finds out where the call's path leads; `guarded` is that place. Such a call is to be asked
 * whatever is allowed, and without `asked` it fails. */
bool tool_call_is_guarded(struct tool_call *call);

/* What is allowed where this call is allowed for the session, for a person to read; the caller
 * frees. NULL: it is asked about each time. */
char *tool_call_grant(const struct tool_call *call);

/* Runs the tool and cuts its output at a character's border with a note. Returns whether the result
 * is an error: also when a file is no longer what tool_call_preview() saw, or the tool cannot be
 * had any more. `out` is always filled. */
bool tool_call_run(const struct tool_call *call, const struct tool_context *context,
                   struct buf *out);

/* What a person should see before it runs, with nothing in it that cannot be seen (utf8_reveal()).
 * False: it cannot succeed, or has more than TOOL_MAX_PREVIEW and so could not be read; `out` says
 * why. */
bool tool_call_preview(struct tool_call *call, const struct tool_context *context, struct buf *out);

#endif
