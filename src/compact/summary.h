/* The summary of the messages that go, by a model: the conversation as text that any model takes,
 * folded where it is longer than that model's window. */
#ifndef COMPACT_SUMMARY_H
#define COMPACT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/usage.h"
#include "compact/mode.h"
#include "provider/provider.h"

/* The model that writes summaries. Borrowed strings. */
struct summariser {
    const struct provider *provider;
    const char *model;
    const char *label;               /* "provider/model", for events and the breaker */
    const struct endpoint *endpoint; /* where it is reached, for who makes the call */
    struct http *http;
    int64_t window;     /* 0 unknown */
    int64_t max_output; /* its own limit; 0 unknown */
    int64_t max_bytes;  /* of a request; 0 unknown */
    struct price price;
    const struct config *config; /* what others cost that may answer in its place; NULL: unknown */
};

/* What the effects are done with. */
struct summary_host {
    /* One model call with its retries. Fills response and failure as provider->complete() does;
     * text that streams in goes to delta. */
    bool (*complete)(void *context, const struct summariser *s, const struct request *request,
                     bool (*delta)(void *delta_context, const char *text, size_t len),
                     void *delta_context, struct response *response, struct failure *failure);
    /* A piece of the summary of part `part` of `of` (both 0: it is not folded), cleaned. False:
     * stop. */
    bool (*progress)(void *context, const char *text, size_t len, int part, int of);
    /* Whether another call may be made: false ends it as a failure with the reason. */
    bool (*may_call)(void *context, struct failure *failure);
    bool (*go_on)(void *context); /* false: cancelled. NULL: it never is */
    void *context;
};

struct summary_job {
    const struct compact_mode *mode;
    const struct compact_input *input;
    const struct compact_plan *plan;
    const char *system; /* the session's system prompt; NULL: none */
    const char *focus;  /* what the user wants it to keep; NULL: nothing said */
    const char *draft;  /* an earlier draft that the user wants changed; NULL: none */
    bool sectionless;   /* a first answer had too few sections */
    int64_t max_tokens; /* of the summary */
};

struct summary {
    char *text; /* safe to show, at most 8 bytes a token, no blanks at its ends; NULL on failure */
    struct usage usage;
    double cost; /* USD of the calls whose cost is known; negative: of none is it */
    int calls;
};
void summary_release(struct summary *s);

enum summary_result {
    SUMMARY_DONE,
    SUMMARY_EMPTY,
    SUMMARY_OVERFLOW,
    SUMMARY_FAILED,
    SUMMARY_CANCELLED
};

/* The messages that go are sent as text and the mode's prompt after them, without tools. What does
 * not fit the window of the model is folded, oldest part first, each summary joining the next part.
 * An answer that reached its limit is cut at its last sentence. OVERFLOW: the model (or we, before
 * a call) found that a request does not fit. What was used is in `out` whatever the result; but for
 * DONE and EMPTY `failure` says why. */
enum summary_result summary_make(const struct summary_job *job, const struct summariser *s,
                                 const struct summary_host *host, struct summary *out,
                                 struct failure *failure);

#endif
