/* The sources of what is around the view, one below the other. */
#include "base/i18n.h"
#include "ui/transcript/item_layout.h"
#include "ui/transcript/transcript_private.h"

static void begin(struct buf *out, const char *label)
{
    if (out->len > 0)
        buf_addch(out, '\n');
    if (label)
        buf_addf(out, "%s\n", label);
}

static void add_text(struct buf *out, const struct buf *text)
{
    buf_add(out, text->data, text->len);
    if (text->len > 0 && text->data[text->len - 1] != '\n')
        buf_addch(out, '\n');
}

static void add_call(struct buf *out, const struct item *item, bool open)
{
    buf_addf(out, "%s %s\n", item->name ? item->name : "", item->text.data);
    if (open)
        add_text(out, &item->result);
}

/* A compaction's card has no source of its own. */
static void add_item(struct buf *out, const struct item *item, enum reasoning_view reasoning)
{
    bool open = item_is_open(item, reasoning);
    if (item->kind == ITEM_COMPACTION || (item->kind == ITEM_REASONING && !open))
        return;
    begin(out, item->kind == ITEM_USER ? _("you") : item->label ? _("tiro") : NULL);
    if (item->kind == ITEM_TOOL)
        add_call(out, item, open);
    else
        add_text(out, &item->text);
}

static size_t source_len(const struct transcript *t, size_t index)
{
    const struct item *item = t->fold.items.items[index];
    return item->text.len + item->result.len + 1;
}

size_t transcript_source(struct transcript *t, size_t most, struct buf *out)
{
    size_t count, first = t->top.item, above = 0, at = 0;
    (void)transcript_rows(t, &count); /* brings the view up to date */
    if (count == 0)
        return 0;
    for (first = t->top.item; first > 0 && above + source_len(t, first - 1) <= most; first--)
        above += source_len(t, first - 1);
    for (size_t i = first, below = 0; i < t->fold.items.len; i++) {
        if (i == t->top.item)
            at = out->len;
        if (i > t->top.item && (below += source_len(t, i)) > most)
            break;
        add_item(out, t->fold.items.items[i], t->reasoning);
    }
    return t->follow ? out->len : at;
}
