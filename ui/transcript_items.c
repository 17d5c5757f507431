#include "ui/transcript_items.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/format.h"
#include "ui/glyph.h"
#include "ui/recalled.h"

enum { QUOTE_COLUMNS = 40 };

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

/* Whether there is a blank row before an item depends on what it follows. */
static void set_lead(struct fold *f, size_t index)
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

static struct item *add_item(struct fold *f, enum item_kind kind, int64_t seq)
{
    bool spoken = is_spoken(kind);
    struct item *item = item_new(kind, seq ? seq : f->last_seq);
    item->label = spoken && f->need_label;
    if (spoken)
        f->need_label = false;
    vec_push(&f->items, item);
    set_lead(f, f->items.len - 1);
    return item;
}

static void forget_open(struct fold *f, const struct item *item)
{
    for (size_t i = f->open.len; i-- > 0;)
        if (f->open.items[i] == item)
            vec_remove(&f->open, i, 1);
}

static void remove_item(struct fold *f, size_t index)
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
        set_lead(f, index);
    if (index < f->first_removed)
        f->first_removed = index;
}

static struct item *add_note(struct fold *f, enum style style, const char *text, int64_t seq)
{
    struct item *item = add_item(f, ITEM_NOTE, seq);
    item->style = style;
    utf8_clean(&item->text, text ? text : "", text ? strlen(text) : 0, UTF8_MULTILINE);
    return item;
}

static struct item *add_dashed(struct fold *f, const char *text, int64_t seq)
{
    char *whole = mem_printf("%s %s", glyph(GLYPH_DASH), text);
    struct item *item = add_note(f, STYLE_NOTE, whole, seq);
    free(whole);
    return item;
}

/* --- streamed text --- */

static bool delta(struct fold *f, const struct event *ev, enum item_kind kind)
{
    struct item *item = f->open.len ? vec_last(&f->open) : NULL;
    const char *text = ev->text ? ev->text : "";
    if (!item || item->kind != kind) {
        text += text_blank_front(text);
        if (!*text)
            return false;
        item = add_item(f, kind, ev->seq);
        item->streaming = true;
        vec_push(&f->open, item);
    }
    item_append(item, text);
    return true;
}

static bool text_delta(struct fold *f, const struct event *ev)
{
    return delta(f, ev, ITEM_ANSWER);
}

static bool reasoning_delta(struct fold *f, const struct event *ev)
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
    if (!item && !redacted && !text[text_blank_front(text)])
        return NULL;
    if (!item)
        item = add_item(f, kind, ev->seq);
    item_set_text(item, text);
    item_end_text(item);
    return item;
}

static bool text_complete(struct fold *f, const struct event *ev)
{
    struct item *item = complete(f, ev, ITEM_ANSWER);
    if (item && ev->flag) {
        item->partial = f->partial = true;
        item->change = ITEM_CHANGED;
    }
    return item != NULL;
}

static bool reasoning_complete(struct fold *f, const struct event *ev)
{
    struct item *item = complete(f, ev, ITEM_REASONING);
    if (item)
        item->hidden_text = ev->flag;
    return item != NULL;
}

/* --- tool calls --- */

static bool tool_requested(struct fold *f, const struct event *ev)
{
    struct item *item = add_item(f, ITEM_TOOL, ev->seq);
    item_set_call(item, ev->id, ev->name, ev->text);
    return true;
}

static struct item *call_of(struct fold *f, const char *id)
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

static bool tool_completed(struct fold *f, const struct event *ev)
{
    const char *text = ev->text ? ev->text : "";
    struct item *item = call_of(f, ev->id);
    if (!item) {
        struct event request = {.seq = ev->seq, .id = ev->id, .name = ev->name};
        tool_requested(f, &request);
        item = vec_last(&f->items);
        item->orphan = true;
    }
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

static void give_recalled(struct item *call, struct recalled *recalled)
{
    recalled_free(call->recalled);
    call->recalled = recalled;
    call->change = ITEM_CHANGED;
}

static bool memory_recalled(struct fold *f, const struct event *ev)
{
    struct item *item = call_with_id(f, ev->id);
    if (!ev->id)
        return false;
    if (!item) {
        char name[] = "memory_search";
        struct event request = {.seq = ev->seq, .id = ev->id, .name = name};
        tool_requested(f, &request);
        item = vec_last(&f->items);
        item->orphan = true;
    }
    give_recalled(item, recalled_new(ev));
    return true;
}

/* --- compactions --- */

/* The one that has no end, or one whose beginning is on an older page. */
static struct item *card_of(struct fold *f, const struct event *ev)
{
    if (f->card)
        return f->card;
    f->card = add_item(f, ITEM_COMPACTION, ev->seq);
    compaction_card_new(f->card, f->hints);
    return f->card;
}

static void cut_off_card(struct fold *f)
{
    if (f->card)
        compaction_card_cut_off(f->card);
}

static void leave_card(struct fold *f)
{
    cut_off_card(f);
    f->card = NULL;
}

static bool compaction_started(struct fold *f, const struct event *ev)
{
    leave_card(f);
    compaction_card_start(card_of(f, ev), ev);
    return true;
}

static bool compaction_delta(struct fold *f, const struct event *ev)
{
    compaction_card_delta(card_of(f, ev), ev);
    return true;
}

static bool compaction_ended(struct fold *f, const struct event *ev)
{
    compaction_card_end(card_of(f, ev), ev);
    f->card = NULL;
    return true;
}

static void undo_card(struct fold *f, int64_t completed)
{
    for (size_t i = f->items.len; completed > 0 && i-- > 0;)
        if (compaction_card_completed(f->items.items[i]) == completed)
            compaction_card_undo(f->items.items[i]);
}

static bool compaction_undone(struct fold *f, const struct event *ev)
{
    undo_card(f, ev->number);
    vec_push(&f->undone, ev->number);
    add_dashed(f, _("the compaction was taken back; the model is sent all of it again"), ev->seq);
    return true;
}

/* The beginning of the message's first line; nothing if it is not here. */
static void quote_message(const struct fold *f, int64_t seq, struct buf *out)
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

static bool message_pinned(struct fold *f, const struct event *ev)
{
    struct buf text = BUF_INIT;
    buf_addstr(&text, ev->flag ? _("pinned: no compaction takes it away") : _("no longer pinned"));
    quote_message(f, ev->number, &text);
    add_dashed(f, text.data, ev->seq);
    buf_release(&text);
    return true;
}

/* --- runs --- */

static void close_texts(struct fold *f)
{
    while (f->open.len > 0) {
        item_end_text(vec_last(&f->open));
        f->open.len--;
    }
}

static void drop_open(struct fold *f)
{
    while (f->open.len > 0) {
        size_t i = f->items.len;
        while (i > 0 && f->items.items[i - 1] != vec_last(&f->open))
            i--;
        if (i == 0)
            f->open.len--;
        else
            remove_item(f, i - 1);
    }
}

static void cut_off_note(struct fold *f)
{
    f->cut_off = add_dashed(f, _("cut off; /retry sends it again"), f->last_seq);
}

static int64_t earlier(const struct item *item, int64_t from)
{
    return item->kind == ITEM_USER && item->from < from ? item->from : from;
}

/* What became of the conversation is not taken back with a run. */
static bool outlives_run(const struct item *item)
{
    return item->card && item->card->ended;
}

/* The run's beginning may be on an older page, which then drops it. Returns where the turn began.
 */
static int64_t take_back(struct fold *f, int64_t from, int64_t to)
{
    struct taken_back range = {from, to};
    int64_t began = from;
    for (size_t i = f->items.len; i-- > 0 && f->items.items[i]->seq >= from;) {
        began = earlier(f->items.items[i], began);
        if (!outlives_run(f->items.items[i]))
            remove_item(f, i);
    }
    if (from < f->first_seq)
        vec_push(&f->taken_back, range);
    return began;
}

static bool run_started(struct fold *f, const struct event *ev)
{
    const char *text = ev->text ? ev->text : "";
    int64_t from = ev->seq;
    close_texts(f);
    leave_card(f);
    if (ev->number > 0)
        from = take_back(f, ev->number, ev->seq);
    else if (f->run_open && !f->cut_off)
        cut_off_note(f);
    f->cut_off = NULL;
    struct item *item = add_item(f, ITEM_USER, ev->seq);
    item->from = from;
    utf8_clean(&item->text, text, strlen(text), UTF8_MULTILINE);
    item_add_images(item, ev->attachments);
    f->need_label = true;
    f->run_open = true;
    f->partial = false;
    return true;
}

static bool turn_completed(struct fold *f, const struct event *ev)
{
    bool any = f->open.len > 0;
    (void)ev;
    close_texts(f);
    return any;
}

static bool retrying(struct fold *f, const struct event *ev)
{
    bool any = f->open.len > 0 || f->card;
    (void)ev;
    drop_open(f);
    if (f->card)
        compaction_card_restart(f->card);
    return any;
}

static bool warning(struct fold *f, const struct event *ev)
{
    add_note(f, STYLE_WARNING, ev->text && *ev->text ? ev->text : ev->name, ev->seq);
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

static bool budget_warning(struct fold *f, const struct event *ev)
{
    const char *kind = ev->name ? ev->name : "";
    bool time = strstr(kind, "duration") != NULL;
    struct buf used = BUF_INIT, bound = BUF_INIT;
    add_amount(&used, kind, ev->used);
    add_amount(&bound, kind, ev->bound);
    char *text =
        mem_printf(time ? _("%d %% of %s used: %s of %s seconds") : _("%d %% of %s used: %s of %s"),
                   ev->count, kind, used.data, bound.data);
    add_note(f, STYLE_WARNING, text, ev->seq);
    free(text);
    buf_release(&used);
    buf_release(&bound);
    return true;
}

/* Calls that the run did not come to, or did not finish. */
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

static void end_run(struct fold *f)
{
    close_texts(f);
    leave_card(f);
    give_up_calls(f);
    f->run_open = false;
}

static bool run_completed(struct fold *f, const struct event *ev)
{
    static const char *const notes[] = {
        [STOP_MAX_TOKENS] = N_("the answer ends here because it reached its length limit"),
        [STOP_REFUSAL] = N_("the model declined to answer"),
        [STOP_CONTEXT_EXCEEDED] = N_("the conversation fills the model's context window"),
    };
    end_run(f);
    if ((size_t)ev->stop_reason < sizeof notes / sizeof *notes && notes[ev->stop_reason])
        add_dashed(f, _(notes[ev->stop_reason]), ev->seq);
    return true;
}

/* The error says why the answer ends there; "interrupted" would be a second, wrong reason. */
static bool run_failed(struct fold *f, const struct event *ev)
{
    end_run(f);
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
    add_note(f, STYLE_ERROR, text ? text : reason, ev->seq);
    free(text);
    return true;
}

static bool interrupted(struct fold *f, const struct event *ev)
{
    end_run(f);
    if (!f->partial)
        add_dashed(f, _("interrupted"), ev->seq);
    return true;
}

static bool (*const effects[EVENT_TYPE_COUNT])(struct fold *, const struct event *) = {
    [EVENT_RUN_STARTED] = run_started,
    [EVENT_TEXT_DELTA] = text_delta,
    [EVENT_REASONING_DELTA] = reasoning_delta,
    [EVENT_REASONING_COMPLETE] = reasoning_complete,
    [EVENT_TEXT_COMPLETE] = text_complete,
    [EVENT_TOOL_CALL_REQUESTED] = tool_requested,
    [EVENT_TOOL_EXECUTION_COMPLETED] = tool_completed,
    [EVENT_TURN_COMPLETED] = turn_completed,
    [EVENT_RETRYING] = retrying,
    [EVENT_COMPACTION_STARTED] = compaction_started,
    [EVENT_COMPACTION_DELTA] = compaction_delta,
    [EVENT_COMPACTION_COMPLETED] = compaction_ended,
    [EVENT_COMPACTION_FAILED] = compaction_ended,
    [EVENT_COMPACTION_UNDONE] = compaction_undone,
    [EVENT_MESSAGE_PINNED] = message_pinned,
    [EVENT_MEMORY_RECALLED] = memory_recalled,
    [EVENT_WARNING] = warning,
    [EVENT_BUDGET_WARNING] = budget_warning,
    [EVENT_RUN_COMPLETED] = run_completed,
    [EVENT_RUN_FAILED] = run_failed,
    [EVENT_INTERRUPTED] = interrupted,
};

static void drop_cut_off(struct fold *f)
{
    for (size_t i = f->items.len; f->cut_off && i-- > 0;)
        if (f->items.items[i] == f->cut_off)
            remove_item(f, i);
}

bool fold_apply(struct fold *f, const struct event *ev)
{
    if (ev->seq > 0 && ev->seq <= f->last_seq)
        return false;
    if (f->first_seq == 0)
        f->first_seq = ev->seq;
    if (f->cut_off && ev->type != EVENT_RUN_STARTED)
        drop_cut_off(f); /* the run goes on after all */
    bool changed = effects[ev->type] && effects[ev->type](f, ev);
    if (ev->seq > 0)
        f->last_seq = ev->seq;
    return changed;
}

void fold_note(struct fold *f, enum style style, const char *text)
{
    add_note(f, style, text, f->last_seq);
}

/* --- older pages --- */

static void adopt_result(struct fold *older, struct fold *f)
{
    for (size_t i = 0; i < f->items.len && f->items.items[i]->kind != ITEM_USER;) {
        struct item *orphan = f->items.items[i];
        struct item *call = orphan->orphan ? call_of(older, orphan->id) : NULL;
        if (!call) {
            i++;
            continue;
        }
        if (orphan->recalled)
            give_recalled(call, orphan->recalled);
        orphan->recalled = NULL;
        struct buf result = orphan->result;
        buf_init(&orphan->result, 0);
        buf_release(&call->result);
        call->result = result;
        call->result_lines = orphan->result_lines;
        call->ms = orphan->ms;
        call->answered = true;
        call->failed = orphan->failed;
        remove_item(f, i);
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
            if (seq < range.from || seq >= range.to || outlives_run(older->items.items[i]))
                continue;
            began = earlier(older->items.items[i], began);
            remove_item(older, i);
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
        leave_card(older);
        return;
    }
    compaction_card_join(first, older->card);
    for (size_t i = older->items.len; older->card && i-- > 0;)
        if (older->items.items[i] == older->card)
            remove_item(older, i);
}

static void join_undone(struct fold *f, struct fold *older)
{
    for (size_t i = 0; i < f->undone.len; i++)
        undo_card(older, f->undone.items[i]);
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
    close_texts(page);
    cut_off_card(page);
    if (page->run_open)
        cut_off_note(page);
    f->last_seq = page->last_seq;
    f->need_label = page->need_label;
    f->run_open = page->run_open;
    f->partial = page->partial;
    f->cut_off = page->cut_off;
    f->card = page->card;
}

/* The run at the border goes on there, or it died before the page that is there began. */
static void join_runs(struct fold *f, struct fold *older)
{
    struct item *first = f->items.len ? f->items.items[0] : NULL;
    if (!first || !older->run_open)
        return;
    if (first->kind == ITEM_USER) {
        close_texts(older);
        cut_off_note(older);
        return;
    }
    drop_open(older); /* complete on the page that is there */
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
        join_runs(f, &older);
        drop_taken_back(&older, f);
    }
    join_undone(f, &older);
    f->more = more;
    size_t added = older.items.len;
    put_in_front(f, &older);
    if (added < f->items.len)
        set_lead(f, added);
    fold_release(&older);
    return added;
}
