/* What a client answers when a tool wants something of it, which is foreign: as the engine is told
 * it. Pure; texts are borrowed of the JSON but where it says otherwise. */
#ifndef SERVE_ACP_ANSWER_H
#define SERVE_ACP_ANSWER_H

#include <stdbool.h>

#include "base/json.h"
#include "rpc/peer.h"
#include "session/conversation_operations.h"

/* To fs/read_text_file. False: it does not fit. */
bool acp_answer_text(const struct json *result, struct surface_answer_params *out);

/* To terminal/create: the id. NULL: it does not fit. */
const char *acp_answer_terminal(const struct json *result);

/* To terminal/wait_for_exit, and the member exitStatus of the next: what of it fits takes the place
 * of what is known. `signal` is owned. */
void acp_answer_exit(const struct json *exit, int64_t *status, char **signal);

/* To terminal/output: text and truncated. False: it does not fit. */
bool acp_answer_output(const struct json *result, struct surface_answer_params *out);

/* Why it was not done, for the model. `fault` NULL: the answer did not fit. The caller frees. */
char *acp_answer_refusal(const struct rpc_fault *fault, const char *method);

#endif
