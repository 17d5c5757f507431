/* The tools that work in a directory, one file each, and how they reach what is in it. */
#ifndef AGENT_BUILTIN_H
#define AGENT_BUILTIN_H

#include "agent/tool.h"

extern const struct tool tool_read_file;
extern const struct tool tool_list_directory;
extern const struct tool tool_search_files;
extern const struct tool tool_write_file;
extern const struct tool tool_run_command;
extern const struct tool tool_memory_search;

/* Opens the path within the working directory. -1 with the reason; also where it leads to a guarded
 * place that the user was not asked about. `where` as in confine_open(). */
int tool_open(const struct tool_context *context, const char *path, int flags, char **where,
              struct error *e);

/* Whether this resolved path may be reached; else `e` says why not. */
bool tool_may_reach(const struct tool_context *context, const char *path, const char *where,
                    struct error *e);

#endif
