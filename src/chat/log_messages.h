/* Which messages a session has, whatever its compactions did: the fold of chat/history.h with all
 * compactions passed over, but of numbers alone. A log of any length costs a few bytes a message,
 * and no payload is kept. */
#ifndef CHAT_LOG_MESSAGES_H
#define CHAT_LOG_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/event.h"
#include "chat/message.h"

/* What of an event decides which messages there are. */
struct log_event {
    int64_t seq;
    enum event_type type;
    int64_t retries;    /* run_started: the one that it sends again; 0: none */
    bool is_empty;      /* text_complete, reasoning_complete: it says nothing */
    bool between_turns; /* event_between_turns() */
};
struct log_event log_event_of(const struct event *ev);

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

/* The turn that is still open behind the last event runs, or was cut off by a crash: its messages
 * are left out. The number of its run_started; 0: none was open. */
int64_t log_messages_drop_open_turn(struct log_messages *l);

/* Whether there is a message that begins with this event. */
bool log_messages_have(const struct log_messages *l, int64_t seq);

#endif
