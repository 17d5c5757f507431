/* HTTP/1.1 on the server's one thread: sockets, connections and their limits, around libmicrohttpd.
 * It checks requests (http_checks.h) and hands them over whole; what they mean it does not know. */
#ifndef SERVE_HTTP_SERVER_H
#define SERVE_HTTP_SERVER_H

#include "base/err.h"
#include "base/vec.h"
#include "serve/http_exchange.h"
#include "serve/server.h"

/* A reply of which nothing is taken for so long ends. */
enum { HTTP_STALLED_S = 60 };
/* At once; others wait until one ends. Fewer where the system allows less. */
enum { HTTP_CONNECTIONS = 4096 };

struct http_handler {
    /* Of one without the token: whether it is admitted all the same. */
    bool (*open)(void *context, struct http_exchange *x);
    /* Of a request whose head is there: may answer at once, and spare its body. */
    void (*admit)(void *context, struct http_exchange *x);
    /* Of one that is there in whole. */
    void (*serve)(void *context, struct http_exchange *x);
    void *context;
};

struct http_server;

/* Serves what connects to the sockets, which listen, and are the server's from here on, also where
 * this fails. The head of a request must be there within `head_ms`, its body within four times as
 * much, each in whole and not byte by byte; a slower connection is cut. Policy and handler are
 * copied, but for their texts and context. */
struct http_server *http_server_new(struct server *loop, const int *sockets, size_t count,
                                    const struct http_policy *policy, int head_ms,
                                    const struct http_handler *handler, struct error *e);

/* Nothing that connects is served any more; requests that run go on. */
void http_server_stop(struct http_server *h);

/* Whether all that was to be written has been. */
bool http_server_is_written(const struct http_server *h);

/* Cuts all connections. NULL is fine. */
void http_server_free(struct http_server *h);

#endif
