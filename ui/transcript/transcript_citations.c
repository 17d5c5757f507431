/* Citations of passages, "[2]" or "[1, 3]", in the answers in the view: found in their rows,
 * marked, chosen. */
#include <string.h>

#include "base/utf8.h"
#include "ui/transcript/transcript_private.h"

enum {
    FAR_ITEMS = 200, /* an answer cites what it was given so many items before it, at most */
    NUMBER_DIGITS = 4
};

/* --- where they stand --- */

/* The greatest number that was given before an item; they begin anew with each message. */
static int given_before(const struct transcript *t, size_t index)
{
    size_t end = index > FAR_ITEMS ? index - FAR_ITEMS : 0;
    int most = 0;
    while (index-- > end && !(most > 0 && item_at(t, index)->kind == ITEM_USER))
        if (item_at(t, index)->passages > most)
            most = item_at(t, index)->passages;
    return most;
}

int transcript_passages(const struct transcript *t)
{
    return given_before(t, t->fold.items.len);
}

/* Code has brackets of its own, and what leads to an address leads nowhere else. */
static bool is_prose(const struct rows *rows, const struct row *row, size_t at)
{
    for (uint32_t i = 0; i < row->span_count; i++) {
        const struct span *span = &rows->spans.items[row->spans + i];
        if (at < span->len)
            return span->link == 0 && (span->style < STYLE_CODE || span->style > STYLE_CODE_NUMBER);
        at -= span->len;
    }
    return false;
}

/* A number from 1 on; returns the bytes that it takes, 0: there is none. */
static size_t read_number(const char *text, size_t len, int *number)
{
    size_t digits = 0;
    for (*number = 0; digits < len && text[digits] >= '0' && text[digits] <= '9'; digits++)
        if (digits < NUMBER_DIGITS)
            *number = *number * 10 + (text[digits] - '0');
    return digits <= NUMBER_DIGITS && *number > 0 ? digits : 0;
}

/* "[1, 3]" at text[at], of the first `most` passages: adds one for each number and returns where it
 * ends; `at` + 1: it is none. */
static size_t read_group(struct transcript *t, const char *text, size_t len, size_t at, int most,
                         struct cited cited)
{
    size_t before = t->cited.len, pos = at + 1;
    cited.from = at;
    for (;;) {
        size_t digits = read_number(text + pos, len - pos, &cited.number);
        bool ends = digits > 0 && pos + digits < len && text[pos + digits] == ']';
        bool goes_on = digits > 0 && pos + digits < len && text[pos + digits] == ',';
        if ((!ends && !goes_on) || cited.number > most) {
            t->cited.len = before;
            return at + 1;
        }
        cited.to = pos + digits + ends;
        vec_push(&t->cited, cited);
        if (ends)
            return cited.to;
        pos += digits + 1;
        pos += pos < len && text[pos] == ' ';
        cited.from = pos;
    }
}

static void find_in_row(struct transcript *t, size_t visible, int most)
{
    const struct transcript_row *shown = &t->visible.items[visible];
    const struct row *row = &shown->rows->list.items[shown->index];
    const char *text = shown->rows->text.data + row->text;
    const struct cited cited = {
        .place = {shown->item, item_at(t, shown->item)->gone + shown->index}, .visible = visible};
    for (size_t at = 0; at < row->len;) {
        if (text[at] == '[' && is_prose(shown->rows, row, at))
            at = read_group(t, text, row->len, at, most, cited);
        else
            at++;
    }
}

/* --- marks --- */

static bool is_chosen(const struct transcript *t, const struct cited *c)
{
    const struct cited *chosen = &t->chosen_cited;
    return t->chose_cited && c->place.item == chosen->place.item &&
           c->place.row == chosen->place.row && c->from == chosen->from &&
           c->number == chosen->number;
}

/* Citations from `first` on that stand in the same row. */
static void mark_row(struct transcript *t, size_t first)
{
    struct transcript_row *shown = &t->visible.items[t->cited.items[first].visible];
    size_t len = shown->rows->list.items[shown->index].len, pos = 0;
    rows_begin(&t->cited_rows);
    for (size_t i = first;
         i < t->cited.len && t->cited.items[i].visible == t->cited.items[first].visible; i++) {
        const struct cited *c = &t->cited.items[i];
        rows_append_part(&t->cited_rows, shown->rows, shown->index, pos, c->from,
                         ROWS_AS_THEY_LOOK);
        rows_append_part(&t->cited_rows, shown->rows, shown->index, c->from, c->to,
                         is_chosen(t, c) ? STYLE_SELECTED : STYLE_LINK);
        pos = c->to;
    }
    rows_append_part(&t->cited_rows, shown->rows, shown->index, pos, len, ROWS_AS_THEY_LOOK);
    shown->rows = &t->cited_rows;
    shown->index = t->cited_rows.list.len - 1;
}

void transcript_mark_citations(struct transcript *t)
{
    size_t known = SIZE_MAX;
    int given = 0;
    vec_clear(&t->cited);
    rows_clear(&t->cited_rows);
    for (size_t i = 0; i < t->visible.len; i++) {
        size_t item = t->visible.items[i].item;
        if (item != known)
            given = item_at(t, item)->kind == ITEM_ANSWER ? given_before(t, item) : 0;
        known = item;
        if (given > 0)
            find_in_row(t, i, given);
    }
    for (size_t i = 0; i < t->cited.len; i++)
        if (i == 0 || t->cited.items[i].visible != t->cited.items[i - 1].visible)
            mark_row(t, i);
}

/* --- which one --- */

static void tell(const struct transcript *t, const struct cited *c, struct transcript_citation *out)
{
    *out = (struct transcript_citation){c->number, item_at(t, c->place.item)->seq + 1};
}

bool transcript_citation_at(struct transcript *t, size_t row, size_t column,
                            struct transcript_citation *out)
{
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    for (size_t i = 0; i < t->cited.len && row < count; i++) {
        const struct cited *c = &t->cited.items[i];
        const struct rows *shown = rows[row].rows;
        const char *text = shown->text.data + shown->list.items[rows[row].index].text;
        if (c->visible == row && column >= utf8_width(text, c->from) &&
            column < utf8_width(text, c->to)) {
            tell(t, c, out);
            return true;
        }
    }
    return false;
}

/* Its place among those in the view; SIZE_MAX: none is. */
static size_t chosen(const struct transcript *t)
{
    for (size_t i = 0; i < t->cited.len; i++)
        if (is_chosen(t, &t->cited.items[i]))
            return i;
    return SIZE_MAX;
}

static size_t first_of_newest(const struct transcript *t)
{
    size_t i = t->cited.len - 1;
    while (i > 0 && t->cited.items[i - 1].place.item == t->cited.items[i].place.item)
        i--;
    return i;
}

bool transcript_choose_citation(struct transcript *t)
{
    size_t count;
    (void)transcript_rows(t, &count); /* brings the view up to date */
    size_t now = chosen(t);
    t->chose_cited = t->cited.len > 0;
    if (t->chose_cited)
        t->chosen_cited =
            t->cited.items[now == SIZE_MAX ? first_of_newest(t) : (now + 1) % t->cited.len];
    return t->chose_cited;
}

bool transcript_chosen_citation(struct transcript *t, struct transcript_citation *out)
{
    size_t count;
    (void)transcript_rows(t, &count);
    size_t now = chosen(t);
    if (now != SIZE_MAX)
        tell(t, &t->cited.items[now], out);
    return now != SIZE_MAX;
}

bool transcript_leave_citation(struct transcript *t)
{
    bool had = t->chose_cited;
    t->chose_cited = false;
    return had;
}
