#include "ui/transcript/transcript.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/transcript/item.h"
#include "ui/transcript/transcript_private.h"

enum {
    SCREENS_KEPT = 10, /* above and below the view, rows stay laid out */
    SCREENS_LAID = 30, /* more than these, and the ones far away are freed */
    SCREENS_AHEAD = 2, /* that near to the top, an older page is wanted */
    UNSEEN_ROWS = 2    /* guess for an item without rows */
};

struct transcript *transcript_new(void)
{
    struct transcript *t = mem_alloc(sizeof *t);
    t->fold = FOLD_INIT;
    t->fold.hints = &t->hints;
    rows_init(&t->marked);
    rows_init(&t->cited_rows);
    rows_init(&t->dimmed);
    rows_init(&t->selected_rows);
    t->follow = true;
    t->pace = t->room = SIZE_MAX;
    t->width = 80;
    t->height = 24;
    return t;
}

void transcript_free(struct transcript *t)
{
    if (!t)
        return;
    fold_release(&t->fold);
    free(t->hints.cancel);
    free(t->hints.open);
    free(t->hints.leave_out);
    free(t->needle);
    rows_release(&t->marked);
    rows_release(&t->cited_rows);
    rows_release(&t->dimmed);
    rows_release(&t->selected_rows);
    vec_release(&t->cited);
    vec_release(&t->visible);
    vec_release(&t->laid);
    free(t);
}

void transcript_clear(struct transcript *t)
{
    fold_release(&t->fold);
    t->fold = FOLD_INIT;
    t->fold.hints = &t->hints;
    transcript_look_for(t, NULL);
    vec_clear(&t->laid);
    vec_clear(&t->visible);
    t->follow = true;
    t->top = (struct place){0};
    t->unread = t->unread_from = 0;
    t->chose_cited = false;
    t->selected = NULL;
}

void transcript_set_reasoning(struct transcript *t, enum reasoning_view view)
{
    t->reasoning = view;
    for (size_t i = 0; i < item_count(t); i++)
        if (item_at(t, i)->kind == ITEM_REASONING)
            item_at(t, i)->change = ITEM_CHANGED;
}

const struct recalled *transcript_last_sent(const struct transcript *t)
{
    for (size_t i = item_count(t); i-- > 0;)
        if (item_at(t, i)->recalled && item_at(t, i)->recalled->tokens > 0)
            return item_at(t, i)->recalled;
    return NULL;
}

void transcript_set_hints(struct transcript *t, const char *cancel, const char *open,
                          const char *leave_out, bool settings)
{
    free(t->hints.cancel);
    free(t->hints.open);
    free(t->hints.leave_out);
    t->hints =
        (struct card_hints){mem_strdup(cancel), mem_strdup(open), mem_strdup(leave_out), settings};
}

/* In the middle of a text the view needs all rows of the text at once: rows that come later would
 * move the view. */
size_t transcript_rows_of(struct transcript *t, size_t index)
{
    struct item *item = item_at(t, index);
    bool grows = item->width == t->width && item->change != ITEM_CHANGED;
    size_t all = SIZE_MAX;
    if (item->width == 0)
        vec_push(&t->laid, item);
    return item_lay_out(item, t->width, t->reasoning, grows || t->follow ? &t->room : &all);
}

size_t transcript_rows_from(struct transcript *t, size_t index, size_t row)
{
    struct item *item = item_at(t, index);
    size_t all = SIZE_MAX;
    if (row >= item->gone)
        return transcript_rows_of(t, index);
    item->change = ITEM_CHANGED;
    return item_lay_out(item, t->width, t->reasoning, &all);
}

void transcript_set_pace(struct transcript *t, size_t bytes)
{
    t->pace = bytes;
}

bool transcript_is_behind(const struct transcript *t)
{
    for (size_t i = 0; i < t->laid.len; i++)
        if (item_is_behind(t->laid.items[i]))
            return true;
    return false;
}

/* --- places in the view --- */

size_t transcript_up(struct transcript *t, struct place *p, size_t rows)
{
    size_t moved = 0;
    while (moved < rows) {
        size_t step = p->row < rows - moved ? p->row : rows - moved, item = p->item, count = 0;
        p->row -= step;
        moved += step;
        while (moved < rows && item > 0 && count == 0)
            count = transcript_rows_of(t, --item);
        if (count == 0)
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
        size_t count = transcript_rows_of(t, p->item), next = p->item + 1;
        size_t left = count > p->row + 1 ? count - 1 - p->row : 0;
        size_t step = left < rows - moved ? left : rows - moved;
        p->row += step;
        moved += step;
        while (moved < rows && next < item_count(t) && transcript_rows_of(t, next) == 0)
            next++;
        if (moved == rows || next >= item_count(t))
            break;
        *p = (struct place){next, 0};
        moved++;
    }
    return moved;
}

static struct place end_top(struct transcript *t)
{
    struct place p = {item_count(t), 0}; /* behind the end */
    return transcript_up(t, &p, (size_t)t->height) > 0 ? p : (struct place){0};
}

static void count_from_last(struct transcript *t)
{
    t->unread_from = item_count(t) ? item_count(t) - 1 : 0;
    if (item_count(t))
        item_at(t, t->unread_from)->counted = transcript_rows_of(t, t->unread_from);
}

/* The view leaves the end; the rows that come below it from now on are news. */
void transcript_leave_end(struct transcript *t)
{
    if (!t->follow)
        return;
    t->follow = false;
    t->unread = 0;
    count_from_last(t);
}

/* After items were removed, the place at the top may be behind the end. */
static void clamp_top(struct transcript *t)
{
    if (t->top.item >= item_count(t))
        t->top = (struct place){item_count(t) - 1, SIZE_MAX};
    size_t rows = transcript_rows_of(t, t->top.item);
    if (t->top.row >= rows)
        t->top.row = rows ? rows - 1 : 0;
}

void transcript_show(struct transcript *t, struct place top)
{
    struct place last = end_top(t);
    if (top.item < last.item || (top.item == last.item && top.row < last.row)) {
        transcript_leave_end(t);
        t->top = top;
    } else {
        t->follow = true;
        t->top = last;
    }
}

/* --- events --- */

static void after_removal(struct transcript *t)
{
    if (t->fold.first_removed == SIZE_MAX)
        return;
    vec_clear(&t->laid);
    vec_clear(&t->visible);
    for (size_t i = 0; i < item_count(t); i++)
        if (item_at(t, i)->width)
            vec_push(&t->laid, item_at(t, i));
    if (t->top.item >= t->fold.first_removed)
        t->follow = true;
    if (t->unread_from >= t->fold.first_removed)
        count_from_last(t);
    if (t->match.item >= t->fold.first_removed)
        t->found = false;
    t->fold.first_removed = SIZE_MAX;
}

size_t transcript_item_count(const struct transcript *t)
{
    return item_count(t);
}

struct item *transcript_item(struct transcript *t, size_t index)
{
    return item_at(t, index);
}

bool transcript_apply(struct transcript *t, const struct event *ev)
{
    bool changed = fold_apply(&t->fold, ev);
    after_removal(t);
    return changed;
}

void transcript_note(struct transcript *t, enum style style, const char *text, bool brief)
{
    fold_note(&t->fold, style, text, 0)->brief = brief;
}

void transcript_decided(struct transcript *t, const char *id, bool kept, const char *text)
{
    auto_free char *words = mem_printf(kept ? _("remembered: %s") : _("not remembered: %s"), text);
    auto_free char *line = mem_printf("%s %s", glyph(GLYPH_DASH), words);
    fold_drop_brief(&t->fold); /* the note with its keys */
    after_removal(t);
    for (size_t i = 0; i < item_count(t); i++)
        if (item_at(t, i)->kind == ITEM_NOTE && item_at(t, i)->id &&
            strcmp(item_at(t, i)->id, id) == 0)
            item_set_text(item_at(t, i), line);
}

/* The index of the item that was at `old`, before items came in front and a few were merged. */
static size_t new_index(const struct transcript *t, const struct item *item, size_t old,
                        size_t old_count, size_t added)
{
    size_t merged = old_count + added - item_count(t);
    size_t index = old + added;
    for (size_t i = index > merged ? index - merged : 0; i < item_count(t) && i <= index; i++)
        if (item_at(t, i) == item)
            return i;
    return index < item_count(t) ? index : item_count(t) - 1;
}

void transcript_prepend(struct transcript *t, struct event *const *events, size_t count, bool more)
{
    size_t old_count = item_count(t), rows = 0;
    const struct item *top = NULL, *first = old_count ? item_at(t, 0) : NULL, *news = NULL;
    const struct item *match = NULL;
    if (old_count) {
        clamp_top(t);
        top = item_at(t, t->top.item);
        news = item_at(t, t->unread_from);
        rows = transcript_rows_of(t, t->top.item);
        match = t->found ? item_at(t, t->match.item) : NULL;
    }
    t->chose_cited = false; /* by its place, which is another now */
    size_t added = fold_prepend(&t->fold, events, count, more);
    if (old_count) {
        t->top.item = new_index(t, top, t->top.item, old_count, added);
        t->unread_from = new_index(t, news, t->unread_from, old_count, added);
        if (match)
            t->match.item = new_index(t, match, t->match.item, old_count, added);
    }
    bool follow = t->follow, found = t->found;
    after_removal(t);
    t->follow = follow;
    t->found = found;
    if (!top || top != first || item_at(t, t->top.item) != top)
        return;
    size_t now = transcript_rows_of(t, t->top.item); /* its label may be on the older page */
    if (t->top.row > 0)
        t->top.row = t->top.row + now > rows ? t->top.row + now - rows : 0;
}

int64_t transcript_wants_before(const struct transcript *t)
{
    size_t near = (size_t)t->height * SCREENS_AHEAD, rows = t->top.row;
    if (!t->fold.more)
        return 0;
    for (size_t i = t->top.item; i-- > 0 && rows < near;)
        rows += item_at(t, i)->width ? item_row_count(item_at(t, i)) : UNSEEN_ROWS;
    return rows < near ? t->fold.first_seq : 0;
}

/* --- the view --- */

/* Fills `visible` from the top on; true if the last row of all is among them. */
static bool collect(struct transcript *t)
{
    struct place p = t->top;
    vec_clear(&t->visible);
    while (p.item < item_count(t) && t->visible.len < (size_t)t->height) {
        if (p.row < transcript_rows_from(t, p.item, p.row)) {
            const struct item *item = item_at(t, p.item);
            struct transcript_row row = {&item->rows, p.row++ - item->gone, p.item};
            vec_push(&t->visible, row);
        } else {
            p = (struct place){p.item + 1, 0};
        }
    }
    for (; p.item < item_count(t); p = (struct place){p.item + 1, 0})
        if (p.row < transcript_rows_of(t, p.item))
            return false;
    return true;
}

static size_t rows_or_one(const struct transcript *t, size_t index)
{
    const struct item *item = item_at(t, index);
    return item->width && item_row_count(item) ? item_row_count(item) : 1;
}

/* Frees the rows of items that are far from the view, so that memory does not grow with scrolling.
 * An item that still streams keeps its rows: making them again would take long. */
static void forget_far(struct transcript *t)
{
    size_t sum = 0, height = (size_t)t->height, kept = 0, rows = 0;
    for (size_t i = 0; i < t->laid.len; i++)
        sum += t->laid.items[i]->rows.list.len + 1;
    if (sum <= height * SCREENS_LAID || t->laid.len == 1)
        return;
    t->walk++;
    for (size_t i = 0; i < t->visible.len; i++) /* a giant above them ends the walk too early */
        item_at(t, t->visible.items[i].item)->seen = t->walk;
    for (size_t i = t->top.item; i < item_count(t) && rows < height * (SCREENS_KEPT + 1); i++) {
        item_at(t, i)->seen = t->walk;
        rows += rows_or_one(t, i);
    }
    rows = 0;
    for (size_t i = t->top.item; i-- > 0 && rows < height * SCREENS_KEPT;) {
        item_at(t, i)->seen = t->walk;
        rows += rows_or_one(t, i);
    }
    for (size_t i = 0; i < t->laid.len; i++) {
        struct item *item = t->laid.items[i];
        if (item->seen == t->walk || item->streaming)
            t->laid.items[kept++] = item;
        else
            item_forget_rows(item);
    }
    t->laid.len = kept;
}

const struct transcript_row *transcript_rows(struct transcript *t, size_t *count)
{
    size_t kept = (size_t)t->height * SCREENS_KEPT, below = 0;
    vec_clear(&t->visible);
    t->room = t->pace;
    /* The rows of a giant item that are far above the view are freed; they are laid out again when
     * the view goes there. Not during a search, which reads all rows. */
    for (size_t i = t->needle || t->top.item >= item_count(t) ? 0 : t->top.item + 1;
         i-- > 0 && below < kept;) {
        struct item *item = item_at(t, i);
        size_t rows = i < t->top.item ? rows_or_one(t, i) : t->top.row;
        if (item->markdown && below + rows >= item->gone + 2 * kept)
            item->gone += markdown_drop_rows(item->markdown, below + rows - kept - item->gone);
        below += rows;
    }
    bool end = t->follow;
    if (item_count(t) > 0 && !end) {
        clamp_top(t);
        for (size_t i = t->unread_from; i < item_count(t); i++) {
            struct item *item = item_at(t, i);
            size_t rows = transcript_rows_of(t, i);
            t->unread += rows > item->counted ? rows - item->counted : 0;
            item->counted = rows;
        }
        t->unread_from = item_count(t) - 1;
        end = collect(t);
    }
    if (item_count(t) > 0 && end) {
        t->follow = true;
        t->top = end_top(t);
        collect(t);
    } else if (item_count(t) > 0) {
        const struct transcript_row *last = &vec_last(&t->visible);
        struct place under = {last->item, item_at(t, last->item)->gone + last->index};
        t->unread = transcript_down(t, &under, t->unread);
    }
    t->room = SIZE_MAX;
    forget_far(t);
    transcript_dim_rewound(t);
    transcript_mark_selected(t);
    transcript_mark_citations(t);
    transcript_mark_matches(t);
    *count = t->visible.len;
    return t->visible.items;
}

/* --- folding --- */

bool transcript_toggle(struct transcript *t, size_t index)
{
    if (index >= item_count(t) || !item_can_fold(item_at(t, index), t->reasoning))
        return false;
    struct item *item = item_at(t, index);
    if (t->follow) {
        struct place top = end_top(t);
        transcript_leave_end(t);
        t->top = top;
    }
    item_set_open(item, !item_is_open(item, t->reasoning), t->reasoning);
    item->counted = transcript_rows_of(t, index);
    if (t->top.item == index && t->top.row >= item->counted)
        t->top.row = 0;
    if (!item_is_open(item, t->reasoning))
        return true;
    /* its rows are scrolled into the view, as far as the first of them comes up to the middle */
    size_t above = 0, height = (size_t)t->height, middle = height / 2;
    for (size_t i = t->top.item; i < index; i++)
        above += transcript_rows_of(t, i) - (i == t->top.item ? t->top.row : 0);
    size_t end = above + item->counted, below = end > height ? end - height : 0;
    size_t far = above > middle ? above - middle : 0;
    transcript_down(t, &t->top, below < far ? below : far);
    return true;
}

void transcript_toggle_all(struct transcript *t)
{
    bool open = false;
    for (size_t i = 0; i < item_count(t) && !open; i++) {
        const struct item *item = item_at(t, i);
        open = item_can_fold(item, t->reasoning) && !item_is_open(item, t->reasoning);
    }
    for (size_t i = 0; i < item_count(t); i++)
        item_set_open(item_at(t, i), open, t->reasoning);
}

bool transcript_output(struct transcript *t, const char *id, const char *text, bool anew,
                       int64_t ms)
{
    struct item *call = fold_call(&t->fold, id, false);
    if (call)
        item_add_output(call, text ? text : "", anew, ms);
    return call;
}

/* --- compactions --- */

bool transcript_tick(struct transcript *t, int64_t elapsed_ms)
{
    struct item *item = t->fold.card;
    if (!item)
        return false;
    bool shows =
        item->card->state == CARD_RUNNING && elapsed_ms / 1000 != item->card->elapsed_ms / 1000;
    item->card->elapsed_ms = elapsed_ms;
    if (shows)
        item->change = ITEM_CHANGED;
    return shows;
}

void transcript_redraft(struct transcript *t)
{
    if (t->fold.card)
        compaction_card_restart(t->fold.card);
}

int64_t transcript_card(const struct transcript *t, size_t index)
{
    return index < item_count(t) ? compaction_card_completed(item_at(t, index)) : 0;
}

int64_t transcript_newest_card(struct transcript *t)
{
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    int64_t newest = 0;
    for (size_t i = count; i-- > 0 && !newest;)
        newest = transcript_card(t, rows[i].item);
    return newest;
}

/* --- scrolling --- */

/* The view's first row stays the one with the same part of the item's text above it. */
void transcript_resize(struct transcript *t, int width, int height)
{
    width = width < 1 ? 1 : width;
    bool new_width = width != t->width, keep = !t->follow && item_count(t) > 0 && new_width;
    double part = 0;
    if (keep) {
        clamp_top(t);
        (void)transcript_rows_from(t, t->top.item, 0);
        const struct rows *laid = &item_at(t, t->top.item)->rows;
        if (t->top.row < laid->list.len && laid->text.len > 0)
            part = (double)laid->list.items[t->top.row].text / (double)laid->text.len;
    }
    bool top_row = t->top.row == 0;
    if (new_width) { /* the matches are in rows */
        size_t rank = transcript_match_rank(t);
        t->chose_cited = false;
        t->search++;
        t->width = width;
        transcript_match_set_rank(t, rank);
    }
    t->height = height < 1 ? 1 : height;
    if (!keep)
        return;
    size_t rows = transcript_rows_of(t, t->top.item), row = 0;
    const struct rows *laid = &item_at(t, t->top.item)->rows;
    while (!top_row && row + 1 < rows &&
           laid->list.items[row + 1].text <= part * (double)laid->text.len + 0.5)
        row++;
    t->top.row = row;
    item_at(t, t->unread_from)->counted = transcript_rows_of(t, t->unread_from);
}

bool transcript_scroll(struct transcript *t, int rows)
{
    bool followed = t->follow;
    if (rows <= -TRANSCRIPT_ALL) {
        t->follow = true;
        return !followed;
    }
    if (item_count(t) == 0 || rows == 0)
        return false;
    if (t->follow)
        t->top = end_top(t);
    else
        clamp_top(t);
    struct place before = t->top, to = t->top;
    if (rows >= TRANSCRIPT_ALL) {
        to = (struct place){0};
        while (to.item + 1 < item_count(t) && transcript_rows_of(t, to.item) == 0)
            to.item++;
        transcript_show(t, to);
        return before.item != t->top.item || before.row != t->top.row;
    }
    size_t moved = rows > 0 ? transcript_up(t, &to, (size_t)rows)
                            : transcript_down(t, &to, (size_t)(-(long)rows));
    if (moved == 0)
        return false;
    transcript_show(t, to);
    return followed != t->follow || !followed;
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
        t->follow = true;
        return true;
    }
    size_t index = item_count(t);
    while (index > 0 && (item_at(t, index - 1)->seq > place->seq ||
                         item_at(t, index - 1)->kind == ITEM_NOTE)) /* of an event before */
        index--;
    if (index-- == 0) {
        (void)transcript_scroll(t, TRANSCRIPT_ALL);
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
