/* What of a review is on the screen: whose summary it is and what it saves, the keys, the text. */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "chat/context.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/view/draft_review.h"

#define PROMPT "> "
#define PROMPT_COLUMNS 2
#define ROOMY_COLUMNS 60      /* from here on the heading has its long words */
#define FOCUS_COLUMNS 12      /* less than this is no room to write in */
#define SEPARATOR_COLUMNS 3   /* " . " */
enum { BYTES_PER_TOKEN = 4 }; /* as the engine estimates */

static size_t columns(const char *text)
{
    return utf8_width(text, strlen(text));
}

/* Beside the pieces of the last row if it fits there. */
static void add_piece(struct rows *out, const char *text, enum style style, size_t width)
{
    size_t used = out->list.len > 0 ? rows_width(out, out->list.len - 1) : 0;
    bool beside = used > 0 && used + SEPARATOR_COLUMNS + columns(text) <= width;
    if (beside) {
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        rows_addstr(out, glyph(GLYPH_DOT), STYLE_DIM, 0);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
    } else {
        rows_begin(out);
    }
    rows_add_cut(out, text, width, style);
}

/* The figures are those of the summary as it is now. */
static void add_figures(const struct draft_review *r, size_t width, struct rows *out)
{
    struct buf text = BUF_INIT, before = BUF_INIT, after = BUF_INIT;
    int64_t grown = (int64_t)editor_len(r->text) - (int64_t)strlen(r->original);
    int64_t tokens = r->figures.tokens_after + grown / BYTES_PER_TOKEN;
    tokens = tokens > 0 ? tokens : 0;
    format_exact(&before, r->figures.tokens_before);
    format_exact(&after, tokens);
    buf_addf(&text, ngettext("%s %s ~%s token", "%s %s ~%s tokens", (unsigned long)tokens),
             before.data, glyph(GLYPH_ARROW), after.data);
    add_piece(out, text.data, STYLE_OVERLAY, width);
    buf_release(&text);
    buf_release(&before);
    buf_release(&after);
}

static void add_key(const struct keymap *keymap, enum action action, const char *what, size_t width,
                    struct rows *out)
{
    struct buf key = BUF_INIT, text = BUF_INIT;
    keymap_describe_first(keymap, action, &key);
    if (key.len > 0) {
        buf_addf(&text, "%s %s", key.data, what);
        add_piece(out, text.data, STYLE_PROMPT, width);
    }
    buf_release(&key);
    buf_release(&text);
}

static void add_keys(const struct draft_review *r, const struct keymap *keymap, size_t width,
                     struct rows *out)
{
    bool roomy = width >= ROOMY_COLUMNS;
    if (r->empty_refused)
        add_piece(out, _("an empty summary cannot be accepted"), STYLE_WARNING, width);
    else
        add_key(keymap, ACTION_SEND, _("accepts"), width, out);
    add_key(keymap, ACTION_CANCEL, _("rejects"), width, out);
    if (r->by_model)
        add_key(keymap, ACTION_DRAFT_FOCUS, roomy ? _("asks again with a focus") : _("focus"),
                width, out);
}

static void add_heading(const struct draft_review *r, const struct keymap *keymap, size_t width,
                        struct rows *out)
{
    add_piece(out, _("draft summary"), STYLE_OVERLAY_TITLE, width);
    if (*r->mode)
        add_piece(out, COMPACTION_MODE_LABEL(r->mode), STYLE_OVERLAY, width);
    add_figures(r, width, out);
    add_keys(r, keymap, width, out);
}

static void focus_hint(const struct keymap *keymap, struct buf *out)
{
    struct buf send = BUF_INIT, back = BUF_INIT;
    keymap_describe_first(keymap, ACTION_SEND, &send);
    keymap_describe_first(keymap, ACTION_CANCEL, &back);
    buf_addf(out, _("%s asks again, %s goes back"), send.data, back.data);
    buf_release(&send);
    buf_release(&back);
}

/* In place of the heading: "focus on: ...", and the keys where there is room for them. */
static void add_question(struct draft_review *r, const struct keymap *keymap, size_t width,
                         struct rows *out)
{
    struct buf hint = BUF_INIT;
    focus_hint(keymap, &hint);
    rows_begin(out);
    size_t used = rows_add_cut(out, _("focus on: "), width, STYLE_PROMPT);
    size_t room = width - used, beside = columns(hint.data) + 1;
    bool hinted = room >= beside + FOCUS_COLUMNS;
    if (hinted)
        room -= beside;
    int caret;
    (void)edit_line(out, r->focus, room, &caret);
    r->caret_row = (int)out->list.len - 1;
    r->caret_col = (int)used + caret;
    for (size_t at = rows_width(out, out->list.len - 1); hinted && at < width - beside + 1; at++)
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
    if (hinted)
        rows_addstr(out, hint.data, STYLE_DIM, 0);
    buf_release(&hint);
}

static void add_head(struct draft_review *r, const struct keymap *keymap, size_t width,
                     struct rows *out)
{
    if (r->stage == DRAFT_FOCUS)
        add_question(r, keymap, width, out);
    else
        add_heading(r, keymap, width, out);
}

static int text_width(int width)
{
    return width > PROMPT_COLUMNS + 2 ? width - PROMPT_COLUMNS - 1 : 1;
}

static void add_text(struct draft_review *r, int width, struct rows *out)
{
    struct editor_view view = editor_layout(r->text, text_width(width), r->text_rows);
    if (r->stage == DRAFT_TEXT) {
        r->caret_row = (int)out->list.len + view.caret_row;
        r->caret_col = PROMPT_COLUMNS + view.caret_col;
    }
    for (int i = 0; i < r->text_rows && view.top + (size_t)i < view.row_count; i++) {
        rows_begin(out);
        rows_addstr(out, i == 0 ? PROMPT : "  ", STYLE_PROMPT, 0);
        rows_append(out, view.rows, view.top + (size_t)i);
    }
}

static size_t room_of(int width)
{
    return width > 1 ? (size_t)width : 1;
}

int draft_review_height(struct draft_review *r, const struct keymap *keymap, int width)
{
    struct rows head;
    rows_init(&head);
    add_head(r, keymap, room_of(width), &head);
    size_t all = head.list.len + editor_layout(r->text, text_width(width), 1).row_count;
    rows_release(&head);
    return all < 10000 ? (int)all : 10000;
}

/* A row of the text stays whatever room there is: the keys come before the title and the figures.
 */
static void cut_head(struct rows *head, size_t height)
{
    size_t most = height > 1 ? height - 1 : 0;
    struct rows kept;
    if (head->list.len <= most)
        return;
    rows_init(&kept);
    for (size_t i = head->list.len - most; i < head->list.len; i++)
        rows_copy(&kept, head, i);
    rows_release(head);
    *head = kept;
}

const struct rows *draft_review_rows(struct draft_review *r, const struct keymap *keymap, int width,
                                     int height)
{
    rows_clear(&r->rows);
    add_head(r, keymap, room_of(width), &r->rows);
    cut_head(&r->rows, height > 0 ? (size_t)height : 0);
    r->text_rows = height - (int)r->rows.list.len;
    if (r->text_rows > 0)
        add_text(r, width, &r->rows);
    r->seen = true;
    return &r->rows;
}

void draft_review_announcement(const struct draft_review *r, int width, struct rows *out)
{
    bool writing = r->typed_ms > 0 && r->typed_ms + DRAFT_PAUSE_MS > r->announced_ms;
    const char *text = writing ? _("a draft summary is ready; stop typing to review it")
                               : _("a draft summary is ready");
    rows_begin(out);
    rows_add_cut(out, text, room_of(width), STYLE_OVERLAY_TITLE);
}
