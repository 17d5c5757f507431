/* The messages that the next request would carry, as a fold over events: the same function builds
 * it while the session runs and when it is resumed. */
#ifndef CHAT_HISTORY_H
#define CHAT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/event.h"
#include "chat/message.h"

struct history {
    VEC(struct message) messages;
    int turns;            /* user messages that were sent and not taken back */
    int64_t estimate;     /* tokens, kept up to date */
    int64_t applied_seq;  /* of the last event */
    struct usage usage;   /* sum over all model calls of the session */
    int64_t last_input;   /* input tokens of the last response; -1 unknown */
    char *last_text;      /* text of the newest run_started, also of one that was taken back */
    char *last_attachments; /* of that run_started; NULL: none */
    int64_t last_run_seq;   /* its number; 0 before the first */
    size_t unsaved;       /* messages from here on are not as the last snapshot has them */
    /* While a run is open: */
    bool running;
    int64_t run_seq;  /* its run_started */
    size_t run_first; /* index of its user message */
    int64_t call_seq; /* its newest turn_started; 0 before the first */
};

void history_init(struct history *h);
void history_release(struct history *h);

/* Rules:
 * - run_started appends the user message; with a retry, everything from the retried run's user
 *   message on is dropped first.
 * - text_complete, reasoning_complete and tool_call_requested append to the assistant message of
 *   the current model call, which begins with the first of them; tool_execution_completed to the
 *   tool message that follows it. Deltas change nothing, nor do empty texts and results without an
 *   open call.
 * - A tool call that is open when its model call ends (turn_started, run_completed) is answered
 *   with an error result.
 * - run_completed closes the run. interrupted closes it, marks the answer partial, answers every
 *   open tool call with an error result, and drops an assistant message that has neither text nor
 *   tool call (no provider takes one back).
 * - run_failed does the same if the run got any answer, and takes the user message back otherwise.
 * - run_started while a run is open: the program died in it. That run is taken back first (which is
 *   what a retry of it wants, too).
 * - An event whose seq is not above applied_seq is passed over. */
void history_apply(struct history *h, const struct event *ev);

/* A run that is still open after the last event was cut off by a crash: take it back. Returns
 * whether there was one. */
bool history_drop_open_run(struct history *h);

/* Index of the first message of turn `turn` (from 1), or messages.len. */
size_t history_turn_start(const struct history *h, int turn);

/* The snapshot's text but for the messages: a JSON object with "messages" (how many), "estimate",
 * "last_input" and what else a history knows. The caller frees. */
char *history_counters(const struct history *h);

/* A history of those counters and these messages, all of them saved. The array (of a VEC) is taken,
 * also on failure: they do not fit together, and `out` is then empty. */
bool history_restore(const char *counters, size_t len, struct message *messages, size_t count,
                     struct history *out, struct error *e);

#endif
