/* A request and its reply. The request is whole and checked when it is handed over; it is answered
 * once, now or later, from the server's thread. Once who asked has hung up, the exchange is gone.
 */
#ifndef SERVE_HTTP_EXCHANGE_H
#define SERVE_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "serve/http_checks.h"
#include "serve/http_target.h"

struct http_exchange;

const struct http_head *http_exchange_head(const struct http_exchange *x);
const struct http_target *http_exchange_target(const struct http_exchange *x);
const struct buf *http_exchange_body(const struct http_exchange *x);

/* What the one who answers notes of it. `forget` (or NULL) is called with it when the exchange
 * ends, answered or not; no function may be called with the exchange from then on. */
void http_exchange_keep(struct http_exchange *x, void *mine, void (*forget)(void *mine));
void *http_exchange_kept(const struct http_exchange *x);

/* --- answers: one of them, once -----------------------------------------------------------------
 */

/* A field of the reply's head, before the answer. */
void http_exchange_add_field(struct http_exchange *x, const char *name, const char *value);

/* `body` is copied. */
void http_exchange_reply(struct http_exchange *x, int status, const char *type, const char *body,
                         size_t len);

/* {"code","message"}: with the status and the name of the error's code; with one of HTTP's own
 * (http_status_name()). */
void http_exchange_fail(struct http_exchange *x, const struct error *e);
void http_exchange_refuse(struct http_exchange *x, int status, const char *message);

/* An event stream, which begins with a comment. */
struct http_source {
    /* Bytes written to `to`; 0: none now, and http_exchange_wake() will say when; -1: the end. */
    long (*read)(void *context, char *to, size_t size);
    /* The reader sends nothing more, and may have gone: only what is written to it will tell. NULL:
     * the stream ends then. */
    void (*probe)(void *context);
    void *context;
};
void http_exchange_stream(struct http_exchange *x, const struct http_source *source);
void http_exchange_wake(struct http_exchange *x);

#endif
