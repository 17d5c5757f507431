/* The table of operations as calls by name, with JSON in and out: what every protocol offers. Rows
 * that read from or write to a stream have it as a text, the member "content" of what they take or
 * give. */
#ifndef SERVE_CONTRACT_H
#define SERVE_CONTRACT_H

#include "base/json.h"
#include "serve/server.h"

/* Of the contract, not of the program: major.minor, where the first changes when what was right is
 * not right any more. */
#define CONTRACT_VERSION "1.0"

/* One of both is NULL; borrowed for the call. The result is an object in one line. */
typedef void contract_done(void *context, const char *result_json, const struct error *e);

/* Calls the row of this name. `params` is an object or NULL, and borrowed for the call. False,
 * and `done` is not called: no such row, or parameters that do not fit (USAGE names the member).
 * Else `done` is called once, from the loop, unless contract_withdraw() gets the id. */
bool contract_start(struct server *s, const char *method, const struct json *params,
                    contract_done *done, void *context, uint64_t *id, struct error *e);

/* Nobody waits any more; what changes something is done all the same. */
void contract_withdraw(struct server *s, uint64_t id);

/* An answer as such an object; the caller frees. It was done (a->error is ERR_OK). */
char *contract_result(const struct operation_answer *a);

/* JSON Schema (draft 2020-12) of what a row takes and gives, each an object; the caller frees. */
struct json *contract_params_schema(const struct operation *o);
struct json *contract_result_schema(const struct operation *o);

#endif
