/* How a turn begins and ends, what is tried again, and what is to be known of it. */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/transcript/fold.h"

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
