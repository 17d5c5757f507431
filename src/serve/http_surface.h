/* `tiro serve --http`: where it listens, who may ask, and what is served there. */
#ifndef SERVE_HTTP_SURFACE_H
#define SERVE_HTTP_SURFACE_H

#include "base/buf.h"
#include "base/err.h"
#include "serve/server.h"

struct http_surface;
struct mcp;

/* False in a build without libmicrohttpd: http_surface_new() fails with USAGE there. */
bool http_surface_there(void);

/* Listens on what the service manager has handed over, else on the address ("127.0.0.1:8476"; NULL:
 * [serve] address). Every request needs the token (http_token.h). Holds the server until it is
 * freed. `mcp` answers POST /mcp, and outlives it. */
struct http_surface *http_surface_new(struct server *loop, struct mcp *mcp, const char *address,
                                      struct error *e);

/* Where it listens, as URLs with blanks between them. */
void http_surface_add_urls(const struct http_surface *h, struct buf *out);

/* The file that has the token; NULL: a command gave it. Borrowed. */
const char *http_surface_token_path(const struct http_surface *h);

/* After server_run(). NULL is fine. */
void http_surface_free(struct http_surface *h);

#endif
