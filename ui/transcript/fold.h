/* Events folded into the items of the transcript, with their source text and no rows yet. */
#ifndef UI_FOLD_H
#define UI_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/event.h"
#include "ui/transcript/compaction_card.h"
#include "ui/transcript/item.h"

/* Events from `from` to before `to` were taken back by a retry. */
struct taken_back {
    int64_t from, to;
};

/* A conversation_rewound. Items from the message on to before the event are not sent any more. */
struct fold_rewind {
    int64_t message, seq;
    bool undone;
};

struct fold {
    VEC(struct item *) items;
    VEC(struct item *) open; /* text items of this model call that are not complete */
    VEC(struct taken_back) taken_back;
    VEC(int64_t) undone; /* compaction_completed events that were undone */
    VEC(struct fold_rewind)
    rewinds;                        /* in any order; a rewind that is only known to be undone has no
                                       message */
    struct left_out left_out;       /* entries of memory that are not sent with messages */
    struct item *cut_off;           /* the note that the last turn has no end */
    struct item *card;              /* the compaction that has no end; NULL: none */
    const struct card_hints *hints; /* borrowed; NULL: none */
    int64_t first_seq, last_seq;
    bool need_label;
    bool turn_open;
    bool partial;         /* an answer of this turn is marked as interrupted */
    bool more;            /* there are older events */
    size_t first_removed; /* lowest index that an event took items from; SIZE_MAX: none */
};

#define FOLD_INIT ((struct fold){.need_label = true, .first_removed = SIZE_MAX})
void fold_release(struct fold *f);

/* Returns whether anything changed. O(size of the event). */
bool fold_apply(struct fold *f, const struct event *ev);

void fold_drop_brief(struct fold *f);

/* Adds a note. `seq` 0: that of the last event; text NULL: none. */
struct item *fold_note(struct fold *f, enum style style, const char *text, int64_t seq);

/* Puts older events in front and returns how many items came with them. Joins the parts that the
 * border between the pages had cut: tool calls and their results, answers, retried turns. */
size_t fold_prepend(struct fold *f, struct event *const *events, size_t count, bool more);

/* The call with this id in the last turn, of those that have no result or of all; NULL: none. */
struct item *fold_call(struct fold *f, const char *id, bool answered_too);

#endif
