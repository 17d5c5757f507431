#include "ui/text/editor.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/wrap.h"

enum edit_group {
    GROUP_ALONE, /* a step of its own */
    GROUP_TYPED, /* joins typed text that it continues, up to the next word */
    GROUP_ERASED /* joins what was erased beside it */
};

struct edit { /* at pos, `removed` was replaced by `inserted` */
    size_t pos;
    struct buf removed, inserted;
    size_t caret_before;
    enum edit_group group;
};

struct edit_layout {
    int width;          /* 0: there is no layout */
    VEC(size_t) starts; /* byte offsets of the rows */
    size_t top;
    struct rows rows; /* [shown, shown_end) have their text */
    size_t shown, shown_end;
    bool drawn; /* rows fit the text */
};

struct editor {
    struct buf text;
    size_t caret;
    VEC(struct edit) edits; /* [0, done) can be undone, the others redone */
    size_t done;
    bool open_group; /* the last edit may be continued */

    VEC(char *) kills; /* newest last */
    bool killing;      /* the last action was a kill: the next one adds to it */
    bool yanked;       /* the last action was a yank: */
    size_t yank_from, yank_index;

    struct edit_layout layout;
    size_t goal; /* column that up and down aim for; SIZE_MAX: the caret's */

    VEC(char *) history; /* newest last */
    size_t history_back; /* how many entries back; 0: not in it */
    char *unsent;        /* what was being written before */
};


/* editor_undo.c. Replaces [from, to), puts the caret behind what came. */
void editor_edit(struct editor *e, size_t from, size_t to, const char *text, size_t len,
                 enum edit_group group);
bool editor_undo(struct editor *e);
bool editor_redo(struct editor *e);
void editor_undo_forget(struct editor *e); /* there is nothing to undo */
void editor_undo_release(struct editor *e);

/* editor_layout.c */
void editor_layout_changed(struct editor *e, size_t pos, size_t old_len, size_t new_len);
void editor_layout_release(struct editor *e);
bool editor_up(struct editor *e);
bool editor_down(struct editor *e);

/* The grapheme border that is not before `pos`, which is a character's. */
size_t editor_border(const struct editor *e, size_t pos);

/* editor_history.c */
void editor_history_release(struct editor *e);


enum { KILLS_MAX = 32, WHEEL_ROWS = 3 };

struct editor *editor_new(void)
{
    struct editor *e = mem_alloc(sizeof *e);
    buf_init(&e->text, 0);
    rows_init(&e->layout.rows);
    e->goal = SIZE_MAX;
    return e;
}

void editor_free(struct editor *e)
{
    if (!e)
        return;
    vec_free_each(&e->kills);
    editor_undo_release(e);
    editor_layout_release(e);
    editor_history_release(e);
    buf_release(&e->text);
    free(e);
}

const char *editor_text(const struct editor *e)
{
    return e->text.data;
}

size_t editor_len(const struct editor *e)
{
    return e->text.len;
}

size_t editor_caret(const struct editor *e)
{
    return e->caret;
}

/* Whatever is done ends a run of kills, a yank that could be exchanged, and a climb by rows. */
static void end_runs(struct editor *e)
{
    e->killing = e->yanked = false;
    e->goal = SIZE_MAX;
}

void editor_set_caret(struct editor *e, size_t pos)
{
    end_runs(e);
    e->open_group = false;
    while (pos < e->text.len && pos > 0 && ((unsigned char)e->text.data[pos] & 0xc0) == 0x80)
        pos--;
    e->caret = pos < e->text.len ? editor_border(e, pos) : e->text.len;
}

static void replace(struct editor *e, size_t from, size_t to, const char *text, size_t len,
                    enum edit_group group)
{
    struct buf clean = BUF_INIT;
    end_runs(e);
    utf8_clean(&clean, text, len, UTF8_MULTILINE);
    editor_edit(e, from, to, clean.data, clean.len, group);
    buf_release(&clean);
}

void editor_set(struct editor *e, const char *text)
{
    text = text ? text : "";
    replace(e, 0, e->text.len, text, strlen(text), GROUP_ALONE);
}

void editor_start(struct editor *e, const char *text)
{
    editor_set(e, text);
    editor_undo_forget(e);
    e->caret = 0;
}

void editor_insert(struct editor *e, const char *text, size_t len)
{
    replace(e, e->caret, e->caret, text, len, GROUP_TYPED);
}

void editor_paste(struct editor *e, const char *text, size_t len)
{
    replace(e, e->caret, e->caret, text, len, GROUP_ALONE);
}

void editor_replace(struct editor *e, size_t from, size_t to, const char *text)
{
    replace(e, from, to, text, strlen(text), GROUP_ALONE);
}

/* --- places in the text --- */

static bool is_word(const struct editor *e, size_t pos)
{
    unsigned char c = (unsigned char)e->text.data[pos];
    return isalnum(c) || c == '_' || c >= 0x80;
}

static size_t left(const struct editor *e)
{
    return utf8_prev(e->text.data, e->text.len, e->caret);
}

static size_t right(const struct editor *e)
{
    return utf8_next(e->text.data, e->text.len, e->caret);
}

static size_t word_left(const struct editor *e)
{
    size_t pos = e->caret;
    while (pos > 0 && !is_word(e, pos - 1))
        pos--;
    while (pos > 0 && is_word(e, pos - 1))
        pos--;
    return editor_border(e, pos);
}

static size_t word_right(const struct editor *e)
{
    size_t pos = e->caret;
    while (pos < e->text.len && !is_word(e, pos))
        pos++;
    while (pos < e->text.len && is_word(e, pos))
        pos++;
    return editor_border(e, pos);
}

static size_t line_start(const struct editor *e)
{
    size_t pos = e->caret;
    while (pos > 0 && e->text.data[pos - 1] != '\n')
        pos--;
    return pos;
}

static size_t line_end(const struct editor *e)
{
    const char *newline = memchr(e->text.data + e->caret, '\n', e->text.len - e->caret);
    return newline ? (size_t)(newline - e->text.data) : e->text.len;
}

static size_t text_start(const struct editor *e)
{
    (void)e;
    return 0;
}

static size_t text_end(const struct editor *e)
{
    return e->text.len;
}

/* To the line's end, or over the newline if there already. */
static size_t kill_end(const struct editor *e)
{
    size_t end = line_end(e);
    return end == e->caret ? right(e) : end;
}

static size_t kill_start(const struct editor *e)
{
    size_t start = line_start(e);
    return start == e->caret ? left(e) : start;
}

/* --- the kill ring --- */

static void push_kill(struct editor *e, const char *text, size_t len)
{
    if (e->kills.len == KILLS_MAX) {
        free(e->kills.items[0]);
        vec_remove(&e->kills, 0, 1);
    }
    vec_push(&e->kills, mem_strndup(text, len));
}

static void add_to_kill(struct editor *e, const char *text, size_t len, bool before)
{
    char **last = &vec_last(&e->kills);
    char *piece = mem_strndup(text, len), *old = *last;
    *last = before ? mem_printf("%s%s", piece, old) : mem_printf("%s%s", old, piece);
    free(old);
    free(piece);
}

static bool kill_to(struct editor *e, size_t to)
{
    bool before = to < e->caret, more = e->killing && e->kills.len > 0;
    size_t from = before ? to : e->caret, end = before ? e->caret : to;
    end_runs(e);
    e->killing = true;
    if (from == end)
        return false;
    if (more)
        add_to_kill(e, e->text.data + from, end - from, before);
    else
        push_kill(e, e->text.data + from, end - from);
    editor_edit(e, from, end, "", 0, GROUP_ALONE);
    return true;
}

static void put_kill(struct editor *e, size_t from, size_t index)
{
    const char *text = e->kills.items[index];
    editor_edit(e, from, e->caret, text, strlen(text), GROUP_ALONE);
    end_runs(e);
    e->yanked = true;
    e->yank_from = from;
    e->yank_index = index;
}

static bool yank(struct editor *e)
{
    if (e->kills.len == 0)
        return false;
    put_kill(e, e->caret, e->kills.len - 1);
    return true;
}

static bool yank_pop(struct editor *e)
{
    if (!e->yanked || e->kills.len < 2)
        return false;
    put_kill(e, e->yank_from, e->yank_index ? e->yank_index - 1 : e->kills.len - 1);
    return true;
}

/* --- changes --- */

static bool erase_to(struct editor *e, size_t to)
{
    size_t from = to < e->caret ? to : e->caret, end = to < e->caret ? e->caret : to;
    end_runs(e);
    editor_edit(e, from, end, "", 0, GROUP_ERASED);
    return from != end;
}

/* Exchanges the graphemes around the caret; at a line's end, the two before it. */
static bool transpose(struct editor *e)
{
    size_t start = line_start(e), end = line_end(e), middle = e->caret;
    end_runs(e);
    if (middle == end && middle > start)
        middle = left(e);
    if (middle == start || middle == end)
        return false;
    size_t from = utf8_prev(e->text.data, e->text.len, middle);
    size_t to = utf8_next(e->text.data, e->text.len, middle);
    struct buf swapped = BUF_INIT;
    buf_add(&swapped, e->text.data + middle, to - middle);
    buf_add(&swapped, e->text.data + from, middle - from);
    editor_edit(e, from, to, swapped.data, swapped.len, GROUP_ALONE);
    buf_release(&swapped);
    return true;
}

static bool newline(struct editor *e)
{
    editor_insert(e, "\n", 1);
    return true;
}

static bool undo(struct editor *e)
{
    end_runs(e);
    return editor_undo(e);
}

static bool redo(struct editor *e)
{
    end_runs(e);
    return editor_redo(e);
}

static bool move_to(struct editor *e, size_t to)
{
    bool moved = to != e->caret;
    end_runs(e);
    e->open_group = false;
    e->caret = to;
    return moved;
}

static bool by_rows(struct editor *e, bool (*climb)(struct editor *))
{
    size_t goal = e->goal;
    end_runs(e);
    e->goal = goal;
    e->open_group = false;
    return climb(e);
}

static bool up(struct editor *e)
{
    return by_rows(e, editor_up);
}

static bool down(struct editor *e)
{
    return by_rows(e, editor_down);
}

/* What an action does: something with a place, or something of its own. */
static const struct {
    bool (*with)(struct editor *e, size_t pos);
    size_t (*place)(const struct editor *e);
    bool (*act)(struct editor *e);
} actions[ACTION_COUNT] = {
    [ACTION_LEFT] = {move_to, left, NULL},
    [ACTION_RIGHT] = {move_to, right, NULL},
    [ACTION_WORD_LEFT] = {move_to, word_left, NULL},
    [ACTION_WORD_RIGHT] = {move_to, word_right, NULL},
    [ACTION_LINE_START] = {move_to, line_start, NULL},
    [ACTION_LINE_END] = {move_to, line_end, NULL},
    [ACTION_TEXT_START] = {move_to, text_start, NULL},
    [ACTION_TEXT_END] = {move_to, text_end, NULL},
    [ACTION_BACKSPACE] = {erase_to, left, NULL},
    [ACTION_DELETE] = {erase_to, right, NULL},
    [ACTION_LEAVE] = {erase_to, right, NULL}, /* where a text is edited */
    [ACTION_KILL_END] = {kill_to, kill_end, NULL},
    [ACTION_KILL_START] = {kill_to, kill_start, NULL},
    [ACTION_KILL_WORD_LEFT] = {kill_to, word_left, NULL},
    [ACTION_KILL_WORD_RIGHT] = {kill_to, word_right, NULL},
    [ACTION_UP] = {NULL, NULL, up},
    [ACTION_DOWN] = {NULL, NULL, down},
    [ACTION_YANK] = {NULL, NULL, yank},
    [ACTION_YANK_POP] = {NULL, NULL, yank_pop},
    [ACTION_TRANSPOSE] = {NULL, NULL, transpose},
    [ACTION_NEWLINE] = {NULL, NULL, newline},
    [ACTION_UNDO] = {NULL, NULL, undo},
    [ACTION_REDO] = {NULL, NULL, redo},
};

bool editor_do(struct editor *e, enum action action)
{
    if (actions[action].act)
        return actions[action].act(e);
    return actions[action].with && actions[action].with(e, actions[action].place(e));
}

bool editor_take_key(struct editor *e, enum action action, const struct key *key)
{
    if (action != ACTION_NONE)
        return action != ACTION_UP && action != ACTION_DOWN && editor_do(e, action);
    if (key->code != K_CHAR || key->ctrl || key->alt || key->cp < ' ')
        return false;
    char text[4];
    editor_insert(e, text, utf8_encode(key->cp, text));
    return true;
}

bool editor_move(struct editor *e, enum action action, int page)
{
    const struct {
        enum action action, edit;
        int times;
    } moves[] = {{ACTION_UP, ACTION_UP, 1},
                 {ACTION_DOWN, ACTION_DOWN, 1},
                 {ACTION_SCROLL_UP, ACTION_UP, WHEEL_ROWS},
                 {ACTION_SCROLL_DOWN, ACTION_DOWN, WHEEL_ROWS},
                 {ACTION_PAGE_UP, ACTION_UP, page},
                 {ACTION_PAGE_DOWN, ACTION_DOWN, page},
                 {ACTION_TOP, ACTION_TEXT_START, 1},
                 {ACTION_BOTTOM, ACTION_TEXT_END, 1}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (moves[i].action != action)
            continue;
        for (int n = 0; n < moves[i].times && editor_do(e, moves[i].edit); n++)
            ;
        return true;
    }
    return false;
}

enum { UNDO_MAX = 1000 };

static void edit_release(struct edit *edit)
{
    buf_release(&edit->removed);
    buf_release(&edit->inserted);
}

static void drop_edits(struct editor *e, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++)
        edit_release(&e->edits.items[i]);
    vec_remove(&e->edits, from, count);
}

void editor_undo_forget(struct editor *e)
{
    drop_edits(e, 0, e->edits.len);
    e->done = 0;
    e->open_group = false;
}

void editor_undo_release(struct editor *e)
{
    editor_undo_forget(e);
    vec_release(&e->edits);
}

static void change(struct editor *e, size_t pos, size_t old_len, const char *text, size_t len)
{
    buf_splice(&e->text, pos, old_len, text, len);
    editor_layout_changed(e, pos, old_len, len);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

static bool continues_word(const struct edit *last, size_t from, const char *text, size_t len)
{
    const struct buf *typed = &last->inserted;
    if (last->pos + typed->len != from || typed->len == 0 || len == 0)
        return false;
    return is_blank(*text) || !is_blank(typed->data[typed->len - 1]);
}

/* Lets the last step take the edit in. */
static bool join(struct editor *e, size_t from, size_t to, const char *text, size_t len,
                 enum edit_group group)
{
    struct edit *last = e->done ? &e->edits.items[e->done - 1] : NULL;
    if (!e->open_group || !last || last->group != group || group == GROUP_ALONE)
        return false;
    const char *gone = e->text.data + from;
    if (group == GROUP_TYPED && from == to && continues_word(last, from, text, len)) {
        buf_add(&last->inserted, text, len);
        return true;
    }
    if (group != GROUP_ERASED || (to != last->pos && from != last->pos))
        return false;
    buf_splice(&last->removed, to == last->pos ? 0 : last->removed.len, 0, gone, to - from);
    last->pos = from;
    return true;
}

void editor_edit(struct editor *e, size_t from, size_t to, const char *text, size_t len,
                 enum edit_group group)
{
    if (from == to && len == 0)
        return;
    drop_edits(e, e->done, e->edits.len - e->done);
    if (!join(e, from, to, text, len, group)) {
        struct edit edit = {from, BUF_INIT, BUF_INIT, e->caret, group};
        buf_add(&edit.removed, e->text.data + from, to - from);
        buf_add(&edit.inserted, text, len);
        if (e->edits.len == UNDO_MAX)
            drop_edits(e, 0, 1);
        vec_push(&e->edits, edit);
        e->done = e->edits.len;
    }
    e->open_group = true;
    change(e, from, to - from, text, len);
    e->caret = editor_border(e, from + len);
}

bool editor_undo(struct editor *e)
{
    if (e->done == 0)
        return false;
    const struct edit *edit = &e->edits.items[--e->done];
    change(e, edit->pos, edit->inserted.len, edit->removed.data, edit->removed.len);
    e->caret = edit->caret_before;
    e->open_group = false;
    return true;
}

bool editor_redo(struct editor *e)
{
    if (e->done == e->edits.len)
        return false;
    const struct edit *edit = &e->edits.items[e->done++];
    change(e, edit->pos, edit->removed.len, edit->inserted.data, edit->inserted.len);
    e->caret = editor_border(e, edit->pos + edit->inserted.len);
    e->open_group = false;
    return true;
}

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

enum { HISTORY_MAX = 1000 };

static void leave_history(struct editor *e)
{
    free(e->unsent);
    e->unsent = NULL;
    e->history_back = 0;
}

void editor_history_release(struct editor *e)
{
    leave_history(e);
    vec_free_each(&e->history);
}

void editor_history_add(struct editor *e, const char *text)
{
    leave_history(e);
    if (!*text || (e->history.len && strcmp(vec_last(&e->history), text) == 0))
        return;
    if (e->history.len == HISTORY_MAX) {
        free(e->history.items[0]);
        vec_remove(&e->history, 0, 1);
    }
    vec_push(&e->history, mem_strdup(text));
}

void editor_history_load(struct editor *e, char *const *newest_first, size_t count)
{
    size_t back = e->history_back;
    char *unsent = e->unsent;
    e->unsent = NULL;
    editor_history_release(e);
    while (count-- > 0)
        editor_history_add(e, newest_first[count]);
    e->history_back = back < e->history.len ? back : e->history.len;
    if (e->history_back > 0) /* the person is on the way through it already */
        e->unsent = unsent;
    else
        free(unsent);
}

bool editor_history_older(struct editor *e)
{
    if (e->history_back == e->history.len)
        return false;
    if (e->history_back == 0)
        e->unsent = mem_strdup(e->text.data);
    e->history_back++;
    editor_set(e, e->history.items[e->history.len - e->history_back]);
    return true;
}

bool editor_history_newer(struct editor *e)
{
    if (e->history_back == 0)
        return false;
    e->history_back--;
    if (e->history_back > 0) {
        editor_set(e, e->history.items[e->history.len - e->history_back]);
        return true;
    }
    editor_set(e, e->unsent);
    leave_history(e);
    return true;
}

size_t editor_history_count(const struct editor *e)
{
    return e->history.len;
}

const char *editor_history_at(const struct editor *e, size_t index_from_newest)
{
    return index_from_newest < e->history.len
               ? e->history.items[e->history.len - 1 - index_from_newest]
               : NULL;
}

/* Every byte stays where it is. */
static char *without_breaks(const char *text)
{
    char *copy = mem_strdup(text);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return copy;
}

/* Where the last so many columns before `end` begin. */
static size_t last_columns(const char *text, size_t end, size_t columns)
{
    size_t from = 0, width = utf8_width(text, end);
    while (from < end && width > columns) {
        size_t next = utf8_next(text, end, from);
        width -= utf8_width(text + from, next - from);
        from = next;
    }
    return from;
}

/* The end is seen while the caret is in it; else a third of the room is for what follows the
 * caret, which itself needs a place behind the text. */
static size_t first_shown(const char *text, size_t caret, size_t columns, size_t sign)
{
    size_t len = strlen(text), room = columns > sign + 1 ? columns - sign - 1 : 0;
    if (utf8_width(text, len) < columns)
        return 0;
    size_t end = last_columns(text, len, room);
    return caret > end ? end : last_columns(text, caret, room - room / 3);
}

size_t edit_line(struct rows *out, const struct editor *e, size_t columns, int *caret)
{
    const char *sign = glyph(GLYPH_ELLIPSIS);
    size_t width = utf8_width(sign, strlen(sign)), used = 0, at = editor_caret(e);
    size_t sign_width = columns > width + 2 ? width : 0;
    char *text = without_breaks(editor_text(e));
    size_t from = first_shown(text, at, columns, sign_width);
    if (from > 0 && sign_width > 0) {
        rows_addstr(out, sign, STYLE_DIM, 0);
        used = sign_width;
    }
    *caret = (int)(used + utf8_width(text + from, at - from));
    size_t len = utf8_cut_width(text + from, strlen(text + from), columns - used);
    rows_add(out, text + from, len, STYLE_EDITOR, 0);
    used += utf8_width(text + from, len);
    free(text);
    return used;
}

static void paste(struct editor *e, const char *text, size_t most)
{
    struct buf line = BUF_INIT;
    size_t len = editor_len(e), room = len < most ? most - len : 0;
    utf8_clean(&line, text, utf8_cut_bytes(text, strlen(text), room), UTF8_ONE_LINE);
    editor_paste(e, line.data, line.len);
    buf_release(&line);
}

bool edit_line_key(struct editor *e, size_t most, enum action action, const struct key *key)
{
    bool grows = key->code == K_CHAR && action == ACTION_NONE;
    if (action == ACTION_CLEAR && editor_len(e) > 0)
        editor_set(e, "");
    else if (key->code == K_PASTE)
        paste(e, key->text, most);
    else if (action == ACTION_NEWLINE || (grows && editor_len(e) >= most))
        return true;
    else
        return editor_take_key(e, action, key);
    return true;
}
