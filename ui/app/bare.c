#include "ui/app/bare.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/app/app.h"
#include "ui/term/term.h"
#include "ui/view/hints.h"

enum { TERMINAL_TAB = 8, SOURCE_BYTES = 256 * 1024 /* above the view, and below */ };

/* --- rows --- */

/* Returns how many columns came. Terminals take a tab for a move, not for text that fills a row. */
static size_t add_character(struct buf *out, const char *bytes, size_t len, uint32_t cp,
                            size_t column)
{
    static const char blanks[] = "        ";
    char stand_in[CHARSET_STAND_IN_MAX];
    if (cp == '\t') {
        buf_add(out, blanks, TERMINAL_TAB - column % TERMINAL_TAB);
        return TERMINAL_TAB - column % TERMINAL_TAB;
    }
    if (cp != '\n' && charset_lacks(cp, stand_in)) {
        buf_addstr(out, stand_in);
        return strlen(stand_in);
    }
    buf_add(out, bytes, len);
    return (size_t)utf8_cp_width(cp);
}

/* Returns where `mark` is then. */
static size_t add_shown(struct buf *out, const struct buf *text, size_t mark)
{
    size_t column = 0, marked = 0;
    for (size_t at = 0; at < text->len;) {
        uint32_t cp;
        size_t len = utf8_decode(text->data + at, text->len - at, &cp);
        column += add_character(out, text->data + at, len, cp, column);
        column = cp == '\n' ? 0 : column;
        at += len;
        if (at <= mark)
            marked = out->len;
    }
    return marked;
}

static void break_rows(struct bare *b)
{
    int column = 0;
    vec_clear(&b->rows);
    vec_push(&b->rows, 0);
    for (size_t at = 0; at < b->text.len;) {
        uint32_t cp;
        size_t len = utf8_decode(b->text.data + at, b->text.len - at, &cp);
        int width = cp == '\n' ? 0 : utf8_cp_width(cp);
        if (column + width > b->width) {
            vec_push(&b->rows, at);
            column = 0;
        }
        column += width;
        at += len;
        if (cp == '\n' && at < b->text.len) {
            vec_push(&b->rows, at);
            column = 0;
        }
    }
}

static size_t row_at(const struct bare *b, size_t at)
{
    size_t low = 0, high = b->rows.len;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (b->rows.items[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void show_row(struct bare *b, size_t row)
{
    size_t height = (size_t)b->height, most = b->rows.len > height ? b->rows.len - height : 0;
    b->top = row < most ? row : most;
}

void bare_init(struct bare *b, const struct buf *text, size_t at)
{
    *b = (struct bare){.width = 1, .height = 1};
    buf_init(&b->text, 0);
    vec_push(&b->rows, add_shown(&b->text, text, at));
}

void bare_release(struct bare *b)
{
    buf_release(&b->text);
    vec_release(&b->rows);
}

void bare_resize(struct bare *b, int width, int height)
{
    size_t at = b->rows.items[b->top];
    if (b->width == width && b->height == height)
        return;
    b->width = width > 1 ? width : 2; /* room for any character */
    b->height = height > 1 ? height : 1;
    break_rows(b);
    show_row(b, row_at(b, at));
}

void bare_scroll(struct bare *b, long rows)
{
    size_t back = rows < 0 ? (size_t)-rows : 0;
    show_row(b, rows < 0 ? (b->top > back ? b->top - back : 0) : b->top + (size_t)rows);
}

const char *bare_view(const struct bare *b, size_t *len)
{
    size_t from = b->rows.items[b->top], end = b->top + (size_t)b->height;
    size_t to = end < b->rows.len ? b->rows.items[end] : b->text.len;
    while (to > from && b->text.data[to - 1] == '\n')
        to--;
    *len = to - from;
    return b->text.data + from;
}

/* --- on the screen --- */

static struct bare *of(struct view *view)
{
    return (struct bare *)view;
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct bare *b = of(view);
    long by = moves_by_action(action, b->height > 2 ? b->height - 1 : 1, MOVES_WHEEL);
    if (by != 0)
        bare_scroll(b, by);
    else if (key->code != K_CLICK)
        view_close(view);
    return true;
}

static void free_view(struct view *view)
{
    bare_release(of(view));
    free(view);
    term_bare_end();
}

static const struct view_ops ops = {.layer = VIEW_BARE, .free = free_view, .key = take_key};

void bare_open(struct app *app)
{
    struct buf source = BUF_INIT;
    size_t at = transcript_source(app->transcript, SOURCE_BYTES, &source);
    if (source.len == 0) {
        app_note_briefly(app, STYLE_NOTE, "%s", _("There is nothing to select yet."));
        buf_release(&source);
        return;
    }
    struct bare *b = mem_alloc(sizeof *b);
    bare_init(b, &source, at);
    b->view = (struct view){.ops = &ops, .host = &app->host};
    buf_release(&source);
    views_open(&app->views, &b->view);
    app_touch_now(app, DIRTY_ALL);
}

void bare_draw(struct view *view)
{
    int rows, cols;
    size_t len;
    term_size(&rows, &cols);
    bare_resize(of(view), cols, rows - 1);
    const char *text = bare_view(of(view), &len);
    term_bare(text, len, _("Esc goes back. Select with the mouse. PgUp and PgDn scroll."));
}
