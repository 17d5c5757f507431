/* One side of a JSON-RPC 2.0 connection: it answers requests, asks, and tells, in one line a
 * message. Pure: no descriptor, no thread, no clock; the owner moves the bytes. Bounded in
 * everything that the other side decides. */
#ifndef RPC_PEER_H
#define RPC_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

#define RPC_MESSAGE_MAX ((size_t)32 * 1024 * 1024)
/* Output that waits: notifications are dropped and input is left unread past the first, answers
 * become an error past the second. */
#define RPC_OUTPUT_MAX ((size_t)8 * 1024 * 1024)
#define RPC_ANSWERS_MAX (2 * RPC_MESSAGE_MAX)
enum {
    RPC_CALLS_MAX = 1024, /* requests that wait for their answer, either way */
    RPC_ID_MAX = 1024     /* bytes of an id */
};

/* Error codes of the specification. */
enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603
};

struct rpc_peer;

/* A request of the other side that waits for its answer; the peer's. */
struct rpc_call {
    struct rpc_peer *peer;
    struct rpc_batch *batch; /* it came in an array with others; NULL: it did not */
    char *id;                /* JSON */
    void *kept;              /* of the surface; NULL at first */
};

/* Functions may answer, ask and tell, but not free the peer. NULL: requests have no method, the
 * others are passed over. `params` is an object, an array or NULL, and borrowed for the call. */
struct rpc_handlers {
    /* To be answered once, now or later. */
    void (*request)(void *context, struct rpc_call *call, const char *method,
                    const struct json *params);
    void (*notification)(void *context, const char *method, const struct json *params);
    /* $/cancel_request {requestId} (or {id}) or notifications/cancelled {requestId}: it is still to
     * be answered, or dropped. notifications/cancelled of a call that does not wait here is told as
     * others. */
    void (*cancelled)(void *context, struct rpc_call *call);
    bool cancels_as_mcp; /* rpc_withdraw() says notifications/cancelled, not $/cancel_request */
};

/* `handlers` and `context` are borrowed, and outlive the peer. */
struct rpc_peer *rpc_peer_new(const struct rpc_handlers *handlers, void *context);

/* Its open questions fail; its calls are gone. NULL is fine. */
void rpc_peer_free(struct rpc_peer *p);

/* Takes bytes of the stream, however they are split. False: a message is too long; hang up once the
 * output is written. A line that is no JSON or no message is answered by an error, and passed over.
 */
bool rpc_peer_feed(struct rpc_peer *p, const char *bytes, size_t len, struct error *e);

/* A message (or an array of them) that comes whole, as the body of a request: in it line breaks may
 * stand. Not between the pieces of a stream. */
bool rpc_peer_take(struct rpc_peer *p, const char *text, size_t len, struct error *e);

/* Calls that are not answered yet. */
size_t rpc_peer_calls(const struct rpc_peer *p);

/* --- answers: the call is gone then. Texts of JSON have no line break ------------------------- */

void rpc_answer(struct rpc_call *call, const char *result_json);
void rpc_fail(struct rpc_call *call, int code, const char *message, const char *data_json);
/* With the number of base/err.h and its name: data {"code":"SESSION_BUSY"}. */
void rpc_fail_with(struct rpc_call *call, const struct error *e);

/* The call gets no answer: it was cancelled, in a protocol in which such a call has none. */
void rpc_drop(struct rpc_call *call);

/* --- the other way ---------------------------------------------------------------------------- */

/* `params_json` NULL: none. False: the reader is slow, and it was dropped. */
bool rpc_notify(struct rpc_peer *p, const char *method, const char *params_json);

struct rpc_fault {
    int code;
    const char *message;     /* foreign; "" where it lacks */
    const struct json *data; /* NULL: none */
};

/* Either `result` or `fault` is NULL; both are borrowed for the call. */
typedef void rpc_answered(void *context, const struct json *result, const struct rpc_fault *fault);

/* The id of the request; 0: too much waits already, and nothing was asked. `answered` NULL: nobody
 * wants the answer. */
int64_t rpc_ask(struct rpc_peer *p, const char *method, const char *params_json,
                rpc_answered *answered, void *context);

/* Nobody waits for the answer any more; the other side is told. */
void rpc_withdraw(struct rpc_peer *p, int64_t id);

/* --- bytes to write --------------------------------------------------------------------------- */

const char *rpc_peer_output(const struct rpc_peer *p, size_t *len);
void rpc_peer_wrote(struct rpc_peer *p, size_t len);

#endif
