/* What a client of JSON-RPC is made of. */
#ifndef SERVE_JSONRPC_PRIVATE_H
#define SERVE_JSONRPC_PRIVATE_H

#include "base/entropy.h"
#include "base/vec.h"
#include "rpc/peer.h"
#include "serve/jsonrpc.h"
#include "serve/subscriptions.h"
#include "serve/wire.h"

struct request; /* a call that is not answered yet */

/* Notifications that a slow reader was not told. */
struct dropped {
    char session[UUID_LEN + 1]; /* "": of none */
    int64_t count;
};

struct jsonrpc {
    struct server *server;
    struct rpc_peer *peer;
    struct subscriptions *subscriptions;
    struct wire *wire;
    void (*closed)(void *context);
    void *context;
    VEC(struct request *) requests;
    VEC(struct dropped) dropped;
    bool alone, initialized, input_ended;
};

/* Calls jsonrpc_methods[index]. */
void jsonrpc_call_method(struct jsonrpc *j, struct rpc_call *call, size_t index,
                         const struct json *params);

/* What sessions ask and nobody has answered is asked again: whom they asked may have gone. */
void jsonrpc_tell_questions(struct jsonrpc *j);

/* Answers the call once the session of this name is known, and subscribes it. */
void jsonrpc_subscribe(struct jsonrpc *j, struct rpc_call *call, const char *reference,
                       int64_t since);

#endif
