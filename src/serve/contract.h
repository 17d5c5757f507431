/* The table of operations as calls with JSON in and out, which every protocol offers. A row that
 * reads from or writes to a stream has the text as the member "content" of its parameters or its
 * result. */
#ifndef SERVE_CONTRACT_H
#define SERVE_CONTRACT_H

#include "base/json.h"
#include "rpc/peer.h"
#include "serve/server.h"
#include "session/operation.h"

/* Version of the contract, not of the program: major.minor. The first number changes when a call
 * that was right becomes wrong. */
#define CONTRACT_VERSION "1.0"

/* Calls the row. `params` is an object or NULL, and borrowed for the call. False, and `done` is not
 * called: the row or a parameter is not this caller's (FORBIDDEN), or the parameters do not fit
 * (USAGE names the member). Else `done` is called once, from the loop, unless server_withdraw() or
 * server_cancel() gets the id. */
bool contract_start(struct server *s, enum authority caller, const struct operation *o,
                    const struct json *params, server_answered *done, void *context, uint64_t *id,
                    struct error *e);

/* The result of an answer without error, an object in one line; the caller frees. */
char *contract_result(const struct operation_answer *a);

/* The error of the answer, or of its result: a turn or a compaction keeps its input before it runs,
 * so that it may fail and have a result. NULL: it was done. */
const struct error *contract_fault(const struct operation_answer *a);

/* Answers a call of JSON-RPC; where a turn failed, its result is in the data of the error. */
void contract_answer(struct rpc_call *call, const struct operation_answer *a);

/* JSON Schema (draft 2020-12) of the parameters or the result of a row, an object; the caller
 * frees. */
struct json *contract_schema(const struct operation *o, bool of_result);

/* Whether the parameters (a struct of the row's shape, or NULL) are such a caller's to give: paths
 * as session/folders.h says, which are replaced by what they lead to; no key of the configuration
 * that a person alone sets; of a client no more tools than the server was started with, and no text
 * that is said to be typed. False with FORBIDDEN, or what is wrong with a path. */
bool authority_gives(const struct server *s, enum authority caller, const struct operation *o,
                     void *params, struct error *e);

#endif
