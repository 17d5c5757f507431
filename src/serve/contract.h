/* The table of operations as calls by name, with JSON in and out: what every protocol offers. Rows
 * that read from or write to a stream have it as a text, the member "content" of what they take or
 * give. */
#ifndef SERVE_CONTRACT_H
#define SERVE_CONTRACT_H

#include "base/json.h"
#include "rpc/peer.h"
#include "serve/server.h"
#include "session/operation.h"

/* Of the contract, not of the program: major.minor, where the first changes when what was right is
 * not right any more. */
#define CONTRACT_VERSION "1.0"

/* One of both is NULL; borrowed for the call. The result is an object in one line. */
typedef void contract_done(void *context, const char *result_json, const struct error *e);

/* Calls the row of this name. `params` is an object or NULL, and borrowed for the call. False,
 * and `done` is not called: no such row, a row or parameters that are not this caller's
 * (FORBIDDEN), or parameters that do not fit (USAGE names the member). Else `done` is called once,
 * from the loop, unless contract_withdraw() gets the id. */
bool contract_start(struct server *s, enum authority caller, const char *method,
                    const struct json *params, contract_done *done, void *context, uint64_t *id,
                    struct error *e);

/* Nobody waits any more; what changes something is done all the same. */
void contract_withdraw(struct server *s, uint64_t id);

/* Turns, and compactions by hand: what they were asked is kept before they run, so that they may
 * fail and have a result. */
bool contract_runs(const char *method);

/* How such a one failed. */
struct contract_fault {
    const struct err_info *info;
    char *message;
};
/* Of its result, which has the fault; false: it did not fail. The caller frees the message. */
bool contract_read_fault(const char *result_json, struct contract_fault *out);

/* Answers a call of JSON-RPC with what `done` got; what came of a run that failed is in the data of
 * the error. */
void contract_answer(struct rpc_call *call, const char *method, const char *result_json,
                     const struct error *e);

/* contract_withdraw() for what nobody wants done any more: whether it was not begun, and will not
 * be. */
bool contract_cancel(struct server *s, uint64_t id);

/* An answer as such an object; the caller frees. It was done (a->error is ERR_OK). */
char *contract_result(const struct operation_answer *a);

/* JSON Schema (draft 2020-12) of what a row takes and gives, each an object; the caller frees. */
struct json *contract_params_schema(const struct operation *o);
struct json *contract_result_schema(const struct operation *o);

/* What callers of a protocol may ask for. Every protocol that lets its caller name a row asks here
 * first. */

/* False with FORBIDDEN: the row is for a caller with more. */
bool authority_calls(enum authority caller, const struct operation *o, struct error *e);

/* Whether the parameters (a struct of the row's shape, or NULL) are such a caller's to give: paths
 * as session/folders.h says, which are replaced by what they lead to; no key of the configuration
 * that a person alone sets; of a client no more tools than the server was started with, and no text
 * that is said to be typed. False with FORBIDDEN, or what is wrong with a path. */
bool authority_gives(const struct server *s, enum authority caller, const struct operation *o,
                     void *params, struct error *e);

/* Operations on a thread of their own with their own connection: those with a stream, which an
 * engine's desks have not, and others that these cannot do. The texts are held in memory, and
 * bounded. */

/* Of what is given and taken; a message that holds it may be longer by what JSON escapes. */
#define TRANSFER_MAX ((size_t)32 * 1024 * 1024)

struct transfers;
struct transfers *transfers_new(struct server *s, const struct engine_options *options);
/* What runs is stopped unless it changes something; nobody is answered. NULL is fine. */
void transfers_free(struct transfers *t);

/* `result` is a struct of the row's shape or NULL, `text` what was written; all borrowed. Where `e`
 * is not NULL the row failed, and both are NULL. */
typedef void transfer_done(void *context, const void *result, const char *text,
                           const struct error *e);

/* Copies `params` and `text` (what is read; NULL: nothing). `done` is called once, from the loop.
 * Returns an id to withdraw it by, or 0 with AGENT_ERROR: too many wait. */
uint64_t transfers_start(struct transfers *t, const struct operation *o, const void *params,
                         const char *text, transfer_done *done, void *context, struct error *e);

/* Returns the context that it was started with; NULL: there is none of this id. */
void *transfers_withdraw(struct transfers *t, uint64_t id);

#endif
