/* What a server and its exchanges share. */
#ifndef SERVE_HTTP_PRIVATE_H
#define SERVE_HTTP_PRIVATE_H

#include "serve/http_exchange.h"
#include "serve/http_server.h"
#include "serve/libmicrohttpd.h"

#ifdef HAVE_LIBMICROHTTPD

/* One that is open. */
struct http_connection {
    int fd;
    size_t index;                   /* in the server's list */
    struct http_exchange *exchange; /* that it has now; NULL */
    int64_t read_by; /* clock_mono_ms() by which what is being read must be there; 0: nothing is */
};

struct http_server {
    struct server *loop;
    const struct libmicrohttpd *library;
    struct MHD_Daemon *daemon;
    struct http_policy policy;
    int head_ms;
    struct http_handler handler;
    VEC(struct http_listener *) listeners;
    VEC(struct http_connection *) connections;
    VEC(struct http_exchange *) exchanges;
    struct watch *events;
    int hangups; /* an epoll of connections that rest, which the library does not look at */
    struct watch *hung_up;
    struct timer *tick, *again;
    size_t most;   /* connections */
    size_t unread; /* bytes of replies that are not sent whole yet */
    bool full, stopping;
};

enum http_progress {
    HTTP_READING,  /* its head or body */
    HTTP_RUNNING,  /* it waits for its answer */
    HTTP_ANSWERED, /* … which is there, and not given to the library yet */
    HTTP_SENDING
};

struct http_exchange {
    struct http_server *server;
    size_t index; /* in the server's list */
    struct MHD_Connection *connection;
    char *raw_target;
    struct http_head head;
    struct http_target target;
    struct buf body;
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
    void *kept;
    void (*forget)(void *kept);
};

/* Nothing else tells the library that connections go on: with a loop of others it has no pipe. */
void http_server_run_soon(struct http_server *h);

struct http_exchange *http_exchange_new(struct http_server *h, struct MHD_Connection *connection,
                                        const char *raw_target);
void http_exchange_free(struct http_exchange *x);

/* The library leaves the connection alone until http_exchange_go_on(). */
void http_exchange_suspend(struct http_exchange *x);
void http_exchange_go_on(struct http_exchange *x); /* nothing where it is not suspended */

/* The connection is broken (`surely`), or its other end sends nothing more: a caller that still
 * waits for its answer may have closed that half alone. */
void http_exchange_hung_up(struct http_exchange *x, bool surely);

#endif

#endif
