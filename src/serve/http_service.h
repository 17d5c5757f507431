/* `tiro serve --http`: where it listens, who may ask, and what is served there. Requests become
 * calls of operations, answers become replies. */
#ifndef SERVE_HTTP_SERVICE_H
#define SERVE_HTTP_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "serve/http_request.h"
#include "serve/http_server.h"
#include "serve/server.h"

/* --- the table of routes: methods, paths and their operations. Pure ------------------------------
 */

enum http_route_kind {
    HTTP_OPERATION, /* a row of the table of operations */
    HTTP_EVENTS,    /* the events of a session, or of all, as they happen */
    HTTP_RPC,       /* any operation, as JSON-RPC */
    HTTP_MCP,       /* a message of the Model Context Protocol */
    HTTP_HEALTH,
    HTTP_DESCRIPTION, /* of all this, as OpenAPI */
    HTTP_TICKET       /* what opens a stream without the token */
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
    const char *summary;   /* where no operation has one; NULL */
};

extern const struct http_route http_routes[]; /* behind the last the path is NULL */

/* The row of a path and a method; its variables are added to `params`, an object (NULL: to none).
 * NULL: there is none, and `status` is 404, or 405 where the path is served by other methods. HEAD
 * is GET without a body, and not for events, which have no end. */
const struct http_route *http_route_find(const char *method, const struct http_target *t,
                                         struct json *params, int *status);

/* The methods of that path, as Allow has them: "GET, POST". */
void http_route_allow(const struct http_target *t, struct buf *out);

/* --- tickets: each opens one stream, soon or never. Pure -----------------------------------------
 *
 * They stand in for the token: a browser's EventSource can give no header, and a token in a URL
 * would stay in histories and logs. */

/* At once; a further one takes the place of the oldest. */
enum { HTTP_TICKETS = 64, HTTP_TICKET_LEN = 32, HTTP_TICKET_S = 30 };

struct http_tickets {
    struct http_ticket {
        char text[HTTP_TICKET_LEN + 1]; /* "": it was taken, or never given */
        int64_t until_ms;
    } list[HTTP_TICKETS];
    size_t given;
};

/* Borrowed until the next one is made. */
const char *http_ticket_make(struct http_tickets *t, int64_t now_ms);

/* Whether it was made, not taken, and not too long ago. It is taken then. */
bool http_ticket_take(struct http_tickets *t, const char *text, int64_t now_ms);

/* --- the service --------------------------------------------------------------------------------
 */

#ifdef HAVE_LIBMICROHTTPD
enum { HTTP_IS_SERVED = 1 };
#else
enum { HTTP_IS_SERVED = 0 }; /* http_service_new() fails with USAGE */
#endif

struct mcp;

struct http_service {
    char *urls;       /* where it listens, with blanks between them */
    char *token_path; /* the file that has the token; NULL: a command gave the token */

    /* Its own. */
    struct server *loop;
    struct mcp *mcp;
    char *token;
    struct http_events *events;
    struct http_tickets tickets;
    struct http_server *server;
};

/* Listens on what the service manager has handed over, else on the address ("127.0.0.1:8476"; NULL:
 * [serve] address). Every request needs the token of [serve] token_file, token_command, or of the
 * file "http-token" in the state directory. Holds the server until it is freed. `mcp` answers POST
 * /mcp, and outlives it. */
struct http_service *http_service_new(struct server *loop, struct mcp *mcp, const char *address,
                                      struct error *e);

/* After server_run(). NULL is fine. */
void http_service_free(struct http_service *s);

#endif
