/* What the parts of the agent share. */
#ifndef SERVE_ACP_PRIVATE_H
#define SERVE_ACP_PRIVATE_H

#include "rpc/peer.h"
#include "serve/acp.h"
#include "serve/acp_updates.h"
#include "serve/acp_words.h"
#include "session/operation_request.h"

struct acp_session;
struct wire;

struct acp {
    struct server *server;
    struct rpc_peer *peer;
    struct wire *wire;
    void (*closed)(void *context); /* acp_new()'s */
    void *context;
    struct acp_client client; /* as it said in initialize */
    bool initialized;
    VEC(struct acp_ask *) asks; /* that wait for the engine */
};

typedef void acp_method(struct acp *a, struct rpc_call *call, const struct json *params);

struct acp_ask;
typedef void acp_done(struct acp_ask *ask, const struct operation_answer *answer);

/* What the engine was asked, for a request of the client or to tell it something. */
struct acp_ask {
    struct acp *acp;
    struct rpc_call *call;       /* that waits for it; NULL: none does */
    struct acp_session *session; /* that it is about; NULL: none, or it is gone */
    acp_done *done;
    uint64_t id;
    int64_t number;              /* what `done` wants to know */
};

/* --- acp.c -------------------------------------------------------------------------------------
 */

/* Asks the engine for an operation; `done` is told once. Nothing of it is called any more when the
 * session is gone, but a call is failed. The ask is freed after `done`. */
struct acp_ask *acp_ask(struct acp *a, struct rpc_call *call, struct acp_session *s,
                        const struct operation *o, const void *params, acp_done *done);

/* As rpc_fail(), with the number of acp_words.h and the name of the code. */
void acp_fail(struct rpc_call *call, const struct error *e);
void acp_refuse(struct rpc_call *call, enum err_code code, const char *text);

/* Fails the call where the answer is an error. */
bool acp_failed(struct rpc_call *call, const struct operation_answer *answer);

#endif
