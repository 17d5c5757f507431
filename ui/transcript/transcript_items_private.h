/* What the parts of the fold share. */
#ifndef UI_TRANSCRIPT_ITEMS_PRIVATE_H
#define UI_TRANSCRIPT_ITEMS_PRIVATE_H

#include "ui/transcript/transcript_items.h"

/* What an event does; returns whether anything changed. */
typedef bool fold_effect(struct fold *f, const struct event *ev);

/* transcript_items.c. `seq` 0: that of the last event. */
struct item *fold_add_item(struct fold *f, enum item_kind kind, int64_t seq);
void fold_remove_item(struct fold *f, size_t index);
struct item *fold_add_note(struct fold *f, enum style style, const char *text, int64_t seq);
struct item *fold_add_dashed(struct fold *f, const char *text, int64_t seq);

/* Whether there is a blank row before an item depends on what it follows. */
void fold_set_lead(struct fold *f, size_t index);

/* transcript_spoken.c */
fold_effect fold_text_delta, fold_text_complete, fold_reasoning_delta, fold_reasoning_complete,
    fold_tool_requested, fold_tool_completed, fold_memory_recalled;
void fold_close_texts(struct fold *f);                     /* they end here */
void fold_drop_open(struct fold *f);                       /* texts that are not complete */
struct item *fold_call_of(struct fold *f, const char *id); /* that has no result; NULL: none */
void fold_give_recalled(struct item *call, struct recalled *recalled);

/* transcript_compactions.c */
fold_effect fold_compaction_started, fold_compaction_delta, fold_compaction_ended,
    fold_compaction_undone, fold_message_pinned;
void fold_cut_off_card(struct fold *f); /* of the compaction that has no end */
void fold_leave_card(struct fold *f);   /* the same, and it will have none */
void fold_undo_card(struct fold *f, int64_t completed);

/* transcript_runs.c */
fold_effect fold_run_started, fold_turn_completed, fold_retrying, fold_warning, fold_budget_warning,
    fold_run_completed, fold_run_failed, fold_interrupted;
void fold_cut_off_note(struct fold *f);

/* What became of the conversation is not taken back with a run. */
bool fold_outlives_run(const struct item *item);

/* Where a turn began of which this item goes: at a message's own beginning, if that is before. */
int64_t fold_earlier_begin(const struct item *item, int64_t from);

#endif
