#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/transcript/item.h"
#include "ui/transcript/transcript_private.h"

enum {
    FAR_ITEMS = 200, /* an answer cites passages given at most so many items before it */
    NUMBER_DIGITS = 4
};

/* --- searches --- */

/* Whether a match begins in the row. It may be broken at a space and end in the next row. */
static bool row_matches(const struct rows *rows, size_t index, const char *needle)
{
    const struct row *row = &rows->list.items[index];
    auto_free char *text = mem_strndup(rows->text.data + row->text, row->len);
    if (utf8_contains_folded(text, needle))
        return true;
    if (!strchr(needle, ' ') || index + 1 >= rows->list.len)
        return false;
    auto_free char *next = mem_strndup(rows->text.data + row[1].text, row[1].len);
    auto_free char *both = mem_printf("%s %s", text, next + strspn(next, " "));
    return !utf8_contains_folded(next, needle) && utf8_contains_folded(both, needle);
}

static size_t source_len(const struct item *item)
{
    return item->text.len + item->result.len;
}

static bool is_counted(const struct transcript *t, const struct item *item)
{
    const struct item_matches *m = &item->matches;
    return m->search == t->search && m->source_len == source_len(item) &&
           (!m->laid_out || item->change == ITEM_SAME);
}

static size_t count_rows(const struct item *item, size_t from, const char *needle)
{
    size_t count = 0;
    for (size_t i = from; i < item->rows.list.len; i++)
        count += row_matches(&item->rows, i, needle);
    return count;
}

/* Counts the rows of the item that match. Rows that are made only for this are freed again. */
static size_t count_in(struct transcript *t, size_t index)
{
    struct item *item = item_at(t, index);
    if (is_counted(t, item))
        return item->matches.count;
    /* its source may have marks between the words, and entities, that its rows do not have */
    bool had_rows = item->width != 0, laid_out = true;
    if (item->kind != ITEM_TOOL && !strpbrk(item->text.data, "&\\")) {
        auto_free char *words = mem_strdup(t->needle);
        char *rest = NULL;
        for (char *w = strtok_r(words, " ", &rest); laid_out && w; w = strtok_r(NULL, " ", &rest))
            laid_out = utf8_contains_folded(item->text.data, w);
    }
    item->matches = (struct item_matches){t->search, source_len(item), laid_out, 0};
    if (!laid_out)
        return 0;
    (void)transcript_rows_from(t, index, 0);
    item->matches.count = count_rows(item, 0, t->needle);
    if (!had_rows) {
        item_forget_rows(item);
        t->laid.len--;
    }
    return item->matches.count;
}

size_t transcript_match_rank(struct transcript *t)
{
    if (!t->found)
        return 0;
    const struct item *item = item_at(t, t->match.item);
    (void)transcript_rows_from(t, t->match.item, 0);
    return count_rows(item, t->match.row, t->needle);
}

void transcript_match_set_rank(struct transcript *t, size_t rank)
{
    if (!t->found)
        return;
    const struct item *item = item_at(t, t->match.item);
    size_t row = transcript_rows_from(t, t->match.item, 0);
    while (row-- > 0 && rank > 0)
        if (row_matches(&item->rows, row, t->needle) && --rank == 0)
            t->match.row = row;
    t->found = rank == 0;
}

struct transcript_matches transcript_matches(struct transcript *t, size_t bytes)
{
    struct transcript_matches m = {.whole = true};
    size_t spent = 0;
    for (size_t i = item_count(t); t->needle && i-- > 0;) {
        const struct item *item = item_at(t, i);
        size_t cost = is_counted(t, item) ? 0 : source_len(item);
        if (spent > 0 && cost > 0 && spent + cost > bytes) {
            m.whole = false;
            return m;
        }
        spent += cost;
        if (t->found && i == t->match.item)
            m.at = m.count + transcript_match_rank(t);
        m.count += count_in(t, i);
    }
    return m;
}

/* Shows the next match from a place on, among all items on that side. */
static bool search(struct transcript *t, struct place from, bool older)
{
    size_t step = older ? (size_t)-1 : 1; /* past the first is past the last, too */
    for (size_t item = from.item; item < item_count(t); item += step) {
        if (count_in(t, item) == 0)
            continue;
        size_t rows = transcript_rows_from(t, item, 0);
        size_t row = item == from.item ? from.row : older ? SIZE_MAX : 0;
        if (older && row >= rows)
            row = rows - 1;
        for (; row < rows; row += step) {
            if (!row_matches(&item_at(t, item)->rows, row, t->needle))
                continue;
            struct place top = {item, row};
            t->found = true;
            t->match = top;
            transcript_up(t, &top, (size_t)t->height / 3);
            transcript_show(t, top);
            return true;
        }
    }
    return false;
}

void transcript_look_for(struct transcript *t, const char *text)
{
    if (t->needle && text && strcmp(t->needle, text) == 0)
        return;
    free(t->needle);
    t->needle = text && *text ? mem_strdup(text) : NULL;
    t->found = t->found && t->needle;
    t->search++;
    t->sought = false;
}

/* The search begins at the match (behind it, if the same text is searched for again), else where
 * the view begins or ends. */
bool transcript_find(struct transcript *t, const char *text, bool older)
{
    struct place from;
    size_t count;
    transcript_look_for(t, text);
    bool again = t->sought;
    t->sought = true;
    if (!t->needle || item_count(t) == 0)
        return false;
    if (t->found) {
        from = t->match;
        size_t rows = transcript_rows_of(t, from.item);
        from.row = from.row < rows ? from.row : rows ? rows - 1 : 0;
        if (again && (older ? transcript_up(t, &from, 1) : transcript_down(t, &from, 1)) == 0)
            return false;
    } else {
        transcript_rows(t, &count); /* brings the view up to date */
        from = t->top;
        if (older)
            transcript_down(t, &from, (size_t)t->height - 1);
    }
    return search(t, from, older);
}

bool transcript_find_around(struct transcript *t, bool older)
{
    size_t count = item_count(t);
    struct place from = {older && count > 0 ? count - 1 : 0, older ? SIZE_MAX : 0};
    return t->needle && count > 0 && search(t, from, older);
}

void transcript_mark_matches(struct transcript *t)
{
    struct rows *out = &t->marked;
    rows_clear(out);
    for (size_t i = 0; t->needle && i < t->visible.len; i++) {
        struct transcript_row *shown = &t->visible.items[i];
        const struct rows *rows = shown->rows;
        const struct row *row = &rows->list.items[shown->index];
        const char *text = rows->text.data + row->text, *match;
        size_t pos = 0, match_len;
        while ((match = utf8_find_folded(text + pos, row->len - pos, t->needle, &match_len))) {
            size_t from = (size_t)(match - text);
            if (pos == 0)
                rows_begin(out);
            rows_append_part(out, rows, shown->index, pos, from, ROWS_AS_THEY_LOOK);
            pos = from + match_len;
            rows_append_part(out, rows, shown->index, from, pos, STYLE_MATCH);
        }
        if (pos == 0)
            continue;
        rows_append_part(out, rows, shown->index, pos, row->len, ROWS_AS_THEY_LOOK);
        shown->rows = out;
        shown->index = out->list.len - 1;
    }
}

/* --- rewound items --- */

void transcript_dim_rewound(struct transcript *t)
{
    struct rows *out = &t->dimmed;
    rows_clear(out);
    for (size_t i = 0; i < t->visible.len; i++) {
        struct transcript_row *shown = &t->visible.items[i];
        if (!item_at(t, shown->item)->rewound)
            continue;
        rows_begin(out);
        rows_append_part(out, shown->rows, shown->index, 0,
                         shown->rows->list.items[shown->index].len, STYLE_DIM);
        shown->rows = out;
        shown->index = out->list.len - 1;
    }
}

/* --- citations of passages in the view's answers, "[2]" or "[1, 3]" --- */

/* The numbers begin anew with each message of the user. */
int transcript_passages(const struct transcript *t, size_t index)
{
    int most = 0;
    index = index < item_count(t) ? index : item_count(t);
    size_t end = index > FAR_ITEMS ? index - FAR_ITEMS : 0;
    while (index-- > end && !(most > 0 && item_at(t, index)->kind == ITEM_USER))
        if (item_at(t, index)->passages > most)
            most = item_at(t, index)->passages;
    return most;
}

/* Code has brackets of its own, and the text of a link leads to its address. */
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

/* Reads "[1, 3]" at text[at], of the first `most` passages: adds a citation for each number and
 * returns where the group ends; `at` + 1: it is none. */
static size_t read_group(struct transcript *t, const char *text, size_t len, size_t at, int most,
                         struct cited cited)
{
    size_t before = t->cited.len, pos = at + 1;
    cited.from = at;
    for (;;) {
        size_t end = pos;
        for (cited.number = 0; end < len && text[end] >= '0' && text[end] <= '9'; end++)
            if (end - pos < NUMBER_DIGITS)
                cited.number = cited.number * 10 + (text[end] - '0');
        bool number = end - pos <= NUMBER_DIGITS && cited.number > 0 && cited.number <= most;
        if (!number || end == len || (text[end] != ']' && text[end] != ',')) {
            t->cited.len = before;
            return at + 1;
        }
        bool ends = text[end] == ']';
        cited.to = end + ends;
        vec_push(&t->cited, cited);
        if (ends)
            return cited.to;
        pos = end + 1;
        pos += pos < len && text[pos] == ' ';
        cited.from = pos;
    }
}

static bool is_chosen(const struct transcript *t, const struct cited *c)
{
    const struct cited *chosen = &t->chosen_cited;
    return t->chose_cited && c->place.item == chosen->place.item &&
           c->place.row == chosen->place.row && c->from == chosen->from &&
           c->number == chosen->number;
}

void transcript_mark_citations(struct transcript *t)
{
    struct rows *marked = &t->cited_rows;
    size_t known = SIZE_MAX, next = 0;
    int given = 0;
    vec_clear(&t->cited);
    rows_clear(marked);
    for (size_t i = 0; i < t->visible.len; i++) {
        struct transcript_row *shown = &t->visible.items[i];
        const struct rows *rows = shown->rows;
        const struct row *row = &rows->list.items[shown->index];
        const struct item *item = item_at(t, shown->item);
        const struct cited cited = {.place = {shown->item, item->gone + shown->index},
                                    .visible = i};
        if (shown->item != known)
            given = item->kind == ITEM_ANSWER && !item->rewound
                        ? transcript_passages(t, shown->item)
                        : 0;
        known = shown->item;
        const char *text = rows->text.data + row->text;
        for (size_t at = 0; given > 0 && at < row->len;)
            if (text[at] == '[' && is_prose(rows, row, at))
                at = read_group(t, text, row->len, at, given, cited);
            else
                at++;
        if (next == t->cited.len)
            continue;
        size_t pos = 0;
        rows_begin(marked);
        for (; next < t->cited.len; next++) {
            const struct cited *c = &t->cited.items[next];
            rows_append_part(marked, rows, shown->index, pos, c->from, ROWS_AS_THEY_LOOK);
            rows_append_part(marked, rows, shown->index, c->from, c->to,
                             is_chosen(t, c) ? STYLE_SELECTED : STYLE_LINK);
            pos = c->to;
        }
        rows_append_part(marked, rows, shown->index, pos, row->len, ROWS_AS_THEY_LOOK);
        shown->rows = marked;
        shown->index = marked->list.len - 1;
    }
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
            *out = (struct transcript_citation){c->number, item_at(t, c->place.item)->seq + 1};
            return true;
        }
    }
    return false;
}

/* The index of the chosen citation in the view; SIZE_MAX: none. */
static size_t chosen(struct transcript *t)
{
    size_t count;
    (void)transcript_rows(t, &count); /* brings the view up to date */
    for (size_t i = 0; i < t->cited.len; i++)
        if (is_chosen(t, &t->cited.items[i]))
            return i;
    return SIZE_MAX;
}

bool transcript_choose_citation(struct transcript *t)
{
    size_t now = chosen(t), len = t->cited.len, next = len - 1;
    t->chose_cited = len > 0;
    if (len == 0)
        return false;
    if (now != SIZE_MAX)
        next = (now + 1) % len;
    else /* the first of the newest answer */
        while (next > 0 && t->cited.items[next - 1].place.item == t->cited.items[next].place.item)
            next--;
    t->chosen_cited = t->cited.items[next];
    return true;
}

bool transcript_chosen_citation(struct transcript *t, struct transcript_citation *out)
{
    size_t now = chosen(t);
    if (now == SIZE_MAX)
        return false;
    const struct cited *c = &t->cited.items[now];
    *out = (struct transcript_citation){c->number, item_at(t, c->place.item)->seq + 1};
    return true;
}

bool transcript_leave_citation(struct transcript *t)
{
    bool had = t->chose_cited;
    t->chose_cited = false;
    return had;
}

/* --- sources and turns --- */

size_t transcript_source(struct transcript *t, size_t most, struct buf *out)
{
    size_t count, first = t->top.item, above = 0, at = 0;
    (void)transcript_rows(t, &count); /* brings the view up to date */
    if (count == 0)
        return 0;
    for (first = t->top.item; first > 0; first--) {
        above += source_len(item_at(t, first - 1)) + 1;
        if (above > most)
            break;
    }
    for (size_t i = first, below = 0; i < item_count(t); i++) {
        const struct item *item = item_at(t, i);
        bool open = item_is_open(item, t->reasoning), tool = item->kind == ITEM_TOOL;
        if (i == t->top.item)
            at = out->len;
        if (i > t->top.item && (below += source_len(item) + 1) > most)
            break;
        if (item->kind == ITEM_COMPACTION || (item->kind == ITEM_REASONING && !open))
            continue; /* the card of a compaction has no source */
        if (out->len > 0)
            buf_addch(out, '\n');
        if (item->kind == ITEM_USER || item->label)
            buf_addf(out, "%s\n", item->kind == ITEM_USER ? _("you") : _("tiro"));
        if (tool)
            buf_addf(out, "%s %s\n", item->name ? item->name : "", item->text.data);
        const struct buf *text = !tool ? &item->text : open ? &item->result : NULL;
        if (text)
            buf_add(out, text->data, text->len);
        if (text && text->len > 0 && text->data[text->len - 1] != '\n')
            buf_addch(out, '\n');
    }
    return t->follow ? out->len : at;
}

const char *transcript_last_answer(const struct transcript *t)
{
    for (size_t i = item_count(t); i-- > 0;)
        if (item_at(t, i)->kind == ITEM_ANSWER && !item_at(t, i)->rewound)
            return item_at(t, i)->raw ? item_at(t, i)->raw : item_at(t, i)->text.data;
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

void transcript_each_turn(const struct transcript *t,
                          void (*visit)(void *context, const struct transcript_turn *turn),
                          void *context)
{
    struct transcript_turn turn = {0};
    for (size_t i = 0, next; i < item_count(t); i = next) {
        const struct item *item = item_at(t, i);
        for (next = i + 1; next < item_count(t) && item_at(t, next)->kind != ITEM_USER; next++)
            ;
        if (item->kind != ITEM_USER || item->rewound)
            continue;
        turn.number++;
        turn.text = item->text.data;
        turn.seq = item->seq;
        turn.last = next < item_count(t) ? item_at(t, next)->from - 1 : t->fold.last_seq;
        visit(context, &turn);
    }
}

int64_t transcript_oldest(const struct transcript *t)
{
    return t->fold.more ? t->fold.first_seq : 0;
}
