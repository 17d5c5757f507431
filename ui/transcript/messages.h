/* Messages for the views: as rows of a list, and folded out of the log's events. */
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

/* A row of a list: the fold mark, the speaker, the turn, the first line. */
struct message_row {
    const char *who;  /* in the user's language */
    int turn;         /* 0: none */
    const char *text; /* not clean; its first line that is not blank is shown */
    bool opens, open, chosen;
};

const char *message_row_who(enum role role);

/* The speaker of an entry of memory, which may be a name or another agent. Not clean. */
const char *message_row_speaker(const struct memory_entry *e);

/* Adds exactly `columns` to the last row; the column of `who` is `who_columns` wide. */
void message_row_add(struct rows *out, const struct message_row *m, size_t who_columns,
                     size_t columns);

/* Adds a text cut or filled to exactly so many columns. */
void message_row_field(struct rows *out, const char *text, size_t columns, enum style style);

/* The same, aligned to the right. */
void message_row_figure(struct rows *out, const char *text, size_t columns, enum style style);

/* The text of a message, made of its events. Not clean. */
struct dropped_message {
    enum role role;
    int64_t seq;     /* of its first event */
    int turn;        /* 0: not known */
    struct buf text; /* all of it, with tool calls and results */
    size_t said;     /* where the answer begins in it, behind reasoning */
};

struct dropped {
    VEC(struct dropped_message) items;
    int turn;    /* of the next event; 0: not known */
    bool closed; /* the next event begins another message */
};

void dropped_release(struct dropped *d);

/* Applies the events in their order; those of one message may come with different pages. */
void dropped_apply(struct dropped *d, const struct event *ev);

#endif
