/* Events: the facts of a session, immutable and numbered. The same set feeds the log (the canonical
 * record), the history (history.h folds events into messages), the screen and stream-json.
 *
 * run_started … run_completed | run_failed | interrupted is one turn of the conversation: a user
 * message and all that follows. turn_started … turn_completed is one model call within it. */
#ifndef CHAT_EVENT_H
#define CHAT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/entropy.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/shape.h"
#include "base/vec.h"
#include "chat/change.h"
#include "chat/message.h"
#include "chat/usage.h"

/* X(NAME, "name", payload version) */
#define EVENT_TYPES(X)                                                                             \
    X(TURN_STARTED, "run_started", 1)                                                              \
    X(CALL_STARTED, "turn_started", 1)                                                             \
    X(TEXT_DELTA, "text_delta", 1)                                                                 \
    X(REASONING_DELTA, "reasoning_delta", 1)                                                       \
    X(REASONING_COMPLETE, "reasoning_complete", 1)                                                 \
    X(TEXT_COMPLETE, "text_complete", 1)                                                           \
    X(TOOL_CALL_REQUESTED, "tool_call_requested", 1)                                               \
    X(TOOL_EXECUTION_COMPLETED, "tool_execution_completed", 1)                                     \
    X(COMMAND_COMPLETED, "command_completed", 1)                                                   \
    X(CALL_COMPLETED, "turn_completed", 1)                                                         \
    X(RETRYING, "retrying", 1)                                                                     \
    X(COMPACTION_STARTED, "compaction_started", 1)                                                 \
    X(COMPACTION_DELTA, "compaction_delta", 1)                                                     \
    X(COMPACTION_COMPLETED, "compaction_completed", 1)                                             \
    X(COMPACTION_FAILED, "compaction_failed", 1)                                                   \
    X(COMPACTION_UNDONE, "compaction_undone", 1)                                                   \
    X(REWOUND, "conversation_rewound", 1)                                                          \
    X(REWIND_UNDONE, "rewind_undone", 1)                                                           \
    X(FILE_RESTORED, "file_restored", 1)                                                           \
    X(MESSAGE_PINNED, "message_pinned", 1)                                                         \
    X(MEMORY_INDEXED, "memory_indexed", 1)                                                         \
    X(MEMORY_RECALLED, "memory_recalled", 1)                                                       \
    X(MEMORY_LEFT_OUT, "memory_left_out", 1)                                                       \
    X(GRAPH_CHANGED, "graph_changed", 1)                                                           \
    X(LEARNED_NOTED, "learned_noted", 1)                                                           \
    X(LEARNED_EXTRACTED, "learned_extracted", 1)                                                   \
    X(SESSION_TITLED, "session_titled", 1)                                                         \
    X(BUDGET_WARNING, "budget_warning", 1)                                                         \
    X(WARNING, "warning", 1)                                                                       \
    X(TURN_COMPLETED, "run_completed", 1)                                                          \
    X(TURN_FAILED, "run_failed", 1)                                                                \
    X(INTERRUPTED, "interrupted", 1)

enum event_type {
#define X(id, name, version) EVENT_##id,
    EVENT_TYPES(X)
#undef X
        EVENT_TYPE_COUNT
};

enum stop_reason {
    STOP_END_TURN,
    STOP_MAX_TOKENS,
    STOP_SEQUENCE,
    STOP_TOOL_USE,
    STOP_PAUSE,
    STOP_REFUSAL,
    STOP_CONTEXT_EXCEEDED,
    STOP_CANCELLED,
    STOP_MAX_CALLS, /* tiro stopped the turn: it reached [tools] max_calls */
    STOP_REPEATED,  /* tiro stopped the turn: the same tool call failed three times */
    STOP_OTHER
};

/* Where the text of a run_started came from. Learned memory and session summaries use the words of
 * typed messages only. UNKNOWN: the client did not say. */
enum input_origin {
    INPUT_UNKNOWN,
    INPUT_TYPED,    /* by a person, in the terminal, an editor or as an argument; files that are
                       attached to the message are not typed (session_info.h) */
    INPUT_PIPED,    /* standard input that is no terminal */
    INPUT_ATTACHED, /* an attached file alone */
    INPUT_PROGRAM,  /* another agent, over MCP */
    INPUT_COMMAND,  /* "!COMMAND" of a person, which was run: its turn has no model call, and a
                       command_completed with the output */
    INPUT_IMPORTED, /* the text of an imported session, whatever it says itself */
    INPUT_ORIGINS
};
extern const struct shape_names input_origin_names;

#define COMMAND_CALL "!" /* in place of a call's id, where the output of such a command is shown */

/* The members of a compaction. `history` and `dropped` are JSON (chat/rebuild.h): how the new
 * messages are made of the old ones, and which events the messages that went were made of. */
struct compaction {
    char *mode, *effective_mode; /* "handoff" */
    char *stage;                 /* "micro" or "summary" */
    char *trigger;               /* "input_tokens", "estimate", "request", "overflow", "manual" */
    char *reason; /* "llm", "empty_summary", "memory_indexing", "too_small", "cancelled", "store" */
    char *history, *dropped;
    int64_t input_tokens;                  /* of the last response; -1 unknown */
    int64_t estimate;                      /* tokens of the history */
    int64_t threshold;                     /* tokens */
    int64_t summary_tokens;                /* estimated, as those that follow */
    int64_t tokens_before, tokens_after;   /* of the history */
    int64_t request_before, request_after; /* of the whole next request; 0: unknown */
    int messages_before, messages_after, messages_dropped;
    int messages_changed; /* that stayed with less in them: shortened tool results */
    int entries_indexed;
    int failures; /* in a row */
    bool suspended;
};

/* Every field is there for every type; event_shapes says which ones a type uses, and only those are
 * written, read, copied and freed. Unused strings are NULL. Strings are owned. */
struct event {
    enum event_type type;
    int64_t seq;     /* from 1 within a session, strictly rising */
    int64_t wall_ms; /* when */
    char session_id[UUID_LEN + 1];

    char *text;
    char *id;
    char *name;
    char *signature;
    char *model;
    char *attachments;
    char *hits;
    char *pieces; /* of a joined delta: event_pieces_json() */
    int64_t number;
    int count;
    int limit;
    bool flag;
    bool denied;               /* the call was not allowed to run */
    struct file_change change; /* the change that the call made */
    enum stop_reason stop_reason;
    enum input_origin origin;
    struct usage usage;     /* of a turn: its sum, of which are those of compactions: */
    struct usage summaries; /* directly after it, as usage_turn_shape needs it */
    double used, bound;
    struct compaction compaction;
};

/* The type's own members, under the names that the log's payload and stream-json have. */
extern const struct shape event_shapes[EVENT_TYPE_COUNT];

/* A zeroed event of this type with unknown usage; the caller frees. */
struct event *event_new(enum event_type type);
void event_free(struct event *ev); /* NULL is fine */
AUTO_POINTER(event_free, struct event)
struct event *event_clone(const struct event *ev);

const char *event_name(enum event_type type);
int event_version(enum event_type type);

/* A piece of a text that streams. */
bool event_is_delta(enum event_type type);

bool event_type_from_name(const char *name, enum event_type *out);
extern const struct shape_names stop_reason_names;

/* True for the end of a turn: completed, failed or interrupted. */
bool event_ends_turn(enum event_type type);
/* True for an event that only happens between turns: a turn that is open before it was cut off by a
 * crash. */
bool event_between_turns(const struct event *ev);

/* An object of the type's members, for the log's payload column. The caller frees. */
char *event_payload(const struct event *ev);

/* False with SESSION_STORE_ERROR for an unknown type, a newer version or a payload that does not
 * fit. seq, wall_ms and session_id are the caller's to set. */
bool event_from_payload(enum event_type type, int version, const char *payload, size_t len,
                        struct event **out, struct error *e);

/* One line of stream-json, without the newline: {"type","seq","session_id","at","version",…}, the
 * version where it is not 1. */
char *event_to_line(const struct event *ev);

/* The line up to the type's own members; the object stays open. */
void event_begin_line(const struct event *ev, struct json_out *o);

/* The event of such a line. False with SESSION_STORE_ERROR that names the member which does not
 * fit. */
bool event_from_json(const struct json *line, struct event **out, struct error *e);

/* Owned events, ascending. */
struct event_list {
    VEC(struct event *) items;
};
void event_list_release(struct event_list *l);

/* Members of a shape: a struct event *, which may be NULL, and a struct event_list, as such lines.
 */
extern const struct shape_codec event_codec, event_list_codec;

/* ---- the pieces of a joined delta ---- Each piece of a streamed text is published with a number
 * of its own. The log joins them to one delta with the number of the last; its "pieces" has the
 * length of each, so that a client which has some of them gets only the others. Pure. */

/* Lengths in bytes of pieces with consecutive numbers. */
struct event_pieces {
    VEC(size_t) lengths;
    int64_t last; /* number of the newest */
};

void event_pieces_release(struct event_pieces *p);

/* Adds a piece, or bytes to the newest piece if that has this number. */
void event_pieces_add(struct event_pieces *p, int64_t seq, size_t length);

/* "[4,3]", for the member; NULL for a single piece. The caller frees. */
char *event_pieces_json(const struct event_pieces *p);

/* Removes the pieces up to this number from a joined delta. No effect on an event without pieces.
 */
void event_pieces_skip(struct event *ev, int64_t after);

/* ---- the messages of a log ---- The fold of chat/history.h without compactions and without
 * payloads: which messages a session has, in a few bytes a message. */

/* The parts of an event that decide which messages there are. */
struct log_event {
    int64_t seq;
    enum event_type type;
    int64_t retries;    /* run_started: the one that it sends again; conversation_rewound that is in
                           force: the message; 0: none */
    bool is_empty;      /* text_complete, reasoning_complete: it says nothing */
    bool between_turns; /* event_between_turns() */
};

struct log_message {
    int64_t seq, turn; /* as struct message has them */
    enum role role;
    bool says; /* an answer: it has a text or a tool call */
};

struct log_messages {
    VEC(struct log_message) items; /* in the order of the conversation */
    int64_t turns;
    /* While a turn is open: */
    int64_t turn_seq;  /* its run_started; 0: none is */
    size_t turn_first; /* index of its user message */
    int64_t call_seq;  /* its newest model call; 0 before the first */
    size_t answer;     /* 1 + index of that call's answer; 0: none yet */
    int open_calls;    /* of that answer: tools without a result */
};

void log_messages_release(struct log_messages *l);
void log_messages_apply(struct log_messages *l, const struct log_event *ev);

/* Removes the messages of a turn that is still open after the last event: it runs, or a crash cut
 * it off. Returns the number of its run_started; 0: none was open. */
int64_t log_messages_drop_open_turn(struct log_messages *l);

/* Whether there is a message that begins with this event. */
bool log_messages_have(const struct log_messages *l, int64_t seq);

/* ---- answers of a person or a surface ---- */

/* To a tool that asks before it runs. SESSION: it and every later call that the notice's `grant`
 * names; PROJECT: likewise in all sessions of the project (config/permissions.h). */
enum approval_answer { ANSWER_ONCE, ANSWER_SESSION, ANSWER_PROJECT, ANSWER_DENY };

/* To a draft summary. */
enum draft_answer { DRAFT_COMMIT, DRAFT_REFUSE, DRAFT_AGAIN };

/* By a surface that a tool asked to do something. */
enum surface_outcome {
    SURFACE_DID,
    SURFACE_PASSED, /* it does not do that: the tool does it itself */
    SURFACE_FAILED  /* it could not or would not */
};

#endif
