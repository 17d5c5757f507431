/* POST /mcp and DELETE /mcp: the exchange of HTTP as one of the Model Context Protocol (mcp.h). */
#ifndef SERVE_HTTP_MCP_H
#define SERVE_HTTP_MCP_H

#include "serve/http_exchange.h"
#include "serve/server.h"

struct mcp;

/* Answers the exchange, now or later. Takes what it keeps. */
void http_mcp_serve(struct server *loop, struct mcp *m, struct http_exchange *x);

#endif
