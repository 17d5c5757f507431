/* The rows of the table in provider.c, and the bodies of their model calls, whose text the caller
 * releases. */
#ifndef PROVIDER_DIALECTS_H
#define PROVIDER_DIALECTS_H

#include "base/json.h"
#include "provider/outgoing.h"
#include "provider/provider.h"

extern const struct provider provider_anthropic, provider_openai, provider_ollama;
extern const struct provider provider_offline; /* without a model: it quotes */

/* POST /v1/messages. Cache breakpoints stand on the system prompt, on the last message before the
 * newest one of the user, and on the last message: the next call reads everything up to there from
 * the cache. */
void anthropic_body(struct outgoing_body *out, const struct config *config,
                    const struct request *request);

/* POST /chat/completions. `vendor`: the API's own house, which wants max_completion_tokens where
 * others know max_tokens. */
void openai_body(struct outgoing_body *out, const struct config *config,
                 const struct request *request, bool vendor);

/* [{"type":"function","function":{…}}]; Ollama takes the same. */
struct json *openai_tools(const struct request *request);

/* POST /api/chat. options.num_ctx is [ollama] num_ctx, else the request's window, else
 * OLLAMA_DEFAULT_WINDOW: without it the server would take its own default and drop the front of a
 * longer prompt. */
enum { OLLAMA_DEFAULT_WINDOW = 8192 };
void ollama_body(struct outgoing_body *out, const struct config *config,
                 const struct request *request);

#endif
