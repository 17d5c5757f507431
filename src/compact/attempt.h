/* What the parts of one attempt share: compact.c (the order of the effects), draft.c (what is to
 * stand for what goes), attempt_events.c (what is told). */
#ifndef COMPACT_ATTEMPT_H
#define COMPACT_ATTEMPT_H

#include "compact/compact.h"

struct attempt {
    const struct compact_job *job;
    const struct compact_host *host;
    struct compact_outcome *out;
    struct compact_input input;
    struct compact_plan plan; /* by `cut_by` */
    bool micro;               /* nothing but shortened tool results */
    bool not_worth;           /* it would free too little to begin by itself */
    const char *label;        /* of the model that is asked for summaries; NULL: none */
    const struct summariser *summariser;
    struct error no_summariser;
    int64_t tokens_before, last_seq, started_ms, waited_ms;
    int calls; /* of the model */

    /* The draft. */
    const struct compact_mode *cut_by;    /* how it was cut: the job's mode or its fallback */
    const struct compact_mode *effective; /* whose text it is */
    char *text;                           /* without the mode's prefix; NULL: none */
    char *why;                            /* `effective` is not the job's mode; NULL: it is */
    char *focus;                          /* what the user has said so far; NULL: nothing */
    bool changed;                         /* by the user */
    bool model_failed;                    /* the text is that of a fallback */
    bool lost;                            /* emit() failed */
};

/* draft.c */
/* Makes the draft anew; an earlier one is what the user wants changed. False: told as a failure. */
bool attempt_draft(struct attempt *a);
void attempt_rebuild(const struct attempt *a, struct rebuild *out); /* by the draft, or micro */

/* attempt_events.c */
/* The whole next request once the history is of so many tokens; 0: unknown. */
int64_t attempt_request_after(const struct attempt *a, int64_t history);
bool attempt_tell_started(struct attempt *a);
struct event *attempt_completed(const struct attempt *a, const struct rebuild *r);

/* The attempt ends as a failure with this reason of struct compaction; returns false. */
bool attempt_fail(struct attempt *a, const char *reason, enum err_code code, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
bool attempt_cancel(struct attempt *a);
bool attempt_goes_on(struct attempt *a); /* false: cancelled, and told */

#endif
