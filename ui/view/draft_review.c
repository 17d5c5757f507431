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

/* What of a review is on the screen: whose summary it is and what it saves, the keys, the text. */

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

static char *clean(const char *text)
{
    struct buf out = BUF_INIT;
    if (text)
        utf8_clean(&out, text, strlen(text), UTF8_ONE_LINE);
    return buf_take(&out);
}

void draft_review_begin(struct draft_review *r, const struct notice *n)
{
    draft_review_end(r);
    r->stage = DRAFT_WAITING;
    r->figures = n->draft;
    r->mode = clean(n->name);
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

bool draft_review_pending(const struct draft_review *r)
{
    return r->stage != DRAFT_NONE;
}

bool draft_review_open(const struct draft_review *r)
{
    return r->stage == DRAFT_TEXT || r->stage == DRAFT_FOCUS;
}

/* When it opens */

void draft_review_typed(struct draft_review *r, int64_t now_ms)
{
    r->typed_ms = now_ms;
}

int64_t draft_review_due(const struct draft_review *r)
{
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
    int64_t due = draft_review_due(r);
    if (free && due > 0 && now_ms >= due)
        show(r, DRAFT_TEXT);
}

void draft_review_hidden(struct draft_review *r)
{
    r->seen = false;
    r->announced_ms = 0;
}

/* Keys */

static bool is_blank(const struct editor *e)
{
    const char *text = editor_text(e);
    return text[strspn(text, " \t\r\n")] == '\0';
}

static enum review_key keep(struct draft_review *r)
{
    r->empty_refused = is_blank(r->text);
    return r->empty_refused ? REVIEW_TAKEN : REVIEW_KEEP;
}

static enum review_key refuse(struct draft_review *r)
{
    (void)r;
    return REVIEW_REFUSE;
}

static enum review_key ask_focus(struct draft_review *r)
{
    if (!r->by_model)
        return REVIEW_TAKEN;
    editor_start(r->focus, NULL);
    show(r, DRAFT_FOCUS);
    return REVIEW_TAKEN;
}

static enum review_key back_to_text(struct draft_review *r)
{
    show(r, DRAFT_TEXT);
    return REVIEW_TAKEN;
}

static enum review_key ask_again(struct draft_review *r)
{
    return is_blank(r->focus) ? back_to_text(r) : REVIEW_AGAIN;
}

/* What was emptied can be brought back: only the second time does anything end. */
static enum review_key clear_text(struct draft_review *r)
{
    if (editor_len(r->text) == 0)
        return REVIEW_STOP;
    editor_set(r->text, "");
    return REVIEW_TAKEN;
}

static enum review_key clear_focus(struct draft_review *r)
{
    if (editor_len(r->focus) == 0)
        return back_to_text(r);
    editor_set(r->focus, "");
    return REVIEW_TAKEN;
}

static enum review_key edit_outside(struct draft_review *r)
{
    (void)r;
    return REVIEW_EXTERNAL;
}

static enum review_key leave(struct draft_review *r)
{
    struct editor *e = draft_review_editor(r);
    if (editor_len(e) == 0)
        return REVIEW_LEAVE;
    editor_do(e, ACTION_DELETE);
    return REVIEW_TAKEN;
}

struct decision {
    enum action action;
    enum review_key (*run)(struct draft_review *r);
};

static const struct decision of_text[] = {
    {ACTION_SEND, keep},        {ACTION_CANCEL, refuse}, {ACTION_DRAFT_FOCUS, ask_focus},
    {ACTION_CLEAR, clear_text}, {ACTION_LEAVE, leave},   {ACTION_EXTERNAL, edit_outside},
    {ACTION_NONE, NULL}};

static const struct decision of_focus[] = {
    {ACTION_SEND, ask_again},    {ACTION_CANCEL, back_to_text}, {ACTION_DRAFT_FOCUS, back_to_text},
    {ACTION_CLEAR, clear_focus}, {ACTION_LEAVE, leave},         {ACTION_NONE, NULL}};

static const struct decision *decision_for(const struct draft_review *r, enum action action)
{
    const struct decision *d = r->stage == DRAFT_FOCUS ? of_focus : of_text;
    while (d->action != ACTION_NONE && d->action != action)
        d++;
    return d->run ? d : NULL;
}

static bool move(struct draft_review *r, enum action action)
{
    return editor_move(r->text, action, r->text_rows > 2 ? r->text_rows - 1 : 1);
}

static void paste_line(struct editor *e, const char *text)
{
    struct buf line = BUF_INIT;
    utf8_clean(&line, text, strcspn(text, "\r\n"), UTF8_ONE_LINE);
    editor_paste(e, line.data, line.len);
    buf_release(&line);
}

static void edit(struct draft_review *r, enum action action, const struct key *key)
{
    struct editor *e = draft_review_editor(r);
    bool one_line = r->stage == DRAFT_FOCUS;
    if (key->code == K_PASTE && one_line)
        paste_line(e, key->text);
    else if (key->code == K_PASTE)
        editor_paste(e, key->text, strlen(key->text));
    else if (!one_line || action != ACTION_NEWLINE)
        editor_take_key(e, action, key);
}

/* The transcript above can still be looked at. */
static bool passes(enum action action, const struct key *key)
{
    return key->code == K_CLICK || action == ACTION_HELP || action == ACTION_TOGGLE ||
           action == ACTION_TOGGLE_ALL;
}

enum review_key draft_review_key(struct draft_review *r, enum action action, const struct key *key)
{
    if (!draft_review_open(r) || passes(action, key))
        return REVIEW_PASS;
    r->empty_refused = false;
    const struct decision *decision = decision_for(r, action);
    if (decision)
        return r->seen ? decision->run(r) : REVIEW_TAKEN;
    if (r->stage == DRAFT_FOCUS || !move(r, action))
        edit(r, action, key);
    return REVIEW_TAKEN;
}

/* Texts */

struct editor *draft_review_editor(struct draft_review *r)
{
    return r->stage == DRAFT_FOCUS ? r->focus : r->text;
}

const char *draft_review_text(const struct draft_review *r)
{
    const char *text = editor_text(r->text);
    return r->original && strcmp(text, r->original) == 0 ? NULL : text;
}

const char *draft_review_focus(const struct draft_review *r)
{
    return editor_text(r->focus);
}

/* --- the view --- */

static struct draft_review *of(struct view *view)
{
    return (struct draft_review *)view;
}

static const struct draft_review *of_const(const struct view *view)
{
    return (const struct draft_review *)view;
}

static void close_view(struct view *view)
{
    if (!draft_review_pending(of(view)))
        return;
    draft_review_end(of(view));
    view_touch(view);
}

static void send_reply(struct view *view, enum draft_answer reply, const char *text)
{
    (void)view_ask(view, &operation_compaction_decide,
                   &(struct compaction_decide_params){.decision = reply, .text = text}, NULL);
    close_view(view);
}

static void send_kept(struct view *view)
{
    send_reply(view, DRAFT_COMMIT, draft_review_text(of(view)));
}

static void send_refused(struct view *view)
{
    send_reply(view, DRAFT_REFUSE, NULL);
}

static void send_again(struct view *view)
{
    send_reply(view, DRAFT_AGAIN, draft_review_focus(of(view)));
}

static void stop_turn(struct view *view)
{
    view->host->stop(view->host->app);
}

static void leave_program(struct view *view)
{
    view->host->leave(view->host->app);
}

static void open_editor(struct view *view)
{
    view->host->edit_outside(view->host->app, draft_review_editor(of(view)));
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    static void (*const what[])(struct view * view) = {
        [REVIEW_KEEP] = send_kept, [REVIEW_REFUSE] = send_refused, [REVIEW_AGAIN] = send_again,
        [REVIEW_STOP] = stop_turn, [REVIEW_LEAVE] = leave_program, [REVIEW_EXTERNAL] = open_editor,
    };
    enum review_key k = draft_review_key(of(view), action, key);
    if (k == REVIEW_PASS)
        return false;
    if (k != REVIEW_TAKEN)
        what[k](view);
    view_touch(view);
    return true;
}

/* Nobody waits for its answer any more. */
static bool ends_review(const struct notice *n)
{
    if (n->type == NOTICE_SESSION)
        return n->flag;
    if (n->type == NOTICE_BUSY)
        return !n->flag;
    enum event_type type = n->type == NOTICE_EVENT ? n->event->type : EVENT_TEXT_DELTA;
    return type == EVENT_COMPACTION_COMPLETED || type == EVENT_COMPACTION_FAILED ||
           type == EVENT_TURN_COMPLETED || type == EVENT_TURN_FAILED || type == EVENT_INTERRUPTED;
}

static void notice(struct view *view, struct notice *n)
{
    if (n->type == NOTICE_DRAFT)
        draft_review_begin(of(view), n);
    else if (ends_review(n))
        close_view(view);
}

static bool shown(const struct view *view)
{
    return draft_review_pending(of_const(view));
}

static bool leaves_keys(const struct view *view)
{
    return !draft_review_open(of_const(view));
}

static int64_t due(const struct view *view)
{
    return draft_review_due(of_const(view));
}

static void release(struct view *view)
{
    draft_review_release(of(view));
}

static const struct view_ops ops = {
    .layer = VIEW_DRAFT,
    .free = release,
    .close = close_view,
    .shown = shown,
    .passes = leaves_keys,
    .key = take_key,
    .notice = notice,
    .due = due,
    .due_with_keys = true,
};

void draft_review_init(struct draft_review *r, const struct view_host *host)
{
    *r = (struct draft_review){
        .view = {.ops = &ops, .host = host}, .text = editor_new(), .focus = editor_new()};
    rows_init(&r->rows);
}

void draft_review_release(struct draft_review *r)
{
    draft_review_end(r);
    editor_free(r->text);
    editor_free(r->focus);
    rows_release(&r->rows);
}
