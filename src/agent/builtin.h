/* The source of the tools that work in a directory, and how they reach what is in it. Their `self`
 * is the struct tool_host. */
#ifndef AGENT_BUILTIN_H
#define AGENT_BUILTIN_H

#include "agent/toolset.h"

extern const struct tool tool_read_file, tool_list_directory, tool_search_files, tool_write_file,
    tool_run_command;

/* The argument "path" of a call, resolved; default: the directory itself. For struct tool. */
char *builtin_reaches(const void *self, const struct json *args);

/* Opens the path within the working directory. -1, and the reason appended to `out`; also where it
 * leads to a guarded place that the user was not asked about. `where` as in confine_open(). */
int builtin_open(const struct tool_context *context, const char *path, int flags, char **where,
                 struct buf *out);

/* Whether this resolved path may be reached; else `e` says why not. */
bool builtin_may_reach(const struct tool_context *context, const char *path, const char *where,
                       struct error *e);

#endif
