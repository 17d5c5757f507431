/* Events folded into what the transcript shows: items with their source text, not yet rows. */
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

struct fold {
    VEC(struct item *) items;
    VEC(struct item *) open; /* text items of this model call that are not complete */
    VEC(struct taken_back) taken_back;
    VEC(int64_t) undone;            /* compactions that hold no more */
    struct item *cut_off;           /* note that the last turn has no end */
    struct item *card;              /* the compaction that has no end; NULL: none */
    const struct card_hints *hints; /* borrowed; NULL: none */
    int64_t first_seq, last_seq;
    bool need_label;
    bool turn_open;
    bool partial;         /* an answer of this turn is marked as interrupted */
    bool more;            /* there are older events */
    size_t first_removed; /* lowest index that an event took items from; SIZE_MAX: none */
};

void fold_init(struct fold *f);
void fold_release(struct fold *f);

/* Returns whether anything changed. O(size of the event). */
bool fold_apply(struct fold *f, const struct event *ev);

void fold_drop_brief(struct fold *f);
void fold_note(struct fold *f, enum style style, const char *text, bool brief);

/* Puts older events in front and returns how many items came with them; also joins what the border
 * between the pages had cut: tool calls and their results, answers, retried turns. */
size_t fold_prepend(struct fold *f, struct event *const *events, size_t count, bool more);

/* --- what its parts share --- */

/* What an event does; returns whether anything changed. */
typedef bool fold_effect(struct fold *f, const struct event *ev);

/* fold.c. `seq` 0: that of the last event. */
struct item *fold_add_item(struct fold *f, enum item_kind kind, int64_t seq);
void fold_remove_item(struct fold *f, size_t index);
struct item *fold_add_note(struct fold *f, enum style style, const char *text, int64_t seq);
struct item *fold_add_dashed(struct fold *f, const char *text, int64_t seq);
/* The beginning of the message's first line; nothing if it is not here. */
void fold_quote_message(const struct fold *f, int64_t seq, struct buf *out);

/* Whether there is a blank row before an item depends on what it follows. */
void fold_set_lead(struct fold *f, size_t index);

/* fold_spoken.c */
fold_effect fold_text_delta, fold_text_complete, fold_reasoning_delta, fold_reasoning_complete,
    fold_tool_requested, fold_tool_completed, fold_memory_recalled;
void fold_close_texts(struct fold *f);                     /* they end here */
void fold_drop_open(struct fold *f);                       /* texts that are not complete */
struct item *fold_call_of(struct fold *f, const char *id); /* that has no result; NULL: none */
void fold_give_recalled(struct item *call, struct recalled *recalled);

/* fold_compactions.c */
fold_effect fold_compaction_started, fold_compaction_delta, fold_compaction_ended,
    fold_compaction_undone, fold_message_pinned;
void fold_cut_off_card(struct fold *f); /* of the compaction that has no end */
void fold_leave_card(struct fold *f);   /* the same, and it will have none */
void fold_undo_card(struct fold *f, int64_t completed);

/* fold_turns.c */
fold_effect fold_turn_started, fold_call_completed, fold_retrying, fold_warning, fold_graph_changed,
    fold_learned_noted, fold_budget_warning, fold_turn_completed, fold_turn_failed,
    fold_interrupted;
void fold_cut_off_note(struct fold *f);

/* What became of the conversation is not taken back with a turn. */
bool fold_outlives_turn(const struct item *item);

/* Where a turn began of which this item goes: at a message's own beginning, if that is before. */
int64_t fold_earlier_begin(const struct item *item, int64_t from);

#endif
