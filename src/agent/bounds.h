/* The bounds of a command that a model wrote: which files its sandbox hides, which it lets change,
 * and what is said when it may have refused something. */
#ifndef AGENT_BOUNDS_H
#define AGENT_BOUNDS_H

#include <stdbool.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sandbox.h"

/* Whether commands run in a sandbox: [tools] sandbox is on, and the kernel can. */
bool bounds_hold(const struct tool_host *host);

/* Hidden are the program's own files, and keys (guard_keys) in the home directory, where they
 * usually are in it, and two levels below it in directories without a dot, 4,096 names at most; for
 * root also the system's own. Writable are the working directory, TMPDIR (/tmp without the
 * variable) and [tools] sandbox_writes; a file in these is not hidden for its name. As
 * sandbox_make(). */
bool bounds_make(const struct tool_host *host, bool network, struct sandbox *out, struct error *e);

/* Appends a note to the output of a command that failed in the sandbox, if the output has the words
 * of a refusal. Whether it was the sandbox that refused, nobody can tell. */
void bounds_explain(const struct tool_host *host, bool network, struct buf *out);

/* Appends, once in the life of the program, that there is no sandbox though one is wanted. */
void bounds_tell_lack(const struct tool_host *host, struct buf *out);

#endif
