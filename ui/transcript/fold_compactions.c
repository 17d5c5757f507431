/* Cards of compactions, and notes of pins. */
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/transcript/fold.h"

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
