/* The body of POST /chat/completions. */
#ifndef PROVIDER_OPENAI_BODY_H
#define PROVIDER_OPENAI_BODY_H

#include "base/json.h"
#include "provider/provider.h"

/* `vendor`: the API's own house, which wants max_completion_tokens where others know max_tokens. */
struct json *openai_body(const struct config *config, const struct request *request, bool vendor);

/* [{"type":"function","function":{…}}]; Ollama takes the same. */
struct json *openai_tools(const struct request *request);

#endif
