#include "ui/view/draft_review.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/context.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"

enum {
    PROMPT_COLUMNS = 2,    /* of "> " */
    ROOMY_COLUMNS = 60,    /* from here on the heading has its long words */
    FOCUS_COLUMNS = 12,    /* less than this is no room to write in */
    SEPARATOR_COLUMNS = 3, /* " . " */
    BYTES_PER_TOKEN = 4,   /* as the engine estimates */
    FOCUS_BYTES = 1024,
    HEIGHT_MOST = 10000
};

/* --- rows ------------------------------------------------------------------------------------- */

/* Beside the pieces of the last row if it fits there. */
static void add_piece(struct rows *out, const char *text, enum style style, size_t width)
{
    size_t used = out->list.len > 0 ? rows_width(out, out->list.len - 1) : 0;
    if (used > 0 && used + SEPARATOR_COLUMNS + utf8_width(text, strlen(text)) <= width) {
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        rows_addstr(out, glyph(GLYPH_DOT), STYLE_DIM, 0);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
    } else {
        rows_begin(out);
    }
    rows_add_cut(out, text, width, style);
}

static void add_key(const struct keymap *keymap, enum action action, const char *what, size_t width,
                    struct rows *out)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    keymap_describe_first(keymap, action, &text);
    if (text.len == 0)
        return;
    buf_addf(&text, " %s", what);
    add_piece(out, text.data, STYLE_PROMPT, width);
}

/* "draft summary · Structured · 51,204 → ~9,204 tokens · Enter accepts …": the figures are those of
 * the summary as it is now. */
static void add_heading(const struct draft_review *r, const struct keymap *keymap, size_t width,
                        struct rows *out)
{
    int64_t grown = (int64_t)editor_len(r->text) - (int64_t)strlen(r->original);
    int64_t tokens = r->figures.tokens_after + grown / BYTES_PER_TOKEN;
    tokens = tokens > 0 ? tokens : 0;
    auto_free char *before = format_exact(r->figures.tokens_before);
    auto_free char *after = format_exact(tokens);
    auto_free char *figures =
        mem_printf(ngettext("%s %s ~%s token", "%s %s ~%s tokens", (unsigned long)tokens), before,
                   glyph(GLYPH_ARROW), after);
    add_piece(out, _("draft summary"), STYLE_OVERLAY_TITLE, width);
    if (*r->mode)
        add_piece(out, COMPACTION_MODE_LABEL(r->mode), STYLE_OVERLAY, width);
    add_piece(out, figures, STYLE_OVERLAY, width);
    if (r->empty_refused)
        add_piece(out, _("an empty summary cannot be accepted"), STYLE_WARNING, width);
    else
        add_key(keymap, ACTION_SEND, _("accepts"), width, out);
    add_key(keymap, ACTION_CANCEL, _("rejects"), width, out);
    if (r->by_model)
        add_key(keymap, ACTION_DRAFT_FOCUS,
                width >= ROOMY_COLUMNS ? _("asks again with a focus") : _("focus"), width, out);
}

/* The heading; or in its place "focus on: ...", and the keys where there is room for them. */
static void add_head(struct draft_review *r, const struct keymap *keymap, int width,
                     struct rows *out)
{
    size_t all = width > 1 ? (size_t)width : 1;
    if (r->stage != DRAFT_FOCUS) {
        add_heading(r, keymap, all, out);
        return;
    }
    AUTO(buf_release) struct buf send = BUF_INIT;
    AUTO(buf_release) struct buf back = BUF_INIT;
    int caret;
    keymap_describe_first(keymap, ACTION_SEND, &send);
    keymap_describe_first(keymap, ACTION_CANCEL, &back);
    auto_free char *hint = mem_printf(_("%s asks again, %s goes back"), send.data, back.data);
    rows_begin(out);
    size_t used = rows_add_cut(out, _("focus on: "), all, STYLE_PROMPT);
    size_t room = all - used, beside = utf8_width(hint, strlen(hint)) + 1;
    bool hinted = room >= beside + FOCUS_COLUMNS;
    room -= hinted ? beside : 0;
    size_t columns = edit_line(out, r->focus, room, &caret);
    r->caret_row = (int)out->list.len - 1;
    r->caret_col = (int)used + caret;
    if (hinted) {
        rows_pad(out, room - columns + 1, STYLE_OVERLAY);
        rows_addstr(out, hint, STYLE_DIM, 0);
    }
}

int draft_review_height(struct draft_review *r, const struct keymap *keymap, int width)
{
    int columns = width > PROMPT_COLUMNS + 2 ? width - PROMPT_COLUMNS - 1 : 1;
    struct rows head;
    rows_init(&head);
    add_head(r, keymap, width, &head);
    size_t all = head.list.len + editor_layout(r->text, columns, 1).row_count;
    rows_release(&head);
    return all < HEIGHT_MOST ? (int)all : HEIGHT_MOST;
}

/* A row of the text stays whatever room there is, and the keys come before title and figures. */
const struct rows *draft_review_rows(struct draft_review *r, const struct keymap *keymap, int width,
                                     int height)
{
    int columns = width > PROMPT_COLUMNS + 2 ? width - PROMPT_COLUMNS - 1 : 1;
    struct rows head;
    size_t most = height > 1 ? (size_t)height - 1 : 0;
    rows_init(&head);
    add_head(r, keymap, width, &head);
    rows_clear(&r->rows);
    for (size_t i = head.list.len > most ? head.list.len - most : 0; i < head.list.len; i++)
        rows_copy(&r->rows, &head, i);
    rows_release(&head);
    r->text_rows = height - (int)r->rows.list.len;
    r->seen = true;
    if (r->text_rows <= 0)
        return &r->rows;
    struct editor_view view = editor_layout(r->text, columns, r->text_rows);
    if (r->stage == DRAFT_TEXT) {
        r->caret_row = (int)r->rows.list.len + view.caret_row;
        r->caret_col = PROMPT_COLUMNS + view.caret_col;
    }
    for (int i = 0; i < r->text_rows && view.top + (size_t)i < view.row_count; i++) {
        rows_begin(&r->rows);
        rows_addstr(&r->rows, i == 0 ? "> " : "  ", STYLE_PROMPT, 0);
        rows_append(&r->rows, view.rows, view.top + (size_t)i);
    }
    return &r->rows;
}

void draft_review_announcement(const struct draft_review *r, int width, struct rows *out)
{
    bool writing = r->typed_ms > 0 && r->typed_ms + DRAFT_PAUSE_MS > r->announced_ms;
    const char *text = writing ? _("a draft summary is ready; stop typing to review it")
                               : _("a draft summary is ready");
    rows_begin(out);
    rows_add_cut(out, text, width > 1 ? (size_t)width : 1, STYLE_OVERLAY_TITLE);
}

/* --- stages ----------------------------------------------------------------------------------- */

void draft_review_begin(struct draft_review *r, const struct notice *n)
{
    draft_review_end(r);
    r->stage = DRAFT_WAITING;
    r->figures = n->draft;
    r->mode = utf8_clean_line(n->name);
    r->by_model = n->detail != NULL;
    editor_start(r->text, n->text);
    r->original = mem_strdup(editor_text(r->text));
}

void draft_review_end(struct draft_review *r)
{
    r->stage = DRAFT_NONE;
    r->seen = r->empty_refused = false;
    r->announced_ms = 0;
    free(r->original);
    free(r->mode);
    r->original = r->mode = NULL;
    editor_start(r->text, NULL);
    editor_start(r->focus, NULL);
}

bool draft_review_pending(const struct view *view)
{
    return ((const struct draft_review *)view)->stage != DRAFT_NONE;
}

bool draft_review_open(const struct draft_review *r)
{
    return r->stage == DRAFT_TEXT || r->stage == DRAFT_FOCUS;
}

int64_t draft_review_due(const struct view *view)
{
    const struct draft_review *r = (const struct draft_review *)view;
    if (r->stage != DRAFT_WAITING || r->announced_ms == 0)
        return 0;
    int64_t looked = r->announced_ms + DRAFT_LOOK_MS;
    int64_t paused = r->typed_ms > 0 ? r->typed_ms + DRAFT_PAUSE_MS : 0;
    return looked > paused ? looked : paused;
}

static void show(struct draft_review *r, enum draft_stage stage)
{
    r->stage = stage;
    r->seen = r->empty_refused = false;
}

void draft_review_advance(struct draft_review *r, bool free, int64_t now_ms)
{
    if (r->stage == DRAFT_WAITING && r->announced_ms == 0)
        r->announced_ms = now_ms > 0 ? now_ms : 1;
    int64_t due = draft_review_due(&r->view);
    if (free && due > 0 && now_ms >= due)
        show(r, DRAFT_TEXT);
}

void draft_review_hidden(struct draft_review *r)
{
    r->seen = false;
    r->announced_ms = 0;
}

/* --- keys ------------------------------------------------------------------------------------- */

static void close_view(struct view *view)
{
    if (!draft_review_pending(view))
        return;
    draft_review_end((struct draft_review *)view);
    view_touch(view);
}

static void decide(struct draft_review *r, enum draft_answer decision, const char *text)
{
    const struct compaction_decide_params reply = {.decision = decision, .text = text};
    (void)view_ask(&r->view, &operation_compaction_decide, &reply, NULL);
    close_view(&r->view);
}

/* A key that decides, in the text or in the line of the focus. */
static void decisive_key(struct draft_review *r, enum action action)
{
    const struct view_host *host = r->view.host;
    bool focus = r->stage == DRAFT_FOCUS;
    const char *text = editor_text(focus ? r->focus : r->text);
    if (action == ACTION_CLEAR &&
        *text) { /* it can be brought back: only the second time ends it */
        editor_set(focus ? r->focus : r->text, "");
    } else if (focus && action == ACTION_SEND && !utf8_is_blank(text)) {
        decide(r, DRAFT_AGAIN, text);
    } else if (focus) {
        show(r, DRAFT_TEXT);
    } else if (action == ACTION_EXTERNAL) {
        host->edit_outside(host->app, r->text);
    } else if (action == ACTION_CANCEL) {
        decide(r, DRAFT_REFUSE, NULL);
    } else if (action == ACTION_CLEAR) {
        host->act(host->app, ACTION_CANCEL);
    } else if (action == ACTION_SEND) {
        r->empty_refused = utf8_is_blank(text);
        if (!r->empty_refused)
            decide(r, DRAFT_COMMIT, strcmp(text, r->original) == 0 ? NULL : text);
    } else if (r->by_model) { /* ACTION_DRAFT_FOCUS */
        editor_start(r->focus, NULL);
        show(r, DRAFT_FOCUS);
    }
}

/* Keys that decide count only while they are shown. */
static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct draft_review *r = (struct draft_review *)view;
    const struct view_host *host = view->host;
    bool focus = r->stage == DRAFT_FOCUS;
    struct editor *e = focus ? r->focus : r->text;
    bool decides = action == ACTION_SEND || action == ACTION_CANCEL ||
                   action == ACTION_DRAFT_FOCUS || action == ACTION_CLEAR ||
                   action == ACTION_LEAVE || (action == ACTION_EXTERNAL && !focus);
    if (!draft_review_open(r) || key->code == K_CLICK || action == ACTION_HELP ||
        action == ACTION_TOGGLE || action == ACTION_TOGGLE_ALL) /* of the transcript above */
        return false;
    r->empty_refused = false;
    if (decides && !r->seen)
        return true;
    if (action == ACTION_LEAVE && editor_len(e) == 0)
        host->act(host->app, ACTION_LEAVE);
    else if (action == ACTION_LEAVE)
        editor_do(e, ACTION_DELETE);
    else if (decides)
        decisive_key(r, action);
    else if (focus)
        (void)edit_line_key(e, FOCUS_BYTES, action, key);
    else if (editor_move(e, action, r->text_rows > 2 ? r->text_rows - 1 : 1))
        ;
    else if (key->code == K_PASTE)
        editor_paste(e, key->text, strlen(key->text));
    else
        (void)editor_take_key(e, action, key);
    view_touch(view);
    return true;
}

/* --- the view --- */

/* The review is over when nobody waits for its answer any more. */
static void notice(struct view *view, struct notice *n)
{
    enum event_type type = n->type == NOTICE_EVENT ? n->event->type : EVENT_TEXT_DELTA;
    bool over = (n->type == NOTICE_SESSION && n->flag) || (n->type == NOTICE_BUSY && !n->flag) ||
                type == EVENT_COMPACTION_COMPLETED || type == EVENT_COMPACTION_FAILED ||
                type == EVENT_TURN_COMPLETED || type == EVENT_TURN_FAILED ||
                type == EVENT_INTERRUPTED;
    if (n->type == NOTICE_DRAFT)
        draft_review_begin((struct draft_review *)view, n);
    else if (over)
        close_view(view);
}

static bool leaves_keys(const struct view *view)
{
    return !draft_review_open((const struct draft_review *)view);
}

void draft_review_release(struct view *view)
{
    struct draft_review *r = (struct draft_review *)view;
    draft_review_end(r);
    editor_free(r->text);
    editor_free(r->focus);
    rows_release(&r->rows);
}

static const struct view_ops ops = {
    .layer = VIEW_DRAFT,
    .free = draft_review_release,
    .close = close_view,
    .shown = draft_review_pending,
    .passes = leaves_keys,
    .key = take_key,
    .notice = notice,
    .due = draft_review_due,
    .due_with_keys = true,
};

void draft_review_init(struct draft_review *r, const struct view_host *host)
{
    *r = (struct draft_review){
        .view = {.ops = &ops, .host = host}, .text = editor_new(), .focus = editor_new()};
    rows_init(&r->rows);
}
