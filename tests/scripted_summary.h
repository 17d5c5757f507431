/* A model that writes scripted summaries, and conversations to summarise. */
#ifndef TESTS_SCRIPTED_SUMMARY_H
#define TESTS_SCRIPTED_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "chat/history.h"
#include "compact/summary.h"

/* One model call. A failure kind other than NONE fails it after `text` has streamed. */
struct summary_act {
    const char *text; /* NULL: no text block */
    size_t times;     /* repetitions; 0: one */
    size_t piece;     /* bytes of a delta; 0: all at once */
    enum stop_reason stop;
    enum failure_kind failure;
    const char *why;
    bool truncated;
    int64_t input, output; /* tokens; 0, 0: 100 and 10 */
};

/* A request as it was sent. */
struct sent_summary {
    VEC(struct message) messages;
    char *system; /* NULL: none */
    int64_t max_output, window, estimate;
    size_t tools;
};

struct scripted_summary {
    const struct summary_act *acts; /* past the end: "A summary." */
    size_t act_count;
    VEC(struct sent_summary) sent;
    size_t deltas, stop_at; /* progress() returns false at this delta, from 1; 0: never */
    size_t calls_allowed;   /* calls that may_call() allows; SIZE_MAX: any number */
    struct buf streamed;    /* the text that progress() got */
    int last_part, last_of;
    bool *cancelled; /* set at stop_at; NULL: nothing */
    bool goes_on;    /* progress() returns true all the same */
};

void scripted_summary_init(struct scripted_summary *s, const struct summary_act *acts,
                           size_t count);
void scripted_summary_release(struct scripted_summary *s);

/* The script as functions of a summariser; the caller sets the context, and each function finds its
 * script by it. */
bool scripted_complete(struct scripted_summary *s, const struct request *request,
                       bool (*delta)(void *, const char *, size_t), void *delta_context,
                       struct response *response, struct failure *failure);
bool scripted_progress(struct scripted_summary *s, const char *text, size_t len, int part, int of);
bool scripted_may_call(struct scripted_summary *s, struct failure *failure);

/* The text of a message that was sent; a negative `index` counts from the end. Borrowed. */
const char *sent_text(const struct sent_summary *sent, int index);

/* A turn of a conversation, made of events. `tool` NULL: none. */
struct said {
    const char *user, *tool, *args, *result, *answer;
};
void history_say(struct history *h, const struct said *said);
void history_begin(struct history *h, const char *user); /* a turn that stays open */

#endif
