#include "ui/transcript/transcript_private.h"

#include <stdint.h>

static bool previous_item(struct transcript *t, size_t *index, size_t *rows)
{
    for (size_t i = *index; i-- > 0;) {
        *rows = transcript_rows_of(t, i);
        *index = i;
        if (*rows > 0)
            return true;
    }
    return false;
}

static bool next_item(struct transcript *t, size_t *index)
{
    for (size_t i = *index + 1; i < item_count(t); i++) {
        if (transcript_rows_of(t, i) > 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

size_t transcript_up(struct transcript *t, struct place *p, size_t rows)
{
    size_t moved = 0;
    while (moved < rows) {
        size_t step = p->row < rows - moved ? p->row : rows - moved, item = p->item, count;
        p->row -= step;
        moved += step;
        if (moved == rows || !previous_item(t, &item, &count))
            break;
        *p = (struct place){item, count - 1};
        moved++;
    }
    return moved;
}

size_t transcript_down(struct transcript *t, struct place *p, size_t rows)
{
    size_t moved = 0;
    while (moved < rows) {
        size_t count = transcript_rows_of(t, p->item), item = p->item;
        size_t left = count > p->row + 1 ? count - 1 - p->row : 0;
        size_t step = left < rows - moved ? left : rows - moved;
        p->row += step;
        moved += step;
        if (moved == rows || !next_item(t, &item))
            break;
        *p = (struct place){item, 0};
        moved++;
    }
    return moved;
}

struct place transcript_end_top(struct transcript *t)
{
    size_t item = item_count(t), rows = 0;
    if (!previous_item(t, &item, &rows))
        return (struct place){0};
    struct place p = {item, rows - 1};
    transcript_up(t, &p, (size_t)t->height - 1);
    return p;
}

static bool is_before(struct place a, struct place b)
{
    return a.item < b.item || (a.item == b.item && a.row < b.row);
}

void transcript_count_from_last(struct transcript *t)
{
    t->unread_from = item_count(t) ? item_count(t) - 1 : 0;
    if (item_count(t))
        item_at(t, t->unread_from)->counted = transcript_rows_of(t, t->unread_from);
}

/* Rows below the view count as news from now on. */
static void leave_end(struct transcript *t)
{
    if (!t->follow)
        return;
    t->follow = false;
    t->unread = 0;
    transcript_count_from_last(t);
}

void transcript_count_unread(struct transcript *t)
{
    for (size_t i = t->unread_from; i < item_count(t); i++) {
        struct item *item = item_at(t, i);
        size_t rows = transcript_rows_of(t, i);
        if (rows > item->counted)
            t->unread += rows - item->counted;
        item->counted = rows;
    }
    t->unread_from = item_count(t) ? item_count(t) - 1 : 0;
}

void transcript_clamp_top(struct transcript *t)
{
    if (t->top.item >= item_count(t))
        t->top = (struct place){item_count(t) - 1, SIZE_MAX};
    size_t rows = transcript_rows_of(t, t->top.item);
    if (t->top.row >= rows)
        t->top.row = rows ? rows - 1 : 0;
}

void transcript_show(struct transcript *t, struct place top)
{
    struct place last = transcript_end_top(t);
    if (is_before(top, last)) {
        leave_end(t);
        t->top = top;
    } else {
        t->follow = true;
        t->top = last;
    }
}

/* The row that shows the same text at the new width: as far into the item's text as it was. */
static size_t same_row(struct transcript *t, size_t index, double part)
{
    size_t rows = transcript_rows_of(t, index), row = 0;
    const struct rows *laid = &item_at(t, index)->rows;
    while (row + 1 < rows && laid->list.items[row + 1].text <= part * (double)laid->text.len + 0.5)
        row++;
    return row;
}

static double part_above(const struct transcript *t)
{
    const struct rows *laid = &item_at(t, t->top.item)->rows;
    if (t->top.row >= laid->list.len || laid->text.len == 0)
        return 0;
    return (double)laid->list.items[t->top.row].text / (double)laid->text.len;
}

/* Matches are in rows. */
static void set_width(struct transcript *t, int width)
{
    if (width == t->width)
        return;
    size_t rank = transcript_match_rank(t);
    t->search++;
    t->width = width;
    transcript_match_set_rank(t, rank);
}

void transcript_resize(struct transcript *t, int width, int height)
{
    width = width < 1 ? 1 : width;
    bool keep = !t->follow && item_count(t) > 0 && width != t->width;
    double part = 0;
    if (keep) {
        transcript_clamp_top(t);
        (void)transcript_rows_from(t, t->top.item, 0);
        part = part_above(t);
    }
    bool top_row = t->top.row == 0;
    t->chose_cited = t->chose_cited && width == t->width;
    set_width(t, width);
    t->height = height < 1 ? 1 : height;
    if (!keep)
        return;
    t->top.row = top_row ? 0 : same_row(t, t->top.item, part);
    item_at(t, t->unread_from)->counted = transcript_rows_of(t, t->unread_from);
}

bool transcript_scroll(struct transcript *t, int rows)
{
    if (item_count(t) == 0 || rows == 0)
        return false;
    if (t->follow)
        t->top = transcript_end_top(t);
    else
        transcript_clamp_top(t);
    struct place to = t->top;
    size_t moved = rows > 0 ? transcript_up(t, &to, (size_t)rows)
                            : transcript_down(t, &to, (size_t)(-(long)rows));
    bool followed = t->follow;
    if (moved == 0)
        return false;
    transcript_show(t, to);
    return followed != t->follow || !followed;
}

bool transcript_scroll_to_end(struct transcript *t)
{
    bool moved = !t->follow;
    t->follow = true;
    return moved;
}

bool transcript_scroll_to_top(struct transcript *t)
{
    if (item_count(t) == 0)
        return false;
    struct place before = t->follow ? transcript_end_top(t) : t->top, to = {0};
    while (to.item + 1 < item_count(t) && transcript_rows_of(t, to.item) == 0)
        to.item++;
    transcript_show(t, to);
    return before.item != t->top.item || before.row != t->top.row;
}

/* Notes of our own have the number of what they follow. */
static size_t item_of_event(const struct transcript *t, int64_t seq)
{
    for (size_t i = item_count(t); i-- > 0;)
        if (item_at(t, i)->seq <= seq && item_at(t, i)->kind != ITEM_NOTE)
            return i;
    return SIZE_MAX;
}

struct transcript_place transcript_place(const struct transcript *t)
{
    size_t index = t->top.item;
    if (t->follow || index >= item_count(t))
        return (struct transcript_place){0};
    while (index > 0 && item_at(t, index)->kind == ITEM_NOTE)
        index--;
    size_t lead = item_at(t, index)->lead, row = index == t->top.item ? t->top.row : 0;
    return (struct transcript_place){item_at(t, index)->seq, row > lead ? row - lead : 0};
}

bool transcript_show_place(struct transcript *t, const struct transcript_place *place)
{
    if (place->seq == 0) {
        (void)transcript_scroll_to_end(t);
        return true;
    }
    size_t index = item_of_event(t, place->seq);
    if (index == SIZE_MAX) {
        (void)transcript_scroll_to_top(t);
        return false;
    }
    while (index > 0 && transcript_rows_of(t, index) == 0) /* reasoning may be hidden */
        index--;
    size_t row = item_at(t, index)->lead + place->row, rows = transcript_rows_of(t, index);
    transcript_show(t, (struct place){index, row < rows ? row : rows > 0 ? rows - 1 : 0});
    return true;
}

bool transcript_at_end(const struct transcript *t)
{
    return t->follow;
}

int transcript_unread(const struct transcript *t)
{
    return t->follow ? 0 : (int)t->unread;
}

void transcript_hold_top(struct transcript *t)
{
    if (!t->follow)
        return;
    struct place top = transcript_end_top(t);
    leave_end(t);
    t->top = top;
}
