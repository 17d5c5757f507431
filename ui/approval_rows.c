/* What of a question is on the screen: who asks, the text that can be scrolled, and the keys. */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/approval.h"
#include "ui/glyph.h"
#include "ui/wrap.h"

#define MARGIN 1

/* The text */

static bool begins(const char *line, const char *prefix)
{
    return strncmp(line, prefix, strlen(prefix)) == 0;
}

static bool is_diff(const char *text)
{
    return begins(text, "@@ ") || (begins(text, "--- ") && strstr(text, "\n@@ "));
}

/* Before the first hunk a line that begins so names a file. */
static enum style diff_style(const char *line, bool in_hunk)
{
    if (!in_hunk || *line == '@' || *line == '\\')
        return STYLE_DIM;
    return *line == '+' ? STYLE_DIFF_ADDED : *line == '-' ? STYLE_DIFF_REMOVED : STYLE_OVERLAY;
}

/* A row that goes on with the line above is marked: no text can look like a line of its own. */
static void lay_out_text(struct approval *a, int width)
{
    const char *text = a->questions.items[0].text;
    struct styled line, first, rest;
    bool diff = is_diff(text), in_hunk = false;
    styled_init(&line);
    styled_init(&first);
    styled_init(&rest);
    styled_addstr(&first, " ", STYLE_OVERLAY, 0);
    styled_addstr(&rest, glyph(GLYPH_POINTER), STYLE_DIM, 0);
    struct wrap_look look = {(size_t)width, WRAP_HARD, &first, &rest};
    rows_clear(&a->text);
    for (bool more = *text; more;) {
        size_t len = strcspn(text, "\n");
        in_hunk = in_hunk || begins(text, "@@ ");
        styled_clear(&line);
        styled_add(&line, text, len, diff ? diff_style(text, in_hunk) : STYLE_OVERLAY, 0);
        wrap_text(&a->text, &line, &look);
        text += len + (text[len] == '\n');
        more = *text;
    }
    styled_release(&line);
    styled_release(&first);
    styled_release(&rest);
    a->width = width;
}

/* The keys */

static void add_piece(struct rows *out, const char *text, enum style style, size_t width)
{
    size_t columns = utf8_width(text, strlen(text));
    size_t used = out->list.len > 0 ? rows_width(out, out->list.len - 1) : 0;
    bool fits = used > 0 && used + 3 + columns <= width;
    if (!fits) {
        rows_begin(out);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
    } else {
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        rows_addstr(out, glyph(GLYPH_DOT), STYLE_DIM, 0);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
    }
    rows_add_cut(out, text, width > MARGIN ? width - MARGIN : 1, style);
}

/* "This session" is for the tool, whatever it is asked next: so it is named. */
static void add_what(const struct approval *a, enum action action, const char *what,
                     struct buf *out)
{
    if (action == ACTION_ALLOW_SESSION)
        buf_addf(out, _("allow %s for this session"), a->questions.items[0].tool);
    else
        buf_addstr(out, _(what));
}

static void key_rows(const struct approval *a, const struct keymap *keymap, int width,
                     struct rows *out)
{
    static const struct {
        enum action action;
        const char *what;
    } keys[] = {{ACTION_ALLOW_ONCE, N_("allow once")},
                {ACTION_ALLOW_SESSION, NULL},
                {ACTION_DECLINE, N_("decline")}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct buf text = BUF_INIT;
        keymap_describe_first(keymap, keys[i].action, &text);
        if (text.len > 0) {
            buf_addch(&text, ' ');
            add_what(a, keys[i].action, keys[i].what, &text);
            add_piece(out, text.data, STYLE_PROMPT, (size_t)width);
        }
        buf_release(&text);
    }
}

/* In place of the keys, and of as many rows, while they do not count. */
static void pause_rows(const struct approval *a, size_t count, int width, struct rows *out)
{
    bool writing = a->typed_ms > 0 && a->typed_ms + APPROVAL_PAUSE_MS > a->shown_ms;
    const char *text = writing ? _("you are writing; pause to answer") : glyph(GLYPH_ELLIPSIS);
    for (size_t i = 0; i < count; i++) {
        rows_begin(out);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        if (i == 0)
            rows_add_cut(out, text, width > MARGIN ? (size_t)width - MARGIN : 1, STYLE_DIM);
    }
}

/* All together */

static void title_row(const struct approval *a, int width, struct rows *out)
{
    const struct question *q = &a->questions.items[0];
    struct buf place = BUF_INIT;
    if (a->text.list.len > a->page)
        buf_addf(&place, "%zu-%zu/%zu ", a->top + 1, a->top + a->page, a->text.list.len);
    char *asks = mem_printf(_("%s (%s) asks to run"), q->tool, q->class_name);
    size_t room = width > MARGIN ? (size_t)width - MARGIN : 1;
    size_t right = place.len < room ? place.len : 0;
    rows_begin(out);
    rows_addstr(out, " ", STYLE_OVERLAY_TITLE, 0);
    size_t gap = right > 0 && right < room;
    size_t used = rows_add_cut(out, asks, room - right - gap, STYLE_OVERLAY_TITLE);
    for (; used < room - right; used++)
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
    rows_add(out, place.data, right, STYLE_DIM, 0);
    free(asks);
    buf_release(&place);
}

static void arm(struct approval *a, int64_t now_ms)
{
    if (a->shown_ms == 0)
        a->shown_ms = now_ms > 0 ? now_ms : 1;
    int64_t due = approval_due(a);
    a->armed = a->armed || (due > 0 && now_ms >= due);
    if (a->armed)
        a->typed_ms = 0;
}

int approval_height(struct approval *a, const struct keymap *keymap, int width)
{
    struct rows keys;
    if (a->width != width)
        lay_out_text(a, width);
    rows_init(&keys);
    key_rows(a, keymap, width, &keys);
    size_t height = 1 + a->text.list.len + keys.list.len;
    rows_release(&keys);
    return height < 10000 ? (int)height : 10000;
}

static void blank_rows(struct rows *out, size_t height)
{
    while (out->list.len < height)
        rows_begin(out);
}

/* Where there is no room for all, the keys come first, then a row of the text, then the title. */
const struct rows *approval_rows(struct approval *a, const struct keymap *keymap, int width,
                                 int height, int64_t now_ms)
{
    struct rows keys;
    size_t all = height > 0 ? (size_t)height : 0;
    if (a->width != width)
        lay_out_text(a, width);
    arm(a, now_ms);
    rows_init(&keys);
    key_rows(a, keymap, width, &keys);
    size_t below = keys.list.len, title = all >= below + 2;
    a->page = all > below + title ? all - below - title : 0;
    size_t last = a->text.list.len > a->page ? a->text.list.len - a->page : 0;
    if (a->top > last)
        a->top = last;
    rows_clear(&a->rows);
    if (title)
        title_row(a, width, &a->rows);
    for (size_t i = a->top; i < a->text.list.len && i < a->top + a->page; i++)
        rows_copy(&a->rows, &a->text, i);
    blank_rows(&a->rows, title + a->page);
    if (!a->armed) {
        rows_clear(&keys);
        pause_rows(a, below, width, &keys);
    }
    for (size_t i = 0; i < below && a->rows.list.len < all; i++)
        rows_copy(&a->rows, &keys, i);
    rows_release(&keys);
    return &a->rows;
}
