/* One compaction: shorter tool results, else the chosen mode or its fallback; then review and
 * commit. policy.h and plan.h decide; this is the order of the effects. A failure is never fatal:
 * it is a compaction_failed event, and the history stays as it was. */
#ifndef COMPACT_COMPACT_H
#define COMPACT_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "chat/event.h"
#include "chat/history.h"
#include "compact/policy.h"
#include "compact/summary.h"

/* A draft summary before the user. */
struct draft {
    const char *text, *mode, *model;     /* mode: effective; model: NULL where none was asked */
    int64_t tokens_before, tokens_after; /* of the whole request, else of the history */
    int messages_before, messages_after;
};

/* The user's answer. `text`, which the receiver owns: for COMMIT the changed summary, NULL if it is
 * unchanged; for AGAIN the focus. */
struct draft_verdict {
    enum draft_answer answer;
    char *text;
};

/* Why a commit did not happen. */
enum commit_result { COMMIT_DONE, COMMIT_REFUSED_BY_MEMORY, COMMIT_FAILED };

struct compact_host {
    /* Its context is passed to all functions below; progress() sends the compaction_delta events;
     * it has a go_on(). */
    struct summary_host summary;

    /* Takes the event. False: the log cannot be written; no more events are sent. */
    bool (*emit)(void *context, struct event *ev, struct error *e);

    /* Index, history, log and snapshot in one transaction (memory.md, Commit). Takes the event only
     * on COMMIT_DONE; otherwise nothing has changed and it is still the caller's. */
    enum commit_result (*commit)(void *context, struct event *completed, struct error *e);

    /* Asked before a mode is applied, but not before tool results alone are shortened. False with
     * the reason: NOT_WORTH for FORBIDDEN, else CANCELLED. NULL: nobody refuses. */
    bool (*admit)(void *context, struct error *e);

    /* Waits for the user. NULL: nobody can be asked, and drafts are committed as they are. */
    struct draft_verdict (*review)(void *context, const struct draft *draft);

    /* The model for summaries, found when it is first needed. NULL with the reason: there is none.
     */
    const struct summariser *(*summariser)(void *context, struct error *e);

    /* The whole text that a tool gave for the call `id`; a compaction has shortened it in message
     * `seq`. NULL: not known. The caller frees. The function may be NULL. */
    char *(*tool_result)(void *context, int64_t seq, const char *id);
};

struct compact_job {
    const struct history *history;
    const struct compact_settings *settings;
    struct compact_limits limits;
    const struct compact_mode *mode;
    enum compact_trigger trigger;
    bool micro_only;
    bool must_fit; /* the whole request has to become smaller, not the history alone */
    bool preview;
    int64_t body_bytes; /* of the request that was rejected; <= 0: of none */
    int64_t request;    /* tokens of the whole next request, as the meters have it; 0: unknown */
    int64_t overhead;   /* tokens of what is sent besides the history: system prompt, tools */
    const bool *kept;   /* as in struct compact_input */
    const char *focus;  /* NULL: nothing said */
    const char *system; /* NULL: none */
    /* Label of the model that the mode would ask, for the breaker. NULL: unknown. */
    const char *label;
};

struct compact_outcome {
    enum {
        COMPACT_DONE,
        COMPACT_NOTHING,   /* nothing to compact, or what has to stay does not fit the window by
                              itself. Where a request did not fit that is told as
                              compaction_failed{too_small}, unless the session was told the
                              same before; otherwise there is no event */
        COMPACT_NOT_WORTH, /* it would free too little, and was not begun: no event */
        COMPACT_FAILED,    /* told as compaction_failed */
        COMPACT_CANCELLED, /* likewise */
        COMPACT_LOST       /* emit() failed: `error` says why */
    } result;
    struct error error; /* FAILED, NOTHING and NOT_WORTH too: the words for the user */
    struct usage usage; /* of all calls, also of failed attempts */
    double cost;        /* USD of the calls whose cost is known; negative: of none is it */
};

void compact_run(const struct compact_job *job, const struct compact_host *host,
                 struct compact_outcome *out);

#endif
