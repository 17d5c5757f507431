/* The messages that the next request would carry, as a fold over events: the same function builds
 * it while the session runs and when it is resumed. */
#ifndef CHAT_HISTORY_H
#define CHAT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/event.h"
#include "chat/message.h"
#include "chat/rebuild.h"
#include "chat/usage.h"

/* Code of the warning that tells why a compaction that is due does not begin. */
#define WARNING_NOT_COMPACTED "not_compacted"

/* The session's compactions so far, so that the decision about the next is a pure function. */
struct compaction_state {
    VEC(int64_t) in_force; /* numbers of the compaction_completed events that hold, oldest first */
    int last_attempt;      /* model calls when one was last tried or undone; -1: never */
    int failures;          /* in a row */
    bool suspended;        /* the automatic kind, for failed_mode with failed_model */
    char *failed_mode, *failed_model; /* of the last failure; NULL: none */
    char *obstacle; /* text of the newest warning of that code, or too_small failure; NULL: none */
};

/* Kinds of budgets that a history remembers: more than exist; a bound for foreign logs. */
enum { HISTORY_MAX_BUDGETS = 16 };

/* The newest entries of memory that a history remembers as left out. */
enum { HISTORY_MAX_LEFT_OUT = 1000 };

/* A budget with a warning; the next comes only for another limit. */
struct budget_told {
    char *kind; /* as the event names it */
    double limit;
    int percent; /* the highest */
};

struct history {
    VEC(struct message) messages;
    struct message_source *source; /* of blocks that history_shed() freed; borrowed; NULL: none */
    int turns;                     /* user messages that were sent and not taken back */
    int calls;                     /* model calls, also those that failed or were taken back */
    VEC(int64_t) estimates;        /* message_estimate_tokens() of each message */
    int64_t estimate;              /* their sum */
    size_t grown;        /* 1 + index of the message that a block was appended to last; 0: none */
    int64_t grown_bytes; /* shape_bytes() of it */
    int64_t applied_seq; /* of the last event */
    struct usage usage;  /* sum over all model calls of the session */
    int64_t unpriced;    /* events of that sum whose cost is unknown */
    int64_t last_input;  /* input tokens of the last response; -1 unknown */
    struct request_measure measure;
    char *last_text;          /* text of the newest run_started, also of one that was taken back */
    char *last_attachments;   /* of that run_started; NULL: none */
    int64_t last_turn_seq;    /* its number; 0 before the first */
    char *surroundings;       /* as a message told them last; NULL: not yet */
    int64_t surroundings_seq; /* the number of that message */
    struct compaction_state compaction;
    VEC(struct budget_told) budgets; /* one a kind */
    VEC(char *) left_out;            /* ids of entries of memory that are not sent with messages */
    VEC(int64_t) rewound;            /* conversation_rewound events in force, oldest first */
    VEC(int64_t)
    undone;         /* compaction_completed and conversation_rewound events that
                       history_apply() ignores */
    size_t unsaved; /* messages from here on differ from the last snapshot */
    /* While a turn is open: */
    bool running;
    int64_t turn_seq;    /* its run_started */
    size_t turn_first;   /* index of its user message */
    int64_t call_seq;    /* its newest turn_started; 0 before the first, and after a compaction */
    bool turn_shortened; /* a compaction took answers of it */
};

void history_init(struct history *h);
void history_release(struct history *h);

/* Rules:
 * - run_started appends the user message; with a retry, everything from the retried turn's user
 *   message on is dropped first.
 * - text_complete, reasoning_complete and tool_call_requested append to the assistant message of
 *   the current model call, which begins with the first of them; tool_execution_completed to the
 *   tool message that follows it. Deltas change nothing, nor do empty texts and results without an
 *   open call.
 * - A tool call that is open when its model call ends (turn_started, run_completed) is answered
 *   with an error result.
 * - run_completed closes the turn. interrupted closes it, marks the answer partial, answers every
 *   open tool call with an error result, and drops an assistant message that has neither text nor
 *   tool call (no provider takes one back).
 * - run_failed does the same if the turn got any answer, and takes the user message back otherwise.
 * - run_started while a turn is open: the program died in it. That turn is taken back first (which
 * is what a retry of it wants, too).
 * - compaction_completed makes the messages anew (history_compact()) and forgets last_input; one
 *   that does not fit the messages is passed over with a line in the diagnostic log, one that was
 *   undone silently; what it used is counted all the same. Every event of a compaction sets
 *   last_attempt, a manual attempt's too; compaction_failed sets the failures, and so does a
 *   completed one that has any; other completed ones clear them.
 * - turn_completed, interrupted and run_failed measure the request, if they say what it took;
 *   compaction_completed resizes the measure, or forgets it where it does not know the request.
 * - compaction_undone forgets last_input and the measure and changes no messages: a reader of a log
 *   calls history_pass_over() first; whoever undoes a compaction reads the log again.
 * - conversation_rewound drops all messages from that number on, where a turn begins, and forgets
 *   what was measured and the message that a retry would send. A compaction in force has dropped no
 *   message from that number on. rewind_undone is like compaction_undone.
 * - An event of event_between_turns() takes an open turn back: the program died in it.
 * - warning of WARNING_NOT_COMPACTED and compaction_failed{too_small} set the obstacle.
 * - message_pinned marks the message of that number, which is no summary; with results the answer
 *   that called them. Without its answer no result stays pinned.
 * - budget_warning is remembered by its kind, memory_left_out by the entry.
 * - An event whose seq is not above applied_seq is ignored. */
void history_apply(struct history *h, const struct event *ev);

/* Whether the session does not send this entry of memory (its full id) with messages. */
bool history_leaves_out(const struct history *h, const char *id);

/* The message with this number, or NULL. Messages are in the order of their numbers; a summary has
 * the number of another message and is not found. */
struct message *history_find(const struct history *h, int64_t seq);

/* Tells the numbers of compactions and rewinds that the log to be folded undoes later. */
void history_pass_over(struct history *h, const int64_t *undone, size_t count);

/* The history before a compaction, until the compaction is committed. Kept messages share their
 * blocks with it. */
struct history_backup {
    struct history before;
    struct rebuild rebuild;
};

/* Applies a compaction_completed so that it can be taken back: until history_settle() or
 * history_revert(), nothing else is applied. False with AGENT_ERROR, nothing changed, where it does
 * not fit the messages. The first message that a running turn was begun with stays where it is. */
bool history_compact(struct history *h, const struct event *ev, struct history_backup *b,
                     struct error *e);
void history_settle(struct history_backup *b);
void history_revert(struct history *h, struct history_backup *b); /* byte for byte as before */

/* Takes back a turn that is still open after the last event: a crash cut it off. Returns whether
 * there was one. */
bool history_drop_open_turn(struct history *h);

/* Frees the blocks of old messages. The newest messages with at most so many tokens keep theirs,
 * and so do those of a running turn, summaries, pinned messages, and messages that no committed
 * snapshot has. For a history with a source, which must have message `i` at row i + 1. */
#define HISTORY_HELD ((int64_t)128 * 1024)
void history_shed(struct history *h, int64_t tokens);

/* The snapshot without the messages: a JSON object with "messages" (how many), "estimate",
 * "last_input" and the other members of a history. The caller frees. */
char *history_counters(const struct history *h);

/* Restores a history: first its saved messages in order (taken), then these counters. False: they
 * do not fit together, and the history is empty. `bytes`: of the message as JSON. */
void history_add_saved(struct history *h, struct message m, int64_t bytes);
bool history_restore(struct history *h, const char *counters, size_t len, struct error *e);

#endif
