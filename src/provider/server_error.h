/* What a server's error means, whichever API it speaks:
 *   anthropic  {"type":"error","error":{"type","message"}}
 *   openai     {"error":{"message","type","code"}}, also llama.cpp, vLLM, OpenRouter
 *   ollama     {"error":"message"} */
#ifndef PROVIDER_SERVER_ERROR_H
#define PROVIDER_SERVER_ERROR_H

#include <stddef.h>

#include "base/json.h"
#include "provider/failure.h"
#include "provider/mask.h"

/* Who complains, and what is kept out of the text, should the server echo it. Of each text that it
 * sent, the first 4 KiB are read. */
struct server {
    const char *name;
    const struct mask *mask;
    int64_t body_bytes; /* of the request; 0: it has no body that could be made shorter */
};

/* An HTTP status that is not 2xx, with its body. Sets kind, status, text and, for OVERFLOW, the
 * token counts or, where it has too many bytes (status 413, request_too_large), those; leaves retry_after_ms and content_seen. Returns false. */
bool server_error_status(const struct server *server, int status, const char *body, size_t len,
                         struct failure *f);

/* An error inside a stream that began with 200; `event` has a member "error". The same otherwise:
 * the status is the one that the error's type or code stands for, 0 if none. */
bool server_error_event(const struct server *server, const struct json *event, struct failure *f);

#endif
