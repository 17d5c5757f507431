/* The body of POST /api/chat. */
#ifndef PROVIDER_OLLAMA_BODY_H
#define PROVIDER_OLLAMA_BODY_H

#include "base/json.h"
#include "provider/provider.h"

enum { OLLAMA_DEFAULT_WINDOW = 8192 };

/* options.num_ctx is [ollama] num_ctx, else the request's window, else OLLAMA_DEFAULT_WINDOW:
 * without it the server would take its own default and drop the front of a longer prompt. */
struct json *ollama_body(const struct config *config, const struct request *request);

#endif
