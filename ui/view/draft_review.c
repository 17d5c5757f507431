#include "ui/view/draft_review.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/text/editor.h"

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
    return view->host->has_keys(view->host->app, view) ? draft_review_due(of_const(view)) : 0;
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
