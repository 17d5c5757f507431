#include "ui/transcript/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/transcript/item.h"

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

/* How a turn begins and ends, what is tried again, and what is to be known of it. */

void fold_cut_off_note(struct fold *f)
{
    f->cut_off = fold_add_dashed(f, _("interrupted; /retry sends the message again"), f->last_seq);
}

int64_t fold_earlier_begin(const struct item *item, int64_t from)
{
    return item->kind == ITEM_USER && item->from < from ? item->from : from;
}

bool fold_outlives_turn(const struct item *item)
{
    return item->card && item->card->ended;
}

/* A try's beginning may be on an older page, which then drops it. Returns where the turn began. */
static int64_t take_back(struct fold *f, int64_t from, int64_t to)
{
    struct taken_back range = {from, to};
    int64_t began = from;
    for (size_t i = f->items.len; i-- > 0 && f->items.items[i]->seq >= from;) {
        began = fold_earlier_begin(f->items.items[i], began);
        if (!fold_outlives_turn(f->items.items[i]))
            fold_remove_item(f, i);
    }
    if (from < f->first_seq)
        vec_push(&f->taken_back, range);
    return began;
}

void fold_drop_brief(struct fold *f)
{
    for (size_t i = f->items.len; i-- > 0;)
        if (f->items.items[i]->brief)
            fold_remove_item(f, i);
}

bool fold_turn_started(struct fold *f, const struct event *ev)
{
    const char *text = ev->text ? ev->text : "";
    int64_t from = ev->seq;
    fold_drop_brief(f);
    fold_close_texts(f);
    fold_leave_card(f);
    if (ev->number > 0)
        from = take_back(f, ev->number, ev->seq);
    else if (f->turn_open && !f->cut_off)
        fold_cut_off_note(f);
    f->cut_off = NULL;
    struct item *item = fold_add_item(f, ITEM_USER, ev->seq);
    item->from = from;
    utf8_clean(&item->text, text, strlen(text), UTF8_MULTILINE);
    item_add_images(item, ev->attachments);
    f->need_label = true;
    f->turn_open = true;
    f->partial = false;
    return true;
}

bool fold_call_completed(struct fold *f, const struct event *ev)
{
    bool any = f->open.len > 0;
    (void)ev;
    fold_close_texts(f);
    return any;
}

bool fold_retrying(struct fold *f, const struct event *ev)
{
    bool any = f->open.len > 0 || f->card;
    (void)ev;
    fold_drop_open(f);
    if (f->card)
        compaction_card_restart(f->card);
    return any;
}

bool fold_warning(struct fold *f, const struct event *ev)
{
    fold_add_note(f, STYLE_WARNING, ev->text && *ev->text ? ev->text : ev->name, ev->seq);
    return true;
}

/* What the model wrote unasked, and where that is changed back. */
bool fold_graph_changed(struct fold *f, const struct event *ev)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, ev->flag ? _("Deleted from the graph: %s") : _("Noted in the graph: %s"),
             ev->text);
    if (ev->number > 0)
        buf_addf(&text, ngettext(" and %lld more", " and %lld more", (unsigned long)ev->number),
                 (long long)ev->number);
    buf_addstr(&text, ev->flag ? _("; u in /graph restores it") : _("; d in /graph deletes it"));
    fold_add_note(f, STYLE_NOTE, text.data, ev->seq);
    buf_release(&text);
    return true;
}

/* With the message that it is of, the last one above. */
bool fold_learned_noted(struct fold *f, const struct event *ev)
{
    struct buf text = BUF_INIT;
    size_t i = f->items.len;
    buf_addf(&text, ev->flag ? _("remembered: %s") : _("remember this? %s"),
             ev->text ? ev->text : "");
    while (i > 0 && f->items.items[i - 1]->kind != ITEM_USER)
        i--;
    if (i > 0) {
        buf_addf(&text, " %s %s", glyph(GLYPH_DOT), _("you typed"));
        fold_quote_message(f, f->items.items[i - 1]->seq, &text);
    }
    struct item *item = fold_add_dashed(f, text.data, ev->seq);
    item->id = ev->id ? mem_strdup(ev->id) : NULL;
    buf_release(&text);
    return true;
}

/* "4,000" or "$0.40", as the kind is counted. */
static void add_amount(struct buf *out, const char *kind, double amount)
{
    if (strcmp(kind, "max_cost") == 0)
        format_cost(out, amount);
    else if (amount >= 0 && amount < 1e15)
        format_exact(out, (int64_t)amount);
    else
        buf_addf(out, "%.3g", amount);
}

bool fold_budget_warning(struct fold *f, const struct event *ev)
{
    const char *kind = ev->name ? ev->name : "";
    bool time = strstr(kind, "duration") != NULL;
    struct buf used = BUF_INIT, bound = BUF_INIT;
    add_amount(&used, kind, ev->used);
    add_amount(&bound, kind, ev->bound);
    char *text =
        mem_printf(time ? _("%d %% of %s used: %s of %s seconds") : _("%d %% of %s used: %s of %s"),
                   ev->count, kind, used.data, bound.data);
    fold_add_note(f, STYLE_WARNING, text, ev->seq);
    free(text);
    buf_release(&used);
    buf_release(&bound);
    return true;
}

/* Calls that the turn did not come to, or did not finish. */
static void give_up_calls(struct fold *f)
{
    for (size_t i = f->items.len; i-- > 0 && f->items.items[i]->kind != ITEM_USER;) {
        struct item *item = f->items.items[i];
        if (item->kind != ITEM_TOOL || item->answered || item->given_up)
            continue;
        item->given_up = true;
        item->change = ITEM_CHANGED;
    }
}

static void end_turn(struct fold *f)
{
    fold_close_texts(f);
    fold_leave_card(f);
    give_up_calls(f);
    f->turn_open = false;
}

/* A fork that ends in the midst of a turn has no answer either, but stops for another reason. */
static bool is_empty_answer(const struct event *ev)
{
    return ev->stop_reason == STOP_END_TURN && ev->text && !ev->text[item_blank_front(ev->text)];
}

bool fold_turn_completed(struct fold *f, const struct event *ev)
{
    static const char *const notes[] = {
        [STOP_MAX_TOKENS] = N_("the answer ends here because it reached its length limit"),
        [STOP_REFUSAL] = N_("the model declined to answer"),
        [STOP_CONTEXT_EXCEEDED] = N_("the conversation fills the model's context window"),
    };
    end_turn(f);
    if ((size_t)ev->stop_reason < sizeof notes / sizeof *notes && notes[ev->stop_reason])
        fold_add_dashed(f, _(notes[ev->stop_reason]), ev->seq);
    else if (is_empty_answer(ev))
        fold_add_note(f, STYLE_NOTE, _("(empty answer)"), ev->seq);
    return true;
}

/* The error says why the answer ends there; "interrupted" would be a second, wrong reason. */
bool fold_turn_failed(struct fold *f, const struct event *ev)
{
    end_turn(f);
    for (size_t i = f->items.len; f->partial && i-- > 0;) {
        struct item *item = f->items.items[i];
        if (item->partial) {
            item->partial = f->partial = false;
            item->change = ITEM_CHANGED;
        }
    }
    f->partial = false;
    const char *reason = ev->text && *ev->text ? ev->text : ev->name;
    bool budget = ev->name && strcmp(ev->name, err_info(ERR_BUDGET_EXHAUSTED)->name) == 0;
    char *text = budget ? mem_printf("%s\n%s", _("The budget is used up."), reason) : NULL;
    fold_add_note(f, STYLE_ERROR, text ? text : reason, ev->seq);
    free(text);
    return true;
}

bool fold_interrupted(struct fold *f, const struct event *ev)
{
    end_turn(f);
    if (!f->partial)
        fold_add_dashed(f, _("interrupted"), ev->seq);
    return true;
}

/* What is said in a turn: streamed text, tool calls and their results. */

/* --- streamed text --- */

static bool delta(struct fold *f, const struct event *ev, enum item_kind kind)
{
    struct item *item = f->open.len ? vec_last(&f->open) : NULL;
    const char *text = ev->text ? ev->text : "";
    if (!item || item->kind != kind) {
        text += item_blank_front(text);
        if (!*text)
            return false;
        item = fold_add_item(f, kind, ev->seq);
        item->streaming = true;
        vec_push(&f->open, item);
    }
    item_append(item, text);
    return true;
}

bool fold_text_delta(struct fold *f, const struct event *ev)
{
    return delta(f, ev, ITEM_ANSWER);
}

bool fold_reasoning_delta(struct fold *f, const struct event *ev)
{
    return delta(f, ev, ITEM_REASONING);
}

static struct item *first_open(struct fold *f, enum item_kind kind)
{
    for (size_t i = 0; i < f->open.len; i++) {
        struct item *item = f->open.items[i];
        if (item->kind == kind) {
            vec_remove(&f->open, i, 1);
            return item;
        }
    }
    return NULL;
}

static struct item *complete(struct fold *f, const struct event *ev, enum item_kind kind)
{
    const char *text = ev->text ? ev->text : "";
    struct item *item = first_open(f, kind);
    bool redacted = kind == ITEM_REASONING && ev->flag;
    if (!item && !redacted && !text[item_blank_front(text)])
        return NULL;
    if (!item)
        item = fold_add_item(f, kind, ev->seq);
    item_set_text(item, text);
    item_end_text(item);
    return item;
}

bool fold_text_complete(struct fold *f, const struct event *ev)
{
    struct item *item = complete(f, ev, ITEM_ANSWER);
    if (item && ev->flag) {
        item->partial = f->partial = true;
        if (item->change == ITEM_SAME)
            item->change = ITEM_GROWN; /* a row behind the text */
    }
    return item != NULL;
}

bool fold_reasoning_complete(struct fold *f, const struct event *ev)
{
    struct item *item = complete(f, ev, ITEM_REASONING);
    if (item)
        item->hidden_text = ev->flag;
    return item != NULL;
}

void fold_close_texts(struct fold *f)
{
    while (f->open.len > 0) {
        item_end_text(vec_last(&f->open));
        f->open.len--;
    }
}

void fold_drop_open(struct fold *f)
{
    while (f->open.len > 0) {
        size_t i = f->items.len;
        while (i > 0 && f->items.items[i - 1] != vec_last(&f->open))
            i--;
        if (i == 0)
            f->open.len--;
        else
            fold_remove_item(f, i - 1);
    }
}

/* --- tool calls --- */

bool fold_tool_requested(struct fold *f, const struct event *ev)
{
    struct item *item = fold_add_item(f, ITEM_TOOL, ev->seq);
    item_set_call(item, ev->id, ev->name, ev->text);
    return true;
}

/* What is told of a call that is on an older page. */
static struct item *add_orphan(struct fold *f, const struct event *ev, char *name)
{
    struct event request = {.seq = ev->seq, .id = ev->id, .name = name};
    fold_tool_requested(f, &request);
    struct item *item = vec_last(&f->items);
    item->orphan = true;
    return item;
}

struct item *fold_call_of(struct fold *f, const char *id)
{
    for (size_t i = f->items.len; id && i-- > 0;) {
        struct item *item = f->items.items[i];
        if (item->kind == ITEM_USER)
            break;
        if (item->kind == ITEM_TOOL && !item->answered && item->id && strcmp(item->id, id) == 0)
            return item;
    }
    return NULL;
}

bool fold_tool_completed(struct fold *f, const struct event *ev)
{
    const char *text = ev->text ? ev->text : "";
    struct item *item = fold_call_of(f, ev->id);
    if (!item)
        item = add_orphan(f, ev, ev->name);
    item_set_result(item, text, ev->flag, ev->number);
    return true;
}

static struct item *call_with_id(struct fold *f, const char *id)
{
    for (size_t i = f->items.len; id && i-- > 0 && f->items.items[i]->kind != ITEM_USER;) {
        struct item *item = f->items.items[i];
        if (item->kind == ITEM_TOOL && item->id && strcmp(item->id, id) == 0)
            return item;
    }
    return NULL;
}

void fold_give_recalled(struct item *call, struct recalled *recalled)
{
    recalled_free(call->recalled);
    call->recalled = recalled;
    call->change = ITEM_CHANGED;
}

bool fold_memory_recalled(struct fold *f, const struct event *ev)
{
    char name[] = "memory_search";
    struct item *item = call_with_id(f, ev->id);
    if (!ev->id)
        return false;
    if (!item)
        item = add_orphan(f, ev, name);
    fold_give_recalled(item, recalled_new(ev));
    return true;
}

/* Cards of compactions, and notes of pins. */

enum { QUOTE_COLUMNS = 40 };

/* The one that has no end, or one whose beginning is on an older page. */
static struct item *card_of(struct fold *f, const struct event *ev)
{
    if (f->card)
        return f->card;
    f->card = fold_add_item(f, ITEM_COMPACTION, ev->seq);
    compaction_card_new(f->card, f->hints);
    return f->card;
}

void fold_cut_off_card(struct fold *f)
{
    if (f->card)
        compaction_card_cut_off(f->card);
}

void fold_leave_card(struct fold *f)
{
    fold_cut_off_card(f);
    f->card = NULL;
}

bool fold_compaction_started(struct fold *f, const struct event *ev)
{
    fold_leave_card(f);
    compaction_card_start(card_of(f, ev), ev);
    return true;
}

bool fold_compaction_delta(struct fold *f, const struct event *ev)
{
    compaction_card_delta(card_of(f, ev), ev);
    return true;
}

bool fold_compaction_ended(struct fold *f, const struct event *ev)
{
    compaction_card_end(card_of(f, ev), ev);
    f->card = NULL;
    return true;
}

void fold_undo_card(struct fold *f, int64_t completed)
{
    for (size_t i = f->items.len; completed > 0 && i-- > 0;)
        if (compaction_card_completed(f->items.items[i]) == completed)
            compaction_card_undo(f->items.items[i]);
}

bool fold_compaction_undone(struct fold *f, const struct event *ev)
{
    fold_undo_card(f, ev->number);
    vec_push(&f->undone, ev->number);
    fold_add_dashed(
        f, _("compaction undone; the messages that it replaced are sent to the model again"),
        ev->seq);
    return true;
}

void fold_quote_message(const struct fold *f, int64_t seq, struct buf *out)
{
    for (size_t i = f->items.len; seq > 0 && i-- > 0;) {
        const struct item *item = f->items.items[i];
        if (item->seq != seq || (item->kind != ITEM_USER && item->kind != ITEM_ANSWER))
            continue;
        size_t line = strcspn(item->text.data, "\n"), cut;
        cut = utf8_cut_width(item->text.data, line, QUOTE_COLUMNS);
        buf_addf(out, ": %s%.*s%s%s", glyph(GLYPH_QUOTE_OPEN), (int)cut, item->text.data,
                 cut < line ? glyph(GLYPH_ELLIPSIS) : "", glyph(GLYPH_QUOTE_CLOSE));
        return;
    }
}

bool fold_message_pinned(struct fold *f, const struct event *ev)
{
    struct buf text = BUF_INIT;
    buf_addstr(&text,
               ev->flag ? _("pinned: no compaction drops this message") : _("no longer pinned"));
    fold_quote_message(f, ev->number, &text);
    fold_add_dashed(f, text.data, ev->seq);
    buf_release(&text);
    return true;
}

/* Older pages of events before those that are there. */

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
