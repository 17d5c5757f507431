/* Why a model call failed, in terms that the retry decision and the user need, and the errors of
 * servers in these terms, whichever API they speak:
 *   anthropic  {"type":"error","error":{"type","message"}}
 *   openai     {"error":{"message","type","code"}}, also llama.cpp, vLLM, OpenRouter
 *   ollama     {"error":"message"} */
#ifndef PROVIDER_FAILURE_H
#define PROVIDER_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "provider/mask.h"

enum failure_kind {
    FAILURE_NONE,
    FAILURE_CANCELLED,
    FAILURE_CONNECT,   /* no connection, or lost before the first content */
    FAILURE_STALL,     /* stall_timeout without a byte */
    FAILURE_STATUS,    /* an HTTP status that is not 2xx */
    FAILURE_STREAM,    /* an error event inside a stream */
    FAILURE_CUT,       /* the stream ended before its end was said */
    FAILURE_PROTOCOL,  /* not what this API speaks: content type, JSON, empty body */
    FAILURE_TOO_LARGE, /* a line or event past the maximum */
    FAILURE_OVERFLOW,  /* the request does not fit the model's window, or has too many bytes */
    FAILURE_QUOTA,     /* credit or quota used up: never retried */
    FAILURE_LOADING,   /* the server is still loading the model: wait, and say so */
    FAILURE_SETUP      /* no key, no model, a bad URL: nothing was sent */
};

struct failure {
    enum failure_kind kind;
    int status;             /* HTTP; 0 if none. Anthropic's overloaded_error in a stream is 529 */
    bool content_seen;      /* the user has seen part of the answer: never retried silently */
    int64_t retry_after_ms; /* -1: the server did not say */
    int64_t prompt_tokens;  /* OVERFLOW, where the server says: else -1 */
    int64_t window;
    int64_t body_bytes; /* OVERFLOW in bytes: of the body that was refused; else -1 */
    char text[256];     /* for a person; holds no secret */
};

void failure_clear(struct failure *f);

/* Fills in kind and text; returns false, so that `return failure_set(…)` reads well. */
bool failure_set(struct failure *f, enum failure_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* AGENT_ERROR with the failure's text and, unless that says already what to do, advice after "; ".
 * Returns false. */
bool failure_error(const struct failure *f, struct error *e);

/* The retry decision (spec: providers, Retry), a pure function.
 * `attempt` counts from 1; `unit` is random in [0, 1) and gives ±10 %.
 * Returns the wait in ms before the next attempt, or -1 when there is none. */
int64_t failure_retry_wait(const struct failure *f, int attempt, int max_retries, double unit);

/* The number of retries that failure_retry_wait() grants for this failure, to show "attempt 2 of
 * 3": a model that is loading gets more than the configured max_retries, unless that is 0. */
int failure_retry_limit(const struct failure *f, int max_retries);

/* The server that complains, and the secrets that are masked in its texts, of which the first 4 KiB
 * each are read. */
struct error_origin {
    const char *name;
    const struct mask *mask;
    int64_t body_bytes; /* of the request; 0: it has no body that could be made shorter */
};

/* An HTTP status that is not 2xx, with its body. Sets kind, status, text and, for OVERFLOW, the
 * token counts or, where it has too many bytes (status 413, request_too_large), those; leaves
 * retry_after_ms and content_seen. Returns false. */
bool server_error_status(const struct error_origin *server, int status, const char *body,
                         size_t len, struct failure *f);

/* An error inside a stream that began with 200; `event` has a member "error". The same otherwise:
 * the status is the one that the error's type or code stands for, 0 if none. */
bool server_error_event(const struct error_origin *server, const struct json *event,
                        struct failure *f);

#endif
