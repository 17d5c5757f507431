/* The body of POST /v1/messages. */
#ifndef PROVIDER_ANTHROPIC_BODY_H
#define PROVIDER_ANTHROPIC_BODY_H

#include "base/json.h"
#include "provider/provider.h"

/* Cache breakpoints stand on the system prompt, on the last message before the newest one of the
 * user, and on the last message: the next call reads everything up to there from the cache. */
struct json *anthropic_body(const struct config *config, const struct request *request);

#endif
