/* The summary of the messages that go, written by a model. They are sent to it as text, in parts
 * where they are longer than its window. */
#ifndef COMPACT_SUMMARY_H
#define COMPACT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chat/message.h"
#include "chat/usage.h"
#include "compact/mode.h"
#include "compact/plan.h"
#include "provider/provider.h"

/* The model that writes summaries. Strings are borrowed. */
struct summariser {
    const struct provider *provider;
    const char *model;
    const char *label;               /* "provider/model", for events and the breaker */
    const struct endpoint *endpoint; /* for the caller of the model */
    struct http *http;
    int64_t window;     /* 0 unknown */
    int64_t max_output; /* its own limit; 0 unknown */
    int64_t max_bytes;  /* of a request; 0 unknown */
    struct price price;
    const struct config *config; /* prices of models that answer in its place; NULL: unknown */
};

/* Carries out the effects. */
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

enum summary_result {
    SUMMARY_DONE,
    SUMMARY_EMPTY,
    SUMMARY_OVERFLOW,
    SUMMARY_FAILED,
    SUMMARY_CANCELLED
};

/* Sends the messages that go as text, then the mode's prompt, without tools. Where they do not fit
 * the model's window they are folded: the oldest part first, each summary joining the next part.
 * An answer that reached its limit is cut at its last sentence. OVERFLOW: the model (or we, before
 * a call) found that a request does not fit. `out` has the usage whatever the result; `failure` has
 * the reason unless it is DONE or EMPTY. */
enum summary_result summary_make(const struct summary_job *job, const struct summariser *s,
                                 const struct summary_host *host, struct summary *out,
                                 struct failure *failure);

/* ---- parts: messages of requests that fit a model's window; one part at a time is in memory ----
 */

/* Where a part begins: a message that goes, and the bytes of its text in the part before. */
struct summary_place {
    size_t message, byte;
};
struct summary_part {
    struct summary_place begin;
    int64_t tokens; /* of all its messages, at most */
};
struct summary_parts {
    VEC(struct summary_part) items;
};

/* The messages that go (tool calls and results as text, reasoning left out, images named) in parts
 * of at most `budget` tokens (message_estimate_tokens()); budget 0: one part. A message that is
 * longer than a part is split at grapheme borders; an empty one is left out. A message that is kept
 * elsewhere and fits into a part is not read, but counted by its estimate. */
void summary_parts_make(const struct compact_input *in, const struct compact_plan *p,
                        int64_t budget, struct summary_parts *out);

/* The messages of one part; `budget` is that the parts were made with. None where all are empty. */
struct summary_messages {
    VEC(struct message) items; /* owned */
};
void summary_part_read(const struct compact_input *in, const struct compact_plan *p, int64_t budget,
                       const struct summary_parts *parts, size_t index,
                       struct summary_messages *out);
void summary_messages_release(struct summary_messages *m);

/* Stands before the messages that stay, in the request for the last part. */
#define SUMMARY_STAYS "[This stays in the context, for orientation, do not repeat:]"

/* ---- texts: pure ---- */

/* The texts of these blocks as one, of at most `max` bytes, safe to show, without blanks at its
 * ends; with `cut_off` without the sentence or line that was broken off. NULL: nothing is left. The
 * caller frees. */
char *summary_text(const struct block *blocks, size_t count, size_t max, bool cut_off);

/* An empty user message's JSON, with room for large numbers. */
enum { SUMMARY_MESSAGE_BYTES = 160 };

/* Length of the text without the sentence or line that its end breaks off; all of it where that
 * would be more than half. */
size_t summary_text_sentences(const char *text, size_t len);

#endif
