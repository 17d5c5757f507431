#include "ui/text/editor.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/text/editor_private.h"

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
