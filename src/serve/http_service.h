/* What requests mean: routes (http_routes.h) become operations, answers become replies. */
#ifndef SERVE_HTTP_SERVICE_H
#define SERVE_HTTP_SERVICE_H

#include "serve/http_server.h"
#include "serve/server.h"

struct http_service;
struct mcp;

struct http_service *http_service_new(struct server *loop, struct mcp *mcp);

/* For the server of its requests. */
struct http_handler http_service_handler(struct http_service *s);

/* Streams end; what was asked is answered as ever. */
void http_service_stop(struct http_service *s);

/* After that server. NULL is fine. */
void http_service_free(struct http_service *s);

#endif
