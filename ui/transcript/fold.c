#include "ui/transcript/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"

void fold_init(struct fold *f)
{
    *f = (struct fold){.need_label = true, .first_removed = SIZE_MAX};
}

void fold_release(struct fold *f)
{
    for (size_t i = 0; i < f->items.len; i++)
        item_free(f->items.items[i]);
    vec_release(&f->items);
    vec_release(&f->open);
    vec_release(&f->taken_back);
    vec_release(&f->undone);
}

static bool is_spoken(enum item_kind kind)
{
    return kind == ITEM_ANSWER || kind == ITEM_REASONING || kind == ITEM_TOOL;
}

void fold_set_lead(struct fold *f, size_t index)
{
    struct item *item = f->items.items[index];
    const struct item *before = index ? f->items.items[index - 1] : NULL;
    bool lead = item->kind == ITEM_USER || item->kind == ITEM_COMPACTION || item->label;
    if (item->kind == ITEM_NOTE)
        lead = !before || before->kind != ITEM_NOTE;
    else if (is_spoken(item->kind) && before)
        lead |= before->kind == ITEM_ANSWER || before->kind == ITEM_NOTE ||
                before->kind == ITEM_COMPACTION;
    if (lead != item->lead)
        item->change = ITEM_CHANGED;
    item->lead = lead;
}

struct item *fold_add_item(struct fold *f, enum item_kind kind, int64_t seq)
{
    bool spoken = is_spoken(kind);
    struct item *item = item_new(kind, seq ? seq : f->last_seq);
    item->label = spoken && f->need_label;
    if (spoken)
        f->need_label = false;
    vec_push(&f->items, item);
    fold_set_lead(f, f->items.len - 1);
    return item;
}

static void forget_open(struct fold *f, const struct item *item)
{
    for (size_t i = f->open.len; i-- > 0;)
        if (f->open.items[i] == item)
            vec_remove(&f->open, i, 1);
}

void fold_remove_item(struct fold *f, size_t index)
{
    struct item *item = f->items.items[index];
    forget_open(f, item);
    if (f->cut_off == item)
        f->cut_off = NULL;
    if (f->card == item)
        f->card = NULL;
    f->need_label |= item->label;
    vec_remove(&f->items, index, 1);
    item_free(item);
    if (index < f->items.len)
        fold_set_lead(f, index);
    if (index < f->first_removed)
        f->first_removed = index;
}

struct item *fold_add_note(struct fold *f, enum style style, const char *text, int64_t seq)
{
    struct item *item = fold_add_item(f, ITEM_NOTE, seq);
    item->style = style;
    utf8_clean(&item->text, text ? text : "", text ? strlen(text) : 0, UTF8_MULTILINE);
    return item;
}

struct item *fold_add_dashed(struct fold *f, const char *text, int64_t seq)
{
    char *whole = mem_printf("%s %s", glyph(GLYPH_DASH), text);
    struct item *item = fold_add_note(f, STYLE_NOTE, whole, seq);
    free(whole);
    return item;
}

void fold_note(struct fold *f, enum style style, const char *text, bool brief)
{
    fold_add_note(f, style, text, f->last_seq)->brief = brief;
}

/* --- events --- */

static fold_effect *const effects[EVENT_TYPE_COUNT] = {
    [EVENT_TURN_STARTED] = fold_turn_started,
    [EVENT_TEXT_DELTA] = fold_text_delta,
    [EVENT_REASONING_DELTA] = fold_reasoning_delta,
    [EVENT_REASONING_COMPLETE] = fold_reasoning_complete,
    [EVENT_TEXT_COMPLETE] = fold_text_complete,
    [EVENT_TOOL_CALL_REQUESTED] = fold_tool_requested,
    [EVENT_TOOL_EXECUTION_COMPLETED] = fold_tool_completed,
    [EVENT_CALL_COMPLETED] = fold_call_completed,
    [EVENT_RETRYING] = fold_retrying,
    [EVENT_COMPACTION_STARTED] = fold_compaction_started,
    [EVENT_COMPACTION_DELTA] = fold_compaction_delta,
    [EVENT_COMPACTION_COMPLETED] = fold_compaction_ended,
    [EVENT_COMPACTION_FAILED] = fold_compaction_ended,
    [EVENT_COMPACTION_UNDONE] = fold_compaction_undone,
    [EVENT_MESSAGE_PINNED] = fold_message_pinned,
    [EVENT_MEMORY_RECALLED] = fold_memory_recalled,
    [EVENT_GRAPH_CHANGED] = fold_graph_changed,
    [EVENT_LEARNED_NOTED] = fold_learned_noted,
    [EVENT_WARNING] = fold_warning,
    [EVENT_BUDGET_WARNING] = fold_budget_warning,
    [EVENT_TURN_COMPLETED] = fold_turn_completed,
    [EVENT_TURN_FAILED] = fold_turn_failed,
    [EVENT_INTERRUPTED] = fold_interrupted,
};

static void drop_cut_off(struct fold *f)
{
    for (size_t i = f->items.len; f->cut_off && i-- > 0;)
        if (f->items.items[i] == f->cut_off)
            fold_remove_item(f, i);
}

bool fold_apply(struct fold *f, const struct event *ev)
{
    if (ev->seq > 0 && ev->seq <= f->last_seq)
        return false;
    if (f->first_seq == 0)
        f->first_seq = ev->seq;
    if (f->cut_off && ev->type != EVENT_TURN_STARTED)
        drop_cut_off(f); /* the turn goes on after all */
    bool changed = effects[ev->type] && effects[ev->type](f, ev);
    if (ev->seq > 0)
        f->last_seq = ev->seq;
    return changed;
}
