/* The body of POST /api/chat. */
#ifndef PROVIDER_OLLAMA_BODY_H
#define PROVIDER_OLLAMA_BODY_H

#include "base/json.h"
#include "provider/provider.h"

/* options.num_ctx is [ollama] num_ctx or else the request's window: without it the server would
 * take its own default and drop the front of a longer prompt. */
struct json *ollama_body(const struct config *config, const struct request *request);

#endif
