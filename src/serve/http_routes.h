/* The table of what HTTP serves: methods, paths, and the operations that they are. Pure. */
#ifndef SERVE_HTTP_ROUTES_H
#define SERVE_HTTP_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/json.h"
#include "serve/http_target.h"

enum http_route_kind {
    HTTP_OPERATION, /* a row of the table of operations */
    HTTP_EVENTS,    /* the events of a session, or of all, as they happen */
    HTTP_RPC,       /* any operation, as JSON-RPC */
    HTTP_MCP,       /* a message of the Model Context Protocol */
    HTTP_HEALTH,
    HTTP_DESCRIPTION, /* of all this, as OpenAPI */
    HTTP_TICKET /* what opens a stream without the token */
};

/* Parameters of an operation are its variables ("{session_id}" is the member "session_id"), its
 * query (GET, DELETE) and the members of its body (POST); what is said twice must be the same. */
struct http_route {
    const char *method, *path;
    enum http_route_kind kind;
    const char *operation; /* HTTP_OPERATION: its name */
    int status;            /* of success */
    bool async;            /* who prefers so is answered with 202 when it has begun */
    const char *q;         /* the member that "q" of a query is short for; NULL: none */
    const char *summary; /* where no operation has one; NULL */
};

/* NULL past the last row. */
const struct http_route *http_route_at(size_t index);

/* The row of a path and a method; its variables are added to `params`, an object. NULL: there is
 * none, and `status` is 404, or 405 where the path is served by other methods. HEAD is GET without
 * a body, and not for events, which have no end. */
const struct http_route *http_route_find(const char *method, const struct http_target *t,
                                         struct json *params, int *status);

/* The methods of that path, as Allow has them: "GET, POST". */
void http_route_allow(const struct http_target *t, struct buf *out);

#endif
