/* How large the next request is: the one figure of the gauge, of the cards of compactions and of
 * the context view. What the provider counted is the base; what came since is estimated. Pure. */
#ifndef CHAT_REQUEST_SIZE_H
#define CHAT_REQUEST_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shape.h"
#include "chat/usage.h"

/* The last request together with its answer, as the provider counted them. After a compaction what
 * is left of that. */
struct request_measure {
    int64_t tokens;  /* -1: none, or of another history */
    int64_t history; /* what the history was estimated at then */
    bool estimated;
};

#define REQUEST_UNMEASURED ((struct request_measure){.tokens = -1})

/* Of a response, behind which the history is estimated at so many tokens. One whose input was not
 * counted measures nothing. */
struct request_measure request_measured(const struct usage *u, int64_t history);

/* Absent members: nothing is measured. */
extern const struct shape request_measure_shape;

struct request_size {
    int64_t tokens;
    bool estimated;
};

/* `history` is its estimate now, `overhead` that of all else that is sent: system prompt, skills,
 * tools. `last_input` (-1: unknown) is the least where nothing else was measured. */
struct request_size request_size(const struct request_measure *m, int64_t history, int64_t overhead,
                                 int64_t last_input);

/* What `tokens` become when what was estimated at `before` is estimated at `after`: our estimate
 * errs alike in both. */
int64_t request_resized(int64_t tokens, int64_t before, int64_t after);

#endif
