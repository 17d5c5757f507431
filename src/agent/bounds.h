/* The sandbox of a command of the model: which files it hides, which it lets the command change,
 * and the notes about it in the output of the command. */
#ifndef AGENT_BOUNDS_H
#define AGENT_BOUNDS_H

#include <stdbool.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sandbox.h"

/* Whether commands run in a sandbox: [tools] sandbox is on, and the kernel can. */
bool bounds_hold(const struct tool_host *host);

/* Makes the sandbox, as sandbox_make().
 * Hidden: the program's own files; keys (guard_keys) in the home directory, in their usual
 * directories there, and two levels below it in directories whose names begin with no dot (4,096
 * names at most are read); for root also the keys of the system.
 * Writable: the working directory, TMPDIR (/tmp without the variable) and [tools] sandbox_writes;
 * the search for keys does not enter these directories. */
bool bounds_make(const struct tool_host *host, bool network, struct sandbox *out, struct error *e);

/* Appends a note to the output of a command that failed in the sandbox, if the output has the words
 * of a refusal. The sandbox need not be the cause. */
void bounds_explain(const struct tool_host *host, bool network, struct buf *out);

/* Appends why there is no sandbox, if the configuration wants one; once in the life of the program.
 */
void bounds_tell_lack(const struct tool_host *host, struct buf *out);

#endif
