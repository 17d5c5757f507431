/* The rows of the tool table, one file each. */
#ifndef AGENT_ROWS_H
#define AGENT_ROWS_H

#include "agent/tools.h"

extern const struct tool tool_read_file;
extern const struct tool tool_list_directory;
extern const struct tool tool_search_files;
extern const struct tool tool_write_file;
extern const struct tool tool_run_command;
extern const struct tool tool_memory_search;

#endif
