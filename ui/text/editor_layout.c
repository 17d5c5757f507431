#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "ui/text/editor_private.h"
#include "ui/text/wrap.h"

enum { DEFAULT_WIDTH = 80, LOOK_BACK = 128 };

size_t editor_border(const struct editor *e, size_t pos)
{
    const char *text = e->text.data;
    size_t len = e->text.len, at = pos, least = pos > LOOK_BACK ? pos - LOOK_BACK : 0;
    while (at > least && ((unsigned char)text[at - 1] & 0x80))
        at--;
    if (at > least)
        at--; /* onto an ASCII character: before it is a border */
    while (at > 0 && at < len && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    while (at < pos)
        at = utf8_next(text, len, at);
    return at;
}

static bool row_is_full(const struct editor *e, size_t start)
{
    size_t len = e->text.len - start;
    return wrap_columns(e->text.data + start, len) >= (size_t)e->layout.width;
}

/* Where the row after the one at `start` begins; SIZE_MAX: there is none. The caret needs a place
 * behind a newline and behind a full row. */
static size_t next_start(const struct editor *e, size_t start)
{
    const char *text = e->text.data;
    size_t len = e->text.len;
    if (start == len)
        return SIZE_MAX;
    struct wrap_piece p = wrap_next(text, len, start, (size_t)e->layout.width, WRAP_KEEP);
    if (p.next == len && text[len - 1] != '\n' && !row_is_full(e, start))
        return SIZE_MAX;
    return p.next;
}

static size_t row_of(const struct editor *e, size_t pos)
{
    size_t low = 0, high = e->layout.starts.len;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (e->layout.starts.items[middle] <= pos)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void wrap_all(struct editor *e, int width)
{
    struct edit_layout *l = &e->layout;
    l->width = width;
    l->drawn = false;
    vec_clear(&l->starts);
    for (size_t start = 0; start != SIZE_MAX; start = next_start(e, start))
        vec_push(&l->starts, start);
}

/* Puts `fresh` in the place of the rows [first, last). */
static void replace_starts(struct edit_layout *l, size_t first, size_t last, const size_t *fresh,
                           size_t count)
{
    size_t len = l->starts.len;
    vec_reserve(&l->starts, len - (last - first) + count);
    vec_move_(l->starts.items, first + count, last, len - last, sizeof *fresh);
    if (count)
        memcpy(l->starts.items + first, fresh, count * sizeof *fresh);
    l->starts.len = len - (last - first) + count;
}

/* A row's end depends on its text and on a little of what follows (wrap_next): so two rows before
 * the edit are wrapped again, and on until a row begins where one did before. */
void editor_layout_changed(struct editor *e, size_t pos, size_t old_len, size_t new_len)
{
    struct edit_layout *l = &e->layout;
    VEC(size_t) fresh = {0};
    l->drawn = false;
    if (l->width == 0)
        return;
    size_t row = row_of(e, pos), first = row > 2 ? row - 2 : 0;
    size_t start = l->starts.items[first], old = first + 1;
    while ((start = next_start(e, start)) != SIZE_MAX) {
        while (old < l->starts.len && (l->starts.items[old] < pos + old_len ||
                                       l->starts.items[old] + new_len < start + old_len))
            old++;
        if (start >= pos + new_len && old < l->starts.len &&
            l->starts.items[old] + new_len == start + old_len)
            break;
        vec_push(&fresh, start);
    }
    old = start == SIZE_MAX ? l->starts.len : old;
    for (size_t i = old; i < l->starts.len; i++)
        l->starts.items[i] = l->starts.items[i] + new_len - old_len;
    replace_starts(l, first + 1, old, fresh.items, fresh.len);
    vec_release(&fresh);
}

static size_t row_end(const struct editor *e, size_t row)
{
    size_t end = row + 1 < e->layout.starts.len ? e->layout.starts.items[row + 1] : e->text.len;
    bool newline = end > e->layout.starts.items[row] && e->text.data[end - 1] == '\n';
    return newline ? end - 1 : end;
}

static void draw_row(struct editor *e, size_t row)
{
    struct styled line;
    size_t start = e->layout.starts.items[row];
    struct wrap_look look = {(size_t)e->layout.width, WRAP_HARD, NULL, NULL};
    styled_init(&line);
    styled_add(&line, e->text.data + start, row_end(e, row) - start, STYLE_EDITOR, 0);
    wrap_text(&e->layout.rows, &line, &look);
    e->layout.rows.list.len = row + 1;
    styled_release(&line);
}

static void draw(struct editor *e, size_t from, size_t to)
{
    struct edit_layout *l = &e->layout;
    if (l->drawn && l->shown == from && l->shown_end == to)
        return;
    rows_clear(&l->rows);
    for (size_t i = 0; i < l->starts.len; i++) {
        if (i >= from && i < to)
            draw_row(e, i);
        else
            rows_begin(&l->rows);
    }
    l->shown = from;
    l->shown_end = to;
    l->drawn = true;
}

static void need_layout(struct editor *e, int width)
{
    if (e->layout.width != width)
        wrap_all(e, width);
}

static size_t column_of(const struct editor *e, size_t row, size_t pos)
{
    size_t start = e->layout.starts.items[row];
    size_t column = wrap_columns(e->text.data + start, pos - start);
    size_t last = (size_t)e->layout.width - 1;
    return column > last ? last : column;
}

struct editor_view editor_layout(struct editor *e, int width, int height)
{
    struct edit_layout *l = &e->layout;
    width = width < 1 ? 1 : width;
    height = height < 1 ? 1 : height;
    need_layout(e, width);
    size_t row = row_of(e, e->caret), rows = (size_t)height, count = l->starts.len;
    if (l->top + rows > count)
        l->top = count > rows ? count - rows : 0;
    if (row < l->top)
        l->top = row;
    else if (row >= l->top + rows)
        l->top = row + 1 - rows;
    draw(e, l->top, l->top + rows);
    return (struct editor_view){&l->rows, count, l->top, (int)(row - l->top),
                                (int)column_of(e, row, e->caret)};
}

static size_t at_column(const struct editor *e, size_t row, size_t goal)
{
    size_t pos = e->layout.starts.items[row], end = row_end(e, row), start = pos;
    bool goes_on = row + 1 < e->layout.starts.len && end == e->layout.starts.items[row + 1];
    while (pos < end) {
        size_t next = utf8_next(e->text.data, end, pos);
        if (wrap_columns(e->text.data + start, next - start) > goal || (goes_on && next == end))
            break;
        pos = next;
    }
    return pos;
}

static bool to_row(struct editor *e, bool down)
{
    need_layout(e, e->layout.width ? e->layout.width : DEFAULT_WIDTH);
    size_t row = row_of(e, e->caret);
    if (down ? row + 1 == e->layout.starts.len : row == 0)
        return false;
    if (e->goal == SIZE_MAX)
        e->goal = column_of(e, row, e->caret);
    size_t pos = at_column(e, down ? row + 1 : row - 1, e->goal), border = editor_border(e, pos);
    if (border > pos && !down) /* a row may begin inside of a grapheme that is wider than it */
        border = utf8_prev(e->text.data, e->text.len, border);
    e->caret = border;
    return true;
}

bool editor_up(struct editor *e)
{
    return to_row(e, false);
}

bool editor_down(struct editor *e)
{
    return to_row(e, true);
}

void editor_layout_release(struct editor *e)
{
    vec_release(&e->layout.starts);
    rows_release(&e->layout.rows);
}
