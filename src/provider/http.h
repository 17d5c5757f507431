/* HTTP over libcurl's multi interface: one request at a time, answerable while it runs, the
 * connection kept for the next one. Belongs to one thread. TLS is always verified; redirects are
 * not followed, so that a key never leaves for another host. */
/* The host that a URL names. */
#ifndef PROVIDER_HTTP_H
#define PROVIDER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/wakeup.h"
#include "config/config.h"
#include "provider/failure.h"

struct http;

struct http *http_new(void); /* cheap: libcurl starts with the first request */
void http_free(struct http *h);
AUTO_POINTER(http_free, struct http)

/* "name: value" each; owned. Secrets among them are wiped on release. */
struct http_headers {
    VEC(char *) list;
};
void http_headers_add(struct http_headers *h, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void http_headers_release(struct http_headers *h);

/* How servers are connected to. */
struct http_reach {
    const char *ca_file; /* NULL or "": the system's; not NULL: of [provider] */
    int64_t connect_timeout_ms;
};
struct http_reach http_reach_of(const struct config *config); /* as [provider] has it; borrowed */

struct http_request {
    const char *url;
    const struct http_headers *headers;
    const char *body; /* NULL: GET, else POST */
    size_t body_len;
    const char *method; /* instead of these two; NULL: none */
    const char *wanted; /* name of a header that reply->header gets; NULL: none */
    struct http_reach reach;
    /* Once connected, without a byte of a body either way or the end of the header. A server that
     * drips its header or trailers counts as silent; one that drips a body does not: see struct
     * wakeup's deadline. */
    int64_t stall_timeout_ms;

    /* Whether it may connect to this address; NULL: to any. A request with it uses no proxy, which
     * would connect in its place. False ends the request: the failure is filled in. */
    bool (*may_connect)(void *context, const struct sockaddr *address);

    /* Takes the body of a 2xx reply; without it the body goes to reply->body. False ends the
     * request: who refused has filled in the failure. */
    bool (*on_body)(void *context, const char *bytes, size_t len);

    /* Follows a read from the network whose bytes on_body got, maybe in several calls. False: all
     * that matters is here; the body then has a short while to end, so that the connection can be
     * kept. May be NULL. */
    bool (*on_read)(void *context);
    void *context;
};

struct http_reply {
    int status;             /* 0 before one came */
    char content_type[80];  /* lower case, without parameters; "" if absent */
    char *redirect;         /* the absolute URL of a 3xx reply; owned; NULL: none */
    char *header;           /* the value of the wanted one; owned; NULL: it did not come */
    int64_t retry_after_ms; /* -1 if absent */
    struct buf body;        /* what no sink took; at most PROVIDER_MAX_EVENT */
};
void http_reply_init(struct http_reply *r);
void http_reply_release(struct http_reply *r);

/* True when a whole reply came, whatever its status. Else `f` says why: CANCELLED (within 100 ms
 * of the wakeup, and of what a sink does with 16 KiB), CONNECT, STALL, TOO_LARGE, SETUP, PROTOCOL
 * for headers and trailers of more than 256 KiB or 1,000 lines together or a line past libcurl's
 * 100 KB, or what the sink put there. `wakeup` may be NULL. */
bool http_perform(struct http *h, const struct http_request *request, const struct wakeup *wakeup,
                  struct http_reply *reply, struct failure *f);

/* The next request uses a new connection: a reply that made no sense may go on in an open one. */
void http_distrust(struct http *h);

/* A client that asks this function instead of the network; it keeps the contract of http_perform():
 * for tests of what servers may answer. */
typedef bool http_answer_fn(void *context, const struct http_request *request,
                            struct http_reply *reply, struct failure *f);
struct http *http_new_answered(http_answer_fn *answer, void *context);

/* Milliseconds from a retry-after header: seconds or an HTTP date; -1 if neither. */
int64_t http_retry_after(const char *value, int64_t now_wall_ms);

/* Host without brackets and port of a URL with a scheme; `port` is "" when it names none. The
 * caller frees. */
char *host_of_url(const char *url, char port[6]);

/* "name:password" or "name" before the host's "@" in a URL, with its %XX resolved; NULL: none. A
 * secret, which the caller wipes. */
char *host_login_of_url(const char *url);

/* A part of a URL with its %XX resolved. The caller frees, and wipes what is secret. */
char *host_unescape(const char *start, size_t len);

/* Whether an address is one of the public internet: false for those of this machine, of private
 * networks and links, of groups, and reserved ones, also where they are wrapped in IPv6 (mapped,
 * NAT64); for all of 6to4 and Teredo, and for other families. */
bool address_is_public(const struct sockaddr *address);

/* "localhost", 127.0.0.0/8 or ::1, told by the text alone: nothing is looked up. */
bool host_is_loopback(const char *host);

#endif
