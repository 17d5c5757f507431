#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/transcript/item_layout.h"
#include "ui/transcript/transcript_private.h"

static char *row_text(const struct rows *rows, size_t index)
{
    const struct row *row = &rows->list.items[index];
    return mem_strndup(rows->text.data + row->text, row->len);
}

/* A match that begins in this row and, broken at a space, ends in the next one. */
static bool runs_on(const struct rows *rows, size_t index, const char *first, const char *needle)
{
    if (!strchr(needle, ' ') || index + 1 >= rows->list.len)
        return false;
    char *second = row_text(rows, index + 1);
    char *both = mem_printf("%s %s", first, second + strspn(second, " "));
    bool found = !utf8_contains_folded(second, needle) && utf8_contains_folded(both, needle);
    free(second);
    free(both);
    return found;
}

static bool row_matches(const struct rows *rows, size_t index, const char *needle)
{
    char *text = row_text(rows, index);
    bool found = utf8_contains_folded(text, needle) || runs_on(rows, index, text, needle);
    free(text);
    return found;
}

/* Whether it is worth the while to lay the item out. Its source may have marks between the words,
 * and characters written in other ways, that its rows do not have. */
static bool may_match(const struct item *item, const char *needle)
{
    if (item->kind == ITEM_TOOL || strpbrk(item->text.data, "&\\"))
        return true;
    char *words = mem_strdup(needle), *rest = NULL;
    bool all = true;
    for (char *w = strtok_r(words, " ", &rest); all && w; w = strtok_r(NULL, " ", &rest))
        all = utf8_contains_folded(item->text.data, w);
    free(words);
    return all;
}

/* --- how many there are --- */

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

/* Rows of the item that match. They are made for that alone where they are not there. */
static size_t count_in(struct transcript *t, size_t index)
{
    struct item *item = item_at(t, index);
    if (is_counted(t, item))
        return item->matches.count;
    bool had_rows = item->width != 0, laid_out = may_match(item, t->needle);
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

/* --- stepping --- */

static bool match_in(struct transcript *t, size_t index, size_t from, bool older, size_t *row)
{
    const struct item *item = item_at(t, index);
    if (count_in(t, index) == 0)
        return false;
    size_t rows = transcript_rows_from(t, index, 0), i = from < rows ? from : rows - 1;
    bool found = false;
    for (; rows > 0 && !found && i < rows && (older || from < rows); i += older ? (size_t)-1 : 1) {
        found = row_matches(&item->rows, i, t->needle);
        *row = i;
    }
    return found;
}

static bool search(struct transcript *t, struct place from, bool older, struct place *found)
{
    for (size_t i = from.item; i < item_count(t); i += older ? (size_t)-1 : 1) {
        size_t start = i == from.item ? from.row : older ? SIZE_MAX : 0;
        if (match_in(t, i, start, older, &found->row)) {
            found->item = i;
            return true;
        }
    }
    return false;
}

/* Where the search begins: at the match (behind it, if the same is looked for again), else where
 * the view begins or ends. False: there is nothing on that side. */
static bool search_start(struct transcript *t, bool again, bool older, struct place *from)
{
    size_t count;
    if (t->found) {
        *from = t->match;
        size_t rows = transcript_rows_of(t, from->item);
        from->row = from->row < rows ? from->row : rows ? rows - 1 : 0;
        return !again || (older ? transcript_up(t, from, 1) : transcript_down(t, from, 1)) == 1;
    }
    transcript_rows(t, &count); /* brings the view up to date */
    *from = t->top;
    if (older)
        transcript_down(t, from, (size_t)t->height - 1);
    return true;
}

static bool show_match(struct transcript *t, struct place match)
{
    t->found = true;
    t->match = match;
    transcript_up(t, &match, (size_t)t->height / 3);
    transcript_show(t, match);
    return true;
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

bool transcript_find(struct transcript *t, const char *text, bool older)
{
    struct place from, match;
    transcript_look_for(t, text);
    bool again = t->sought;
    t->sought = true;
    return t->needle && item_count(t) > 0 && search_start(t, again, older, &from) &&
           search(t, from, older, &match) && show_match(t, match);
}

bool transcript_find_around(struct transcript *t, bool older)
{
    size_t count = item_count(t);
    struct place from = {older && count > 0 ? count - 1 : 0, older ? SIZE_MAX : 0}, match;
    return t->needle && count > 0 && search(t, from, older, &match) && show_match(t, match);
}

/* --- marks --- */

static bool mark_row(struct rows *out, const struct rows *rows, size_t index, const char *needle)
{
    const struct row *row = &rows->list.items[index];
    const char *text = rows->text.data + row->text, *match;
    size_t pos = 0, match_len;
    while ((match = utf8_find_folded(text + pos, row->len - pos, needle, &match_len))) {
        size_t from = (size_t)(match - text);
        if (pos == 0)
            rows_begin(out);
        rows_append_part(out, rows, index, pos, from, ROWS_AS_THEY_LOOK);
        pos = from + match_len;
        rows_append_part(out, rows, index, from, pos, STYLE_MATCH);
    }
    if (pos > 0)
        rows_append_part(out, rows, index, pos, row->len, ROWS_AS_THEY_LOOK);
    return pos > 0;
}

void transcript_mark_matches(struct transcript *t)
{
    rows_clear(&t->marked);
    for (size_t i = 0; t->needle && i < t->visible.len; i++) {
        struct transcript_row *row = &t->visible.items[i];
        if (mark_row(&t->marked, row->rows, row->index, t->needle)) {
            row->rows = &t->marked;
            row->index = t->marked.list.len - 1;
        }
    }
}
