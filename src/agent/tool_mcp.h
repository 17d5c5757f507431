/* The MCP servers of a conversation, and their tools. Belongs to its thread. */
#ifndef AGENT_TOOL_MCP_H
#define AGENT_TOOL_MCP_H

#include <stdbool.h>

#include "base/wakeup.h"
#include "mcp/client.h"
#include "mcp/config.h"

enum {
    MCP_TOOL_NAME_MAX = 64,  /* bytes of a name that models get */
    MCP_FIRST_WAIT_MS = 1000 /* for servers that start, before the first request with tools */
};

struct tool_mcp;

/* Starts nothing. `directory`: where servers work; copied. The wakeup is borrowed. */
struct tool_mcp *tool_mcp_new(const char *directory, const struct wakeup *wakeup);
void tool_mcp_free(struct tool_mcp *m); /* as tool_mcp_end(); NULL is fine */

/* Takes the servers and starts those that have no fault and are not off, all at once. Does not
 * wait; the next toolset_refresh() does, MCP_FIRST_WAIT_MS at most. Once until tool_mcp_end().
 * `reach` and `elicits` as in mcp_client_new(). */
void tool_mcp_begin(struct tool_mcp *m, struct mcp_servers *servers, const struct http_reach *reach,
                    unsigned elicits);
bool tool_mcp_has_begun(const struct tool_mcp *m);

/* The tokens that their tools may take of a request; 0: no limit. Past it tools that are new stay
 * out of the prompt, which has tool_search in their place: a tool that it finds is in the prompt
 * from the next request on. What is in the prompt stays there. */
void tool_mcp_set_room(struct tool_mcp *m, int64_t tokens);

/* Ends the servers, all at once, and waits for that. They have no tools then. NULL is fine. */
void tool_mcp_end(struct tool_mcp *m);

/* The client of a server that was started; NULL: there is none of that name. */
struct mcp_client *tool_mcp_client(struct tool_mcp *m, const char *server);

/* The clients in the order of the servers; NULL: there are no more. */
struct mcp_client *tool_mcp_client_at(struct tool_mcp *m, size_t i);

/* Which servers cannot be used, and why; NULL: there are none. As of the last toolset_refresh(). */
const char *tool_mcp_faults(const struct tool_mcp *m);

/* "mcp__SERVER__TOOL" with _ for all but letters, digits, _ and -, cut with a hash to
 * MCP_TOOL_NAME_MAX. `hashed`: with a hash in any case. The caller frees. Pure. */
char *tool_mcp_name(const char *server, const char *tool, bool hashed);

#endif
