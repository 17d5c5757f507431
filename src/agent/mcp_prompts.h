/* Prompts of MCP servers: texts that a person opens as "/SERVER:PROMPT ARGUMENTS". Belongs to the
 * thread of the conversation. */
#ifndef AGENT_MCP_PROMPTS_H
#define AGENT_MCP_PROMPTS_H

#include "agent/tool_mcp.h"
#include "base/buf.h"
#include "chat/knowledge.h"

/* Appends the known prompts of a server, or of all, as commands of that name. */
void mcp_prompts_of(struct mcp_client *client, struct skills *out);
void mcp_prompts_list(struct tool_mcp *m, struct skills *out);

/* Gets the prompt of that name of a server, and appends its text, marked and bounded. Waits for the
 * server. `words`: its arguments, by position (those that it needs first) or NAME=VALUE, in quotes
 * where they have blanks; more words belong to the last one. USAGE: there is no such prompt, or an
 * argument is missing. */
bool mcp_prompt_open(struct mcp_client *client, const char *name, const char *words,
                     const struct wakeup *wakeup, struct buf *out, struct error *e);

#endif
