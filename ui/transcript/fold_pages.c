/* Older pages of events before those that are there. */
#include <string.h>

#include "ui/transcript/fold.h"

static void adopt_result(struct fold *older, struct fold *f)
{
    for (size_t i = 0; i < f->items.len && f->items.items[i]->kind != ITEM_USER;) {
        struct item *orphan = f->items.items[i];
        struct item *call = orphan->orphan ? fold_call_of(older, orphan->id) : NULL;
        if (!call) {
            i++;
            continue;
        }
        if (orphan->recalled)
            fold_give_recalled(call, orphan->recalled);
        orphan->recalled = NULL;
        struct buf result = orphan->result;
        buf_init(&orphan->result, 0);
        buf_release(&call->result);
        call->result = result;
        call->result_lines = orphan->result_lines;
        call->ms = orphan->ms;
        call->answered = true;
        call->failed = orphan->failed;
        fold_remove_item(f, i);
    }
}

static void began_earlier(struct fold *f, int64_t from, int64_t earlier_from)
{
    for (size_t i = 0; i < f->items.len; i++)
        if (f->items.items[i]->kind == ITEM_USER && f->items.items[i]->from == from)
            f->items.items[i]->from = earlier_from;
}

static void drop_taken_back(struct fold *older, struct fold *f)
{
    for (size_t r = 0; r < f->taken_back.len; r++) {
        struct taken_back range = f->taken_back.items[r];
        int64_t began = range.from;
        for (size_t i = older->items.len; i-- > 0;) {
            int64_t seq = older->items.items[i]->seq;
            if (seq < range.from || seq >= range.to || fold_outlives_turn(older->items.items[i]))
                continue;
            began = fold_earlier_begin(older->items.items[i], began);
            fold_remove_item(older, i);
        }
        began_earlier(f, range.from, began);
        if (range.from < older->first_seq)
            vec_push(&older->taken_back, range);
    }
}

/* A compaction that was cut by the border goes on in the first that is there; else it died. */
static void join_cards(struct fold *f, struct fold *older)
{
    struct item *first = NULL;
    for (size_t i = 0; i < f->items.len && !first; i++)
        first = f->items.items[i]->card ? f->items.items[i] : NULL;
    if (!older->card || !first || first->card->started) {
        fold_leave_card(older);
        return;
    }
    compaction_card_join(first, older->card);
    for (size_t i = older->items.len; older->card && i-- > 0;)
        if (older->items.items[i] == older->card)
            fold_remove_item(older, i);
}

static void join_undone(struct fold *f, struct fold *older)
{
    for (size_t i = 0; i < f->undone.len; i++)
        fold_undo_card(older, f->undone.items[i]);
    for (size_t i = 0; i < older->undone.len; i++)
        vec_push(&f->undone, older->undone.items[i]);
}

static void put_in_front(struct fold *f, struct fold *older)
{
    size_t count = older->items.len;
    if (count) {
        vec_reserve(&f->items, f->items.len + count);
        vec_move_(f->items.items, count, 0, f->items.len, sizeof *f->items.items);
        memcpy(f->items.items, older->items.items, count * sizeof *f->items.items);
        f->items.len += count;
    }
    older->items.len = 0;
    vec_release(&f->taken_back);
    f->taken_back.items = older->taken_back.items;
    f->taken_back.len = older->taken_back.len;
    f->taken_back.cap = older->taken_back.cap;
    older->taken_back.items = NULL;
    if (older->first_seq)
        f->first_seq = older->first_seq;
}

/* The first page: what it ends with is where the conversation stands. */
static void begin_with(struct fold *f, struct fold *page)
{
    fold_close_texts(page);
    fold_cut_off_card(page);
    if (page->turn_open)
        fold_cut_off_note(page);
    f->last_seq = page->last_seq;
    f->need_label = page->need_label;
    f->turn_open = page->turn_open;
    f->partial = page->partial;
    f->cut_off = page->cut_off;
    f->card = page->card;
}

/* The turn at the border goes on there, or it died before the page that is there began. */
static void join_turns(struct fold *f, struct fold *older)
{
    struct item *first = f->items.len ? f->items.items[0] : NULL;
    if (!first || !older->turn_open)
        return;
    if (first->kind == ITEM_USER) {
        fold_close_texts(older);
        fold_cut_off_note(older);
        return;
    }
    fold_drop_open(older); /* complete on the page that is there */
    adopt_result(older, f);
    first = f->items.len ? f->items.items[0] : NULL;
    if (first && first->label && !older->need_label) {
        first->label = false;
        first->change = ITEM_CHANGED;
    }
}

size_t fold_prepend(struct fold *f, struct event *const *events, size_t count, bool more)
{
    struct fold older;
    fold_init(&older);
    older.hints = f->hints;
    for (size_t i = 0; i < count; i++)
        fold_apply(&older, events[i]);
    if (f->last_seq == 0) {
        begin_with(f, &older);
    } else {
        join_cards(f, &older);
        join_turns(f, &older);
        drop_taken_back(&older, f);
    }
    join_undone(f, &older);
    f->more = more;
    size_t added = older.items.len;
    put_in_front(f, &older);
    if (added < f->items.len)
        fold_set_lead(f, added);
    fold_release(&older);
    return added;
}
