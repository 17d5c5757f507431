/* The tools that a model may call. */
#ifndef AGENT_TOOLSET_H
#define AGENT_TOOLSET_H

#include "agent/tool.h"

extern const struct tool *const tools[]; /* ends with NULL */
const struct tool *tool_find(const char *name);

/* Whether a tool is offered at this level of [chat] tools: none, read (what cannot change anything)
 * or full. */
bool tool_offered(const struct tool *tool, const char *level);

#endif
