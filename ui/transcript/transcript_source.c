/* What is read out of the transcript: sources, turns. */
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
    const struct item *item = item_at(t, index);
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
    for (size_t i = first, below = 0; i < item_count(t); i++) {
        if (i == t->top.item)
            at = out->len;
        if (i > t->top.item && (below += source_len(t, i)) > most)
            break;
        add_item(out, item_at(t, i), t->reasoning);
    }
    return t->follow ? out->len : at;
}

/* --- copying --- */

const char *transcript_last_answer(const struct transcript *t)
{
    for (size_t i = item_count(t); i-- > 0;)
        if (item_at(t, i)->kind == ITEM_ANSWER)
            return item_at(t, i)->text.data;
    return NULL;
}

char *transcript_last_code(const struct transcript *t)
{
    char *code = NULL;
    for (size_t i = item_count(t); i-- > 0 && !code;) {
        const struct buf *text = &item_at(t, i)->text;
        if (item_at(t, i)->kind == ITEM_ANSWER)
            code = markdown_last_code(text->data, text->len);
    }
    return code;
}

/* --- turns, as a person counts them --- */

/* Up to where the next one begins. */
static int64_t last_of(const struct fold *f, size_t index)
{
    for (size_t i = index + 1; i < f->items.len; i++)
        if (f->items.items[i]->kind == ITEM_USER)
            return f->items.items[i]->from - 1;
    return f->last_seq;
}

void transcript_each_turn(const struct transcript *t,
                          void (*visit)(void *context, const struct transcript_turn *turn),
                          void *context)
{
    const struct fold *f = &t->fold;
    struct transcript_turn turn = {0};
    for (size_t i = 0; i < f->items.len; i++) {
        if (f->items.items[i]->kind != ITEM_USER)
            continue;
        turn.number++;
        turn.text = f->items.items[i]->text.data;
        turn.seq = f->items.items[i]->seq;
        turn.last = last_of(f, i);
        visit(context, &turn);
    }
}

int64_t transcript_oldest(const struct transcript *t)
{
    return t->fold.more ? t->fold.first_seq : 0;
}
