#include "agent/toolset.h"

#include <string.h>

#include "agent/builtin.h"

const struct tool *const tools[] = {&tool_read_file,
                                    &tool_list_directory,
                                    &tool_search_files,
                                    &tool_write_file,
                                    &tool_run_command,
                                    &tool_memory_search,
                                    NULL};

const struct tool *tool_find(const char *name)
{
    for (const struct tool *const *t = tools; *t; t++)
        if (strcmp((*t)->spec.name, name) == 0)
            return *t;
    return NULL;
}

bool tool_offered(const struct tool *tool, const char *level)
{
    return strcmp(level, "full") == 0 || (strcmp(level, "read") == 0 && tool->class == TOOL_READ);
}
