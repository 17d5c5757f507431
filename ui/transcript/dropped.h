/* Messages as a person reads them, folded out of the events that they were made of. Nothing in it
 * is clean. */
#ifndef UI_DROPPED_H
#define UI_DROPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "chat/event.h"
#include "chat/message.h"

struct dropped_message {
    enum role role;
    int64_t seq;     /* of its first event */
    int turn;        /* 0: not known */
    struct buf text; /* all of it, with tool calls and results */
    size_t said;     /* where what was said begins in it, behind reasoning */
};

struct dropped {
    VEC(struct dropped_message) items;
    int turn;    /* that what comes next belongs to */
    bool closed; /* what comes next is another message */
};

void dropped_release(struct dropped *d);

/* In their order; pieces of one message may come with different pages. */
void dropped_apply(struct dropped *d, const struct event *ev);

#endif
