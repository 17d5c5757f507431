/* A selected message of the transcript, and the numbers of the turns. */
#include <inttypes.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/transcript/transcript_private.h"

/* SIZE_MAX: none is selected, or it is not there any more. */
static size_t selected_index(const struct transcript *t)
{
    for (size_t i = item_count(t); t->selected && i-- > 0;)
        if (item_at(t, i) == t->selected)
            return i;
    return SIZE_MAX;
}

static bool is_selectable(struct transcript *t, size_t index)
{
    return item_at(t, index)->kind != ITEM_NOTE && transcript_rows_of(t, index) > 0;
}

/* Scrolls until the item is in the view, or begins where it begins. */
static void bring_into_view(struct transcript *t, size_t index)
{
    size_t count, rows = transcript_rows_from(t, index, 0), seen = 0;
    const struct transcript_row *visible = transcript_rows(t, &count);
    for (size_t i = 0; i < count; i++)
        seen += visible[i].item == index;
    if (seen >= rows || (count > 0 && seen == count))
        return;
    struct place top = {index, rows > 0 ? rows - 1 : 0}, first = {index, 0};
    bool below = count > 0 && index >= visible[count - 1].item;
    if (below)
        transcript_up(t, &top, (size_t)t->height - 1);
    transcript_show(t, !below || top.item == index ? first : top);
}

bool transcript_select(struct transcript *t, bool older)
{
    size_t count, now = selected_index(t), step = older ? (size_t)-1 : 1, next = now + step;
    if (now == SIZE_MAX) { /* the newest in the view */
        const struct transcript_row *rows = transcript_rows(t, &count);
        next = count > 0 ? rows[count - 1].item : SIZE_MAX;
        step = (size_t)-1;
    }
    while (next < item_count(t) && !is_selectable(t, next))
        next += step;
    if (next >= item_count(t))
        return false;
    t->selected = item_at(t, next);
    transcript_leave_end(t);
    bring_into_view(t, next);
    return true;
}

bool transcript_leave_selected(struct transcript *t)
{
    bool had = t->selected != NULL;
    t->selected = NULL;
    if (had && !t->follow)
        transcript_show(t, t->top); /* follows again if this is the end */
    return had;
}

bool transcript_selected(const struct transcript *t, struct transcript_selected *out)
{
    size_t index = selected_index(t), at = index, next = index + 1;
    if (index == SIZE_MAX)
        return false;
    const struct item *item = item_at(t, index), *turn;
    const struct buf *text = item->kind == ITEM_TOOL ? &item->result : &item->text;
    *out = (struct transcript_selected){.kind = item->kind,
                                        .item = index,
                                        .seq = item->seq,
                                        .text = item->raw ? item->raw : text->data,
                                        .rewound = item->rewound};
    while (at > 0 && item_at(t, at)->kind != ITEM_USER)
        at--;
    turn = item_at(t, at);
    if (turn->kind == ITEM_USER) {
        out->turn_seq = out->turn_last = turn->seq;
        out->turn_text = turn->raw ? turn->raw : turn->text.data;
    }
    for (; next < item_count(t) && item_at(t, next)->kind != ITEM_USER; next++)
        if (item_at(t, next)->kind <= ITEM_TOOL)
            out->turn_last = item_at(t, next)->seq;
    if (next == item_count(t) && !item->rewound)
        out->turn_last = 0;
    return true;
}

/* Marks a row in its first column, or a label as a whole, and adds the number to a label. */
static void mark_row(struct transcript *t, struct transcript_row *shown, bool selected, bool label,
                     size_t number)
{
    struct rows *out = &t->selected_rows;
    const struct row *row = &shown->rows->list.items[shown->index];
    const char *text = shown->rows->text.data + row->text;
    size_t first = 0;
    rows_begin(out);
    if (label) {
        rows_append_part(out, shown->rows, shown->index, 0, row->len,
                         selected ? STYLE_SELECTED : ROWS_AS_THEY_LOOK);
        auto_free char *added = mem_printf(" %s %zu", glyph(GLYPH_DOT), number);
        if (number > 0)
            rows_addstr(out, added, selected ? STYLE_SELECTED : STYLE_DIM, 0);
    } else {
        rows_addstr(out, glyph(GLYPH_POINTER), STYLE_SELECTED, 0);
        while (first < row->len && (first == 0 || ((unsigned char)text[first] & 0xc0) == 0x80))
            first++;
        rows_append_part(out, shown->rows, shown->index, first, row->len, ROWS_AS_THEY_LOOK);
    }
    shown->rows = out;
    shown->index = out->list.len - 1;
}

void transcript_mark_selected(struct transcript *t)
{
    size_t index = selected_index(t), number = 0, at = 0, row = t->top.row;
    rows_clear(&t->selected_rows);
    if (index == SIZE_MAX)
        t->selected = NULL;
    for (size_t i = 0; t->selected && i < t->visible.len; i++) {
        struct transcript_row *shown = &t->visible.items[i];
        const struct item *item = item_at(t, shown->item);
        for (; at <= shown->item; at++)
            number += item_at(t, at)->kind == ITEM_USER && !item_at(t, at)->rewound;
        bool has_label = item->kind == ITEM_USER || item->label;
        if (i > 0) /* dimmed rows have other indexes */
            row = shown->item == t->visible.items[i - 1].item ? row + 1 : 0;
        bool label = has_label && row == item->lead, blank = item->lead && row == 0;
        bool numbered = label && !item->rewound && !t->fold.more;
        if (numbered || (shown->item == index && !blank))
            mark_row(t, shown, shown->item == index, label, numbered ? number : 0);
    }
}
