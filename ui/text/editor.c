#include "ui/text/editor.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "ui/text/folds.h"
#include "ui/text/wrap.h"

enum {
    DEFAULT_WIDTH = 80,
    HISTORY_MAX = 1000,
    KILLS_MAX = 32,
    LOOK_BACK = 128, /* bytes before a place in which a grapheme border is looked for */
    UNDO_MAX = 1000,
    WHEEL_ROWS = 3
};

enum edit_group {
    GROUP_ALONE, /* a step of its own */
    GROUP_TYPED, /* joins typed text that it continues, up to the next word */
    GROUP_ERASED /* joins text erased beside it */
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
    struct buf text; /* with a sign for each long paste (folds.h) */
    struct folds folds;
    struct buf whole; /* the text as it is sent */
    bool whole_fits;  /* it fits the text */
    size_t caret;
    VEC(struct edit) edits; /* [0, done) can be undone, the others redone */
    size_t done;
    bool open_group; /* the last edit may be continued */

    VEC(char *) kills; /* newest last */
    bool killing;      /* the last action was a kill: the next one adds to it */
    bool yanked;       /* the last action was a yank, of this kill to this place: */
    size_t yank_from, yank_index;

    struct edit_layout layout;
    size_t goal; /* column that up and down aim for; SIZE_MAX: the caret's */

    VEC(char *) history; /* newest last */
    size_t history_back; /* entries back from the newest; 0: not in the history */
    char *unsent;        /* the text from before the history was entered */
};

/* The first grapheme border at or after `pos`, where a character begins. */
static size_t border(const struct editor *e, size_t pos)
{
    const char *text = e->text.data;
    size_t len = e->text.len, at = pos, least = pos > LOOK_BACK ? pos - LOOK_BACK : 0;
    while (at > least && ((unsigned char)text[at - 1] & 0x80))
        at--;
    if (at > least)
        at--; /* onto an ASCII character, which begins at a border */
    while (at > 0 && at < len && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    while (at < pos)
        at = utf8_next(text, len, at);
    return at;
}

/* The graphemes, or folds, on both sides of a place. */
static size_t next_of(const struct editor *e, size_t pos)
{
    size_t to;
    return fold_behind(e->text.data, e->text.len, pos, &to)
               ? to
               : utf8_next(e->text.data, e->text.len, pos);
}

static size_t previous_of(const struct editor *e, size_t pos)
{
    size_t from;
    return fold_before(e->text.data, pos, &from) ? from : utf8_prev(e->text.data, e->text.len, pos);
}

/* The place, or where it is within a fold, that fold's beginning or end. */
static size_t outside(const struct editor *e, size_t pos, bool left)
{
    size_t from, to;
    if (!fold_around(e->text.data, e->text.len, pos, &from, &to))
        return pos;
    return left ? from : to;
}

/* --- layout --- */

/* Where the row after the one at `start` begins; SIZE_MAX: there is none. The caret needs a place
 * behind a newline and behind a full row. */
static size_t next_start(const struct editor *e, size_t start)
{
    const char *text = e->text.data;
    size_t len = e->text.len, width = (size_t)e->layout.width;
    if (start == len)
        return SIZE_MAX;
    struct wrap_piece p = wrap_next(text, len, start, width, WRAP_KEEP);
    if (p.next == len && text[len - 1] != '\n' && wrap_columns(text + start, len - start) < width)
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

/* Changes the text and its rows. A row's end depends on its text and on a little of the text behind
 * it (wrap_next()): two rows before the edit are wrapped again, and the rows after it until one
 * begins where one did before. */
static void change(struct editor *e, size_t pos, size_t old_len, const char *text, size_t new_len)
{
    struct edit_layout *l = &e->layout;
    AUTO(vec_release_local) VEC(size_t) fresh = {0};
    buf_splice(&e->text, pos, old_len, text, new_len);
    l->drawn = e->whole_fits = false;
    if (l->width == 0)
        return;
    size_t row = row_of(e, pos), first = row > 2 ? row - 2 : 0;
    size_t start = l->starts.items[first], old = first + 1, len = l->starts.len;
    while ((start = next_start(e, start)) != SIZE_MAX) {
        while (old < len && (l->starts.items[old] < pos + old_len ||
                             l->starts.items[old] + new_len < start + old_len))
            old++;
        if (start >= pos + new_len && old < len &&
            l->starts.items[old] + new_len == start + old_len)
            break;
        vec_push(&fresh, start);
    }
    old = start == SIZE_MAX ? len : old;
    for (size_t i = old; i < len; i++)
        l->starts.items[i] = l->starts.items[i] + new_len - old_len;
    /* the new starts take the place of [first + 1, old) */
    size_t end = first + 1 + fresh.len;
    vec_reserve(&l->starts, end + len - old);
    vec_move_(l->starts.items, end, old, len - old, sizeof *fresh.items);
    if (fresh.len)
        memcpy(l->starts.items + first + 1, fresh.items, fresh.len * sizeof *fresh.items);
    l->starts.len = end + len - old;
}

static void need_layout(struct editor *e, int width)
{
    struct edit_layout *l = &e->layout;
    if (l->width == width)
        return;
    l->width = width;
    l->drawn = false;
    vec_clear(&l->starts);
    for (size_t start = 0; start != SIZE_MAX; start = next_start(e, start))
        vec_push(&l->starts, start);
}

static size_t row_end(const struct editor *e, size_t row)
{
    size_t end = row + 1 < e->layout.starts.len ? e->layout.starts.items[row + 1] : e->text.len;
    bool newline = end > e->layout.starts.items[row] && e->text.data[end - 1] == '\n';
    return newline ? end - 1 : end;
}

static size_t column_of(const struct editor *e, size_t row, size_t pos)
{
    size_t start = e->layout.starts.items[row];
    size_t column = wrap_columns(e->text.data + start, pos - start);
    size_t last = (size_t)e->layout.width - 1;
    return column > last ? last : column;
}

/* A part of the text, with the label of a fold in another look, and with usual blanks. */
static void add_row(const struct editor *e, struct styled *line, size_t start, size_t end)
{
    const char *text = e->text.data;
    size_t from, to, next;
    bool folded = fold_around(text, e->text.len, start, &from, &to);
    for (size_t at = start; at < end; at = next) {
        bool blank = folded && end - at > 1 && memcmp(text + at, FOLD_BLANK, 2) == 0;
        next = at + (blank ? 2 : 1);
        if (!blank && !fold_is_drawn(text[at])) {
            folded = fold_behind(text, e->text.len, at, &to);
            continue;
        }
        while (!blank && next < end && fold_is_drawn(text[next]) &&
               !(folded && text[next] == *FOLD_BLANK))
            next++;
        styled_add(line, blank ? " " : text + at, blank ? 1 : next - at,
                   folded ? STYLE_LINK : STYLE_EDITOR, 0);
    }
}

struct editor_view editor_layout(struct editor *e, int width, int height)
{
    struct edit_layout *l = &e->layout;
    height = height < 1 ? 1 : height;
    need_layout(e, width < 1 ? 1 : width);
    size_t row = row_of(e, e->caret), rows = (size_t)height, count = l->starts.len;
    if (l->top + rows > count)
        l->top = count > rows ? count - rows : 0;
    if (row < l->top)
        l->top = row;
    else if (row >= l->top + rows)
        l->top = row + 1 - rows;
    size_t end = l->top + rows;
    struct wrap_look look = {(size_t)l->width, WRAP_HARD, NULL, NULL};
    bool drawn = l->drawn && l->shown == l->top && l->shown_end == end;
    if (!drawn)
        rows_clear(&l->rows);
    for (size_t i = 0; !drawn && i < count; i++) {
        size_t start = l->starts.items[i];
        if (i < l->top || i >= end) {
            rows_begin(&l->rows);
            continue;
        }
        AUTO(styled_release) struct styled line = STYLED_INIT;
        add_row(e, &line, start, row_end(e, i));
        wrap_text(&l->rows, &line, &look);
        l->rows.list.len = i + 1;
    }
    l->shown = l->top;
    l->shown_end = end;
    l->drawn = true;
    return (struct editor_view){&l->rows, count, l->top, (int)(row - l->top),
                                (int)column_of(e, row, e->caret)};
}

/* Moves the caret a row up or down, to the column where the movement began. */
static bool move_by_row(struct editor *e, bool down)
{
    need_layout(e, e->layout.width ? e->layout.width : DEFAULT_WIDTH);
    size_t row = row_of(e, e->caret), rows = e->layout.starts.len;
    if (down ? row + 1 == rows : row == 0)
        return false;
    if (e->goal == SIZE_MAX)
        e->goal = column_of(e, row, e->caret);
    row = down ? row + 1 : row - 1;
    size_t start = e->layout.starts.items[row], pos = start, end = row_end(e, row);
    bool goes_on = row + 1 < rows && end == e->layout.starts.items[row + 1];
    while (pos < end) {
        size_t next = utf8_next(e->text.data, end, pos);
        if (wrap_columns(e->text.data + start, next - start) > e->goal || (goes_on && next == end))
            break;
        pos = next;
    }
    e->caret = border(e, pos);
    if (e->caret > pos && !down) /* a row may begin within a grapheme that is wider than the row */
        e->caret = utf8_prev(e->text.data, e->text.len, e->caret);
    e->caret = outside(e, e->caret, !down);
    return true;
}

/* --- changes and undo --- */

static void drop_edits(struct editor *e, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        buf_release(&e->edits.items[i].removed);
        buf_release(&e->edits.items[i].inserted);
    }
    vec_remove(&e->edits, from, count);
}

/* Adds an edit to the last step, if it continues that. */
static bool join(struct editor *e, size_t from, size_t to, const char *text, size_t len,
                 enum edit_group group)
{
    struct edit *last = e->done ? &e->edits.items[e->done - 1] : NULL;
    if (!e->open_group || !last || last->group != group)
        return false;
    struct buf *typed = &last->inserted;
    if (group == GROUP_TYPED && from == to && last->pos + typed->len == from && typed->len > 0 &&
        len > 0 && (strchr(" \n\t", *text) || !strchr(" \n\t", typed->data[typed->len - 1]))) {
        buf_add(typed, text, len);
        return true;
    }
    if (group != GROUP_ERASED || (to != last->pos && from != last->pos))
        return false;
    buf_splice(&last->removed, to == last->pos ? 0 : last->removed.len, 0, e->text.data + from,
               to - from);
    last->pos = from;
    return true;
}

/* Replaces [from, to) and puts the caret behind the new text. */
static void edit(struct editor *e, size_t from, size_t to, const char *text, size_t len,
                 enum edit_group group)
{
    if (from == to && len == 0)
        return;
    drop_edits(e, e->done, e->edits.len - e->done);
    if (!join(e, from, to, text, len, group)) {
        struct edit step = {from, BUF_INIT, BUF_INIT, e->caret, group};
        buf_add(&step.removed, e->text.data + from, to - from);
        buf_add(&step.inserted, text, len);
        if (e->edits.len == UNDO_MAX)
            drop_edits(e, 0, 1);
        vec_push(&e->edits, step);
        e->done = e->edits.len;
    }
    e->open_group = true;
    change(e, from, to - from, text, len);
    e->caret = border(e, from + len);
}

/* Ends a run of kills, a yank that could be exchanged, and a movement by rows. */
static void end_runs(struct editor *e)
{
    e->killing = e->yanked = false;
    e->goal = SIZE_MAX;
}

/* Undoes the last step, or redoes the next one. */
static bool undo(struct editor *e, bool redo)
{
    end_runs(e);
    if (redo ? e->done == e->edits.len : e->done == 0)
        return false;
    const struct edit *step = &e->edits.items[redo ? e->done++ : --e->done];
    const struct buf *from = redo ? &step->removed : &step->inserted;
    const struct buf *to = redo ? &step->inserted : &step->removed;
    change(e, step->pos, from->len, to->data, to->len);
    e->caret = redo ? border(e, step->pos + to->len) : step->caret_before;
    e->open_group = false;
    return true;
}

/* --- the text --- */

struct editor *editor_new(void)
{
    struct editor *e = mem_alloc(sizeof *e);
    buf_init(&e->text, 0);
    buf_init(&e->whole, 0);
    rows_init(&e->layout.rows);
    e->goal = SIZE_MAX;
    return e;
}

void editor_free(struct editor *e)
{
    if (!e)
        return;
    vec_free_each(&e->kills);
    drop_edits(e, 0, e->edits.len);
    vec_release(&e->edits);
    vec_release(&e->layout.starts);
    rows_release(&e->layout.rows);
    folds_release(&e->folds);
    buf_release(&e->whole);
    vec_free_each(&e->history);
    free(e->unsent);
    buf_release(&e->text);
    free(e);
}

/* The text with what is folded. */
static const struct buf *whole(const struct editor *given)
{
    struct editor *e = (struct editor *)given; /* the whole text is only a cache */
    if (e->folds.items.len == 0)
        return &e->text;
    if (!e->whole_fits) {
        buf_clear(&e->whole);
        folds_expand(&e->folds, e->text.data, e->text.len, &e->whole);
        e->whole_fits = true;
    }
    return &e->whole;
}

static size_t inner(const struct editor *e, size_t pos)
{
    return folds_inner_place(&e->folds, e->text.data, e->text.len, pos);
}

const char *editor_text(const struct editor *e)
{
    return whole(e)->data;
}

size_t editor_len(const struct editor *e)
{
    return whole(e)->len;
}

size_t editor_caret(const struct editor *e)
{
    return folds_whole_place(&e->folds, e->text.data, e->text.len, e->caret);
}

void editor_set_caret(struct editor *e, size_t pos)
{
    end_runs(e);
    e->open_group = false;
    pos = inner(e, pos);
    while (pos < e->text.len && pos > 0 && ((unsigned char)e->text.data[pos] & 0xc0) == 0x80)
        pos--;
    e->caret = pos < e->text.len ? border(e, pos) : e->text.len;
}

static void replace(struct editor *e, size_t from, size_t to, const char *text, size_t len,
                    enum edit_group group)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    end_runs(e);
    utf8_clean(&clean, text, len, UTF8_MULTILINE);
    edit(e, from, to, clean.data, clean.len, group);
}

void editor_set(struct editor *e, const char *text)
{
    AUTO(buf_release) struct buf clean = BUF_INIT, folded = BUF_INIT;
    end_runs(e);
    utf8_clean(&clean, text ? text : "", text ? strlen(text) : 0, UTF8_MULTILINE);
    folds_fold_again(&e->folds, clean.data, clean.len, &folded);
    edit(e, 0, e->text.len, folded.data, folded.len, GROUP_ALONE);
}

void editor_start(struct editor *e, const char *text)
{
    editor_set(e, text);
    drop_edits(e, 0, e->edits.len);
    e->done = e->caret = 0;
    e->open_group = false;
}

void editor_insert(struct editor *e, const char *text, size_t len)
{
    replace(e, e->caret, e->caret, text, len, GROUP_TYPED);
}

void editor_paste(struct editor *e, const char *text, size_t len)
{
    replace(e, e->caret, e->caret, text, len, GROUP_ALONE);
}

void editor_paste_folded(struct editor *e, const char *text, size_t len)
{
    AUTO(buf_release) struct buf clean = BUF_INIT, sign = BUF_INIT;
    end_runs(e);
    utf8_clean(&clean, text, len, UTF8_MULTILINE);
    const struct buf *taken = folds_add(&e->folds, clean.data, clean.len, &sign) ? &sign : &clean;
    edit(e, e->caret, e->caret, taken->data, taken->len, GROUP_ALONE);
}

void editor_fold_draft(struct editor *e)
{
    AUTO(buf_release) struct buf sign = BUF_INIT;
    const char *text = e->text.data, *first = strchr(text, '\n'), *last = strrchr(text, '\n');
    if (e->folds.items.len > 0 || first == last ||
        !folds_add(&e->folds, first + 1, (size_t)(last - first) - 1, &sign))
        return;
    edit(e, (size_t)(first - text) + 1, (size_t)(last - text), sign.data, sign.len, GROUP_ALONE);
    e->caret = e->text.len;
}

bool editor_unfold(struct editor *e)
{
    struct fold *chosen = NULL, *next;
    size_t from, to, chosen_from = 0, chosen_to = 0;
    for (size_t at = 0; (next = folds_next(&e->folds, e->text.data, e->text.len, at, &from, &to)) &&
                        (!chosen || from <= e->caret);
         at = to) {
        chosen = next;
        chosen_from = from;
        chosen_to = to;
    }
    if (!chosen)
        return false;
    chosen->opened = true;
    end_runs(e);
    edit(e, chosen_from, chosen_to, chosen->text, chosen->len, GROUP_ALONE);
    return true;
}

void editor_replace(struct editor *e, size_t from, size_t to, const char *text)
{
    from = inner(e, from);
    to = inner(e, to);
    replace(e, from, to, text, strlen(text), GROUP_ALONE);
}

/* --- actions --- */

static bool is_word(const struct editor *e, size_t pos)
{
    unsigned char c = (unsigned char)e->text.data[pos];
    return isalnum(c) || c == '_' || c >= 0x80;
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

/* The place that an action moves to, erases to or cuts to. */
static size_t place_of(const struct editor *e, enum action action)
{
    size_t len = e->text.len, pos = e->caret;
    switch (action) {
    case ACTION_WORD_LEFT:
    case ACTION_KILL_WORD_LEFT:
        while (pos > 0 && !is_word(e, pos - 1))
            pos--;
        while (pos > 0 && is_word(e, pos - 1))
            pos--;
        return outside(e, border(e, pos), true);
    case ACTION_WORD_RIGHT:
    case ACTION_KILL_WORD_RIGHT:
        while (pos < len && !is_word(e, pos))
            pos++;
        while (pos < len && is_word(e, pos))
            pos++;
        return outside(e, border(e, pos), false);
    case ACTION_LINE_START:
        return line_start(e);
    case ACTION_LINE_END:
        return line_end(e);
    case ACTION_KILL_START: /* at the line's start: the newline before it */
        return line_start(e) == pos ? previous_of(e, pos) : line_start(e);
    case ACTION_KILL_END:
        return line_end(e) == pos ? next_of(e, pos) : line_end(e);
    case ACTION_TEXT_START:
        return 0;
    case ACTION_TEXT_END:
        return len;
    case ACTION_LEFT:
    case ACTION_BACKSPACE:
        return previous_of(e, pos);
    default:
        return next_of(e, pos);
    }
}

/* Cuts; kills that follow each other are one. */
static bool kill_to(struct editor *e, size_t to)
{
    bool before = to < e->caret, more = e->killing && e->kills.len > 0;
    size_t from = before ? to : e->caret, end = before ? e->caret : to;
    end_runs(e);
    e->killing = true;
    if (from == end)
        return false;
    char *piece = mem_strndup(e->text.data + from, end - from);
    if (more) {
        char **last = &vec_last(&e->kills), *old = *last;
        *last = before ? mem_printf("%s%s", piece, old) : mem_printf("%s%s", old, piece);
        free(old);
        free(piece);
    } else {
        if (e->kills.len == KILLS_MAX) {
            free(e->kills.items[0]);
            vec_remove(&e->kills, 0, 1);
        }
        vec_push(&e->kills, piece);
    }
    edit(e, from, end, "", 0, GROUP_ALONE);
    return true;
}

/* Replaces the text between `from` and the caret by a kill. */
static bool yank(struct editor *e, size_t from, size_t index)
{
    const char *text = e->kills.items[index];
    edit(e, from, e->caret, text, strlen(text), GROUP_ALONE);
    end_runs(e);
    e->yanked = true;
    e->yank_from = from;
    e->yank_index = index;
    return true;
}

/* Exchanges the graphemes around the caret; at a line's end, the two before it. */
static bool transpose(struct editor *e)
{
    const char *text = e->text.data;
    size_t start = line_start(e), end = line_end(e), middle = e->caret;
    end_runs(e);
    if (middle == end && middle > start)
        middle = previous_of(e, middle);
    if (middle == start || middle == end)
        return false;
    size_t from = previous_of(e, middle), to = next_of(e, middle);
    AUTO(buf_release) struct buf swapped = BUF_INIT;
    buf_add(&swapped, text + middle, to - middle);
    buf_add(&swapped, text + from, middle - from);
    edit(e, from, to, swapped.data, swapped.len, GROUP_ALONE);
    return true;
}

bool editor_do(struct editor *e, enum action action)
{
    size_t goal = e->goal, kills = e->kills.len, at = e->caret, to;
    switch (action) {
    case ACTION_LEFT:
    case ACTION_RIGHT:
    case ACTION_WORD_LEFT:
    case ACTION_WORD_RIGHT:
    case ACTION_LINE_START:
    case ACTION_LINE_END:
    case ACTION_TEXT_START:
    case ACTION_TEXT_END:
        e->caret = place_of(e, action);
        end_runs(e);
        e->open_group = false;
        return e->caret != at;
    case ACTION_BACKSPACE:
    case ACTION_DELETE:
    case ACTION_LEAVE: /* Ctrl-D deletes where a text is edited */
        to = place_of(e, action);
        end_runs(e);
        edit(e, to < at ? to : at, to < at ? at : to, "", 0, GROUP_ERASED);
        return to != at;
    case ACTION_KILL_END:
    case ACTION_KILL_START:
    case ACTION_KILL_WORD_LEFT:
    case ACTION_KILL_WORD_RIGHT:
        return kill_to(e, place_of(e, action));
    case ACTION_UP:
    case ACTION_DOWN:
        end_runs(e);
        e->goal = goal;
        e->open_group = false;
        return move_by_row(e, action == ACTION_DOWN);
    case ACTION_YANK:
        return kills > 0 && yank(e, at, kills - 1);
    case ACTION_YANK_POP:
        return e->yanked && kills > 1 &&
               yank(e, e->yank_from, e->yank_index ? e->yank_index - 1 : kills - 1);
    case ACTION_TRANSPOSE:
        return transpose(e);
    case ACTION_NEWLINE:
        editor_insert(e, "\n", 1);
        return true;
    case ACTION_UNDO:
    case ACTION_REDO:
        return undo(e, action == ACTION_REDO);
    default:
        return false;
    }
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

/* --- history --- */

static void leave_history(struct editor *e)
{
    free(e->unsent);
    e->unsent = NULL;
    e->history_back = 0;
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
    vec_free_each(&e->history);
    while (count-- > 0)
        editor_history_add(e, newest_first[count]);
    /* the user may have entered the history before it was loaded */
    e->history_back = back < e->history.len ? back : e->history.len;
    if (e->history_back > 0)
        e->unsent = unsent;
    else
        free(unsent);
}

bool editor_history_older(struct editor *e)
{
    if (e->history_back == e->history.len)
        return false;
    if (e->history_back == 0)
        e->unsent = mem_strdup(editor_text(e));
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

const char *editor_history_at(const struct editor *e, size_t index_from_newest)
{
    return index_from_newest < e->history.len
               ? e->history.items[e->history.len - 1 - index_from_newest]
               : NULL;
}

/* --- a text on one row --- */

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

size_t edit_line(struct rows *out, const struct editor *e, size_t columns, int *caret)
{
    const char *sign = glyph(GLYPH_ELLIPSIS);
    size_t width = utf8_width(sign, strlen(sign)), used = 0, at = e->caret, from = 0;
    size_t sign_width = columns > width + 2 ? width : 0, len = e->text.len;
    size_t room = columns > sign_width + 1 ? columns - sign_width - 1 : 0;
    auto_free char *text = mem_strdup(e->text.data);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' '; /* so that every byte stays where it is */
    if (utf8_width(text, len) >= columns) {
        /* The end is shown while the caret is in it; else a third of the room is for the text
         * behind the caret. The caret needs a column behind the text. */
        size_t end = last_columns(text, len, room);
        from = at > end ? end : last_columns(text, at, room - room / 3);
    }
    if (from > 0 && sign_width > 0) {
        rows_addstr(out, sign, STYLE_DIM, 0);
        used = sign_width;
    }
    *caret = (int)(used + utf8_width(text + from, at - from));
    size_t shown = utf8_cut_width(text + from, len - from, columns - used);
    rows_add(out, text + from, shown, STYLE_EDITOR, 0);
    return used + utf8_width(text + from, shown);
}

bool edit_line_key(struct editor *e, size_t most, enum action action, const struct key *key)
{
    size_t len = e->text.len, room = len < most ? most - len : 0;
    if (action == ACTION_CLEAR && len > 0) {
        editor_set(e, "");
    } else if (key->code == K_PASTE) {
        AUTO(buf_release) struct buf line = BUF_INIT;
        size_t cut = utf8_cut_bytes(key->text, strlen(key->text), room);
        utf8_clean(&line, key->text, cut, UTF8_ONE_LINE);
        editor_paste(e, line.data, line.len);
    } else if (action != ACTION_NEWLINE &&
               (key->code != K_CHAR || action != ACTION_NONE || room > 0)) {
        return editor_take_key(e, action, key);
    }
    return true;
}
