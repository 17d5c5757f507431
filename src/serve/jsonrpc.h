/* The table of operations as JSON-RPC 2.0 on a pair of descriptors, one message a line: a client of
 * `tiro serve --stdio` or of its socket. */
#ifndef SERVE_JSONRPC_H
#define SERVE_JSONRPC_H

#include "base/shape.h"
#include "serve/server.h"

struct jsonrpc;
struct rpc_call;

/* Methods that are no operations. */
struct jsonrpc_method {
    const char *name, *summary; /* NULL past the last */
    const struct shape *params;
    struct json *(*result)(void); /* its JSON Schema; the caller frees */
    /* Answers the call; `params` is a struct of the shape. */
    void (*run)(struct jsonrpc *j, struct rpc_call *call, const void *params);
};
extern const struct jsonrpc_method jsonrpc_methods[];

enum { JSONRPC_CANCELLED = -32800 }; /* the error of a cancelled request */

/* `alone`: nobody else can come to answer what a turn asks, so that one which asks after the end of
 * input is interrupted. `in` and `out` may be the same; they stay the caller's. `closed` is called
 * once, from the loop: nobody reads any more, or all that was asked until the end of input is
 * answered and written. The caller frees it then. */
struct jsonrpc *jsonrpc_new(struct server *s, int in, int out, bool alone,
                            void (*closed)(void *context), void *context);

/* Answers that are on their way are lost; what was begun goes on. NULL is fine. */
void jsonrpc_free(struct jsonrpc *j);

#endif
