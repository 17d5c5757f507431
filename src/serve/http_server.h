/* HTTP/1.1 on the server's one thread: sockets, connections and their limits, around libmicrohttpd.
 * It checks requests (http_request.h) and hands them over whole, without reading what they ask for.
 */
#ifndef SERVE_HTTP_SERVER_H
#define SERVE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "serve/http_request.h"
#include "serve/server.h"

/* A reply of which nothing is taken for so long ends. */
enum { HTTP_STALLED_S = 60 };
/* At once; others wait until one ends. Fewer where the system allows less. */
enum { HTTP_CONNECTIONS = 4096 };

/* --- requests and replies -----------------------------------------------------------------------
 *
 * A request is whole and checked when it is handed over. It is answered once, now or later, from
 * the server's thread. Once the caller has hung up, the exchange is gone. */

enum http_progress {
    HTTP_READING,  /* its head or body */
    HTTP_RUNNING,  /* it waits for its answer */
    HTTP_ANSWERED, /* … which is there, and not given to the library yet */
    HTTP_SENDING
};

/* An event stream, which begins with a comment. */
struct http_source {
    /* Bytes written to `to`; 0: none now, and http_exchange_wake() will say when; -1: the end. */
    long (*read)(void *context, char *to, size_t size);
    /* The reader sends nothing more, and may have gone: only what is written to it will tell. NULL:
     * the stream ends then. */
    void (*probe)(void *context);
    void *context;
};

struct http_exchange {
    /* For the handler to read. */
    struct http_head head;
    struct http_target target;
    struct buf body;

    /* The handler's. `forget` (or NULL) is called when the exchange ends, answered or not; no
     * function may be called with the exchange from then on. */
    void *kept;
    void (*forget)(void *kept);

    /* The server's own. */
    struct http_server *server;
    size_t index; /* in the server's list */
    struct MHD_Connection *connection;
    char *raw_target;
    bool begun;    /* its head was checked */
    bool too_long; /* more came than a body may have, and is not kept */
    enum http_progress progress;
    bool suspended;
    bool watched; /* among the server's hangups */
    bool gone;    /* the caller is */
    struct MHD_Response *reply;
    size_t reply_bytes; /* of the server's `unread` */
    int status;
    VEC(struct http_parameter) reply_fields;
    struct http_source source;
};

/* --- answers: one of them, once -----------------------------------------------------------------
 */

/* A field of the reply's head, before the answer. */
void http_exchange_add_field(struct http_exchange *x, const char *name, const char *value);

/* `body` is copied. */
void http_exchange_reply(struct http_exchange *x, int status, const char *type, const char *body,
                         size_t len);

/* {"code","message"}: with the status and the name of the error's code; with others (`code` NULL:
 * the name of the status). */
void http_exchange_fail(struct http_exchange *x, const struct error *e);
void http_exchange_refuse(struct http_exchange *x, int status, const char *code,
                          const char *message);

void http_exchange_stream(struct http_exchange *x, const struct http_source *source);
void http_exchange_wake(struct http_exchange *x);

/* --- the server ---------------------------------------------------------------------------------
 */

struct http_handler {
    /* Whether a request without the token is admitted nevertheless. */
    bool (*open)(void *context, struct http_exchange *x);
    /* The head of a request is there: may answer at once, so that the body is not read. */
    void (*admit)(void *context, struct http_exchange *x);
    /* The whole request is there. */
    void (*serve)(void *context, struct http_exchange *x);
    void *context;
};

struct http_server;

/* Serves what connects to the sockets, which listen, and are the server's from here on, also where
 * this fails. The head of a request must be there within `head_ms`, its body within four times as
 * much, each in whole and not byte by byte; a slower connection is cut. When the
 * server stops, nothing that connects is served any more, and requests that run go on. Policy and
 * handler are copied, but for their texts and context. */
struct http_server *http_server_new(struct server *loop, const int *sockets, size_t count,
                                    const struct http_policy *policy, int head_ms,
                                    const struct http_handler *handler, struct error *e);

/* Cuts all connections. NULL is fine. */
void http_server_free(struct http_server *h);

#endif
