/* A message as one row of a list: whether it is open, who, which turn, how it begins. */
#ifndef UI_MESSAGES_H
#define UI_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "chat/event.h"
#include "chat/memory.h"
#include "chat/message.h"
#include "ui/term/rows.h"

struct message_row {
    const char *who;  /* in the person's language */
    int turn;         /* 0: none */
    const char *text; /* not clean; its first line that is not blank is shown */
    bool opens, open, chosen;
};

const char *message_row_who(enum role role);

/* The same of an entry of memory, which may name a person. Not clean. */
const char *message_row_speaker(const struct memory_entry *e);

/* Fills exactly `columns` of the row that is begun; the column of `who` is `who_columns` wide. */
void message_row_add(struct rows *out, const struct message_row *m, size_t who_columns,
                     size_t columns);

/* Adds a text cut or filled to exactly so many columns. */
void message_row_field(struct rows *out, const char *text, size_t columns, enum style style);

/* The same, to the right. */
void message_row_figure(struct rows *out, const char *text, size_t columns, enum style style);

/* Messages as a person reads them, folded out of the events that they were made of. Nothing in it
 * is clean. */

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
