/* A scripted model server on 127.0.0.1 (libmicrohttpd, in the test process). It plays all three
 * HTTP providers by path: /v1/messages (anthropic), /v1/chat/completions (openai), /api/chat
 * (ollama), and their listings (/v1/models, /v1/models/ID, /api/tags, /api/ps, /api/show, /props).
 * /v1/embeddings and /api/embed answer with a bag of the words of each input in 32 buckets, unless
 * a reply is queued that says another dimension or a fault. A test queues replies; each model
 * request takes the next. An empty queue answers with the default reply "Hello from the scripted
 * model.". */
#ifndef TESTS_MODEL_SERVER_H
#define TESTS_MODEL_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct model_server;

enum reply_fault {
    REPLY_OK,
    REPLY_STATUS,         /* status and error body in the provider's form, optional retry_after */
    REPLY_ERROR_EVENT,    /* 200, `text` streamed, then an error event */
    REPLY_DISCONNECT,     /* `text` streamed, then the connection is dropped */
    REPLY_STALL,          /* `text` streamed, then silence until model_server_release() */
    REPLY_MALFORMED_JSON, /* 200, then an event that is no JSON */
    REPLY_HUGE_LINE,      /* a line of 17 MiB */
    REPLY_BROKEN_ARGS,    /* a tool call whose arguments are cut-off JSON */
    REPLY_WRONG_TYPE,     /* 200 text/html */
    REPLY_EMPTY           /* 200, the right type, no body */
};

struct reply {
    enum reply_fault fault;
    const char *text;      /* answer; NULL: none. Copied */
    const char *reasoning; /* NULL: none */
    const char *tool_name; /* NULL: no call */
    const char *tool_args; /* JSON object text */
    const char *tool_id;   /* NULL: "call_1" (ollama: none) */
    const char *raw; /* if not NULL, this body, verbatim, in place of text, reasoning and call */
    int status;      /* REPLY_STATUS */
    const char *error_type, *error_message; /* for REPLY_STATUS and REPLY_ERROR_EVENT */
    const char *retry_after;
    size_t piece;     /* bytes of text in one delta; 0: 24 */
    int interval_ms;  /* between deltas; 0: no delay */
    bool split_bytes; /* each byte of the body in a write of its own */
    bool hold;        /* sends no byte, not even a status line, before the release */
    /* input_tokens includes cached tokens; 0, 0: 12, and one per word of the answer. */
    long input_tokens, output_tokens, cached_tokens;
    bool no_usage;
    int dimension; /* of embeddings; 0: 32 */
};

/* Starts on a free port. Ends the test program with a message on failure. */
struct model_server *model_server_start(void);
void model_server_stop(struct model_server *s);

/* "http://127.0.0.1:PORT" (append /v1 for OPENAI_BASE_URL). Borrowed. */
const char *model_server_url(const struct model_server *s);

void model_server_queue(struct model_server *s, const struct reply *r);
#define QUEUE(s, ...) model_server_queue(s, &(struct reply){__VA_ARGS__})

/* Replaces the default reply; NULL restores it. */
void model_server_set_default(struct model_server *s, const struct reply *r);

/* Replaces queue and default: `respond` fills in a zeroed reply for each request; its strings are
 * copied. The server's threads call it, one at a time. Requests are then counted but not kept, so
 * that a long run takes no memory. NULL restores queue and default. */
void model_server_set_responder(struct model_server *s,
                                void (*respond)(void *context, const char *body, size_t len,
                                                struct reply *r),
                                void *context);

/* The reply to requests for the title of a session. NULL, as at first: they are refused, and are
 * neither counted nor take a reply, so that other tests need not expect them. */
void model_server_set_title(struct model_server *s, const struct reply *r);

/* Lets all replies that have begun and stall or are held run to their ordinary end. A later request
 * stalls anew. */
void model_server_release(struct model_server *s);

/* Windows and models in the listings; 0 / NULL: left out. Model names end with NULL. */
void model_server_set_window(struct model_server *s, long tokens);
void model_server_set_models(struct model_server *s, const char *const *names);

/* The number of requests to the model paths so far, and the body or header of one (NULL if absent
 * or not kept). Borrowed until the server stops. */
size_t model_server_requests(struct model_server *s);
const char *model_server_body(struct model_server *s, size_t index);
const char *model_server_header(struct model_server *s, size_t index, const char *name);

/* Waits until this number of model requests has begun. Returns false after timeout_ms. */
bool model_server_wait(struct model_server *s, size_t requests, int timeout_ms);

#endif
