/* Names of resources: "tiro://session/REFERENCE" is a session as Markdown, with ".json" behind it
 * its events. Pure. */
#ifndef SERVE_MCP_URI_H
#define SERVE_MCP_URI_H

#include <stdbool.h>

enum mcp_form { MCP_MARKDOWN, MCP_JSON };

/* False: it names nothing of ours. `reference` (catalog.h), with what was escaped as it is, is the
 * caller's to free. */
bool mcp_uri_read(const char *uri, char **reference, enum mcp_form *form);

/* The caller frees. */
char *mcp_uri_of(const char *session_id, enum mcp_form form);

#endif
