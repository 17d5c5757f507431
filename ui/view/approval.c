#include "ui/view/approval.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/view/moves.h"

static void question_release(struct question *q)
{
    free(q->id);
    free(q->tool);
    free(q->class_name);
    free(q->text);
    free(q->guarded);
    free(q->grant);
}

void approval_release(struct approval *a)
{
    approval_forget(a);
    vec_release(&a->questions);
    rows_release(&a->text);
    rows_release(&a->rows);
}

static char *clean(const char *text)
{
    struct buf out = BUF_INIT;
    if (text)
        utf8_clean(&out, text, strlen(text), UTF8_ONE_LINE);
    return buf_take(&out);
}

static char *reveal(const char *text, enum utf8_clean_mode mode)
{
    struct buf revealed = BUF_INIT, out = BUF_INIT;
    utf8_reveal(&revealed, text, strlen(text), mode);
    charset_reveal(&out, revealed.data, revealed.len);
    buf_release(&revealed);
    return buf_take(&out);
}

/* Where a tool has no words of its own, its arguments say what it would do. */
static char *text_of(const struct notice *n)
{
    if (n->preview && *n->preview)
        return reveal(n->preview, UTF8_MULTILINE);
    const char *args = n->args ? n->args : "";
    struct json *all = json_parse(args, strlen(args), NULL);
    char *pretty = all ? json_print_pretty(all) : NULL;
    char *text = reveal(pretty ? pretty : args, UTF8_MULTILINE);
    free(pretty);
    json_free(all);
    return text;
}

/* The next question is looked at anew, so that a key that is held down answers one. */
static void show_next(struct approval *a)
{
    approval_hidden(a);
    a->width = 0;
}

void approval_ask(struct approval *a, const struct notice *n)
{
    struct question q = {.id = mem_strdup(n->text ? n->text : ""),
                         .tool = clean(n->name),
                         .class_name = clean(n->detail),
                         .text = text_of(n),
                         .guarded = n->guarded ? reveal(n->guarded, UTF8_ONE_LINE) : NULL,
                         .grant = n->grant ? reveal(n->grant, UTF8_ONE_LINE) : NULL};
    vec_push(&a->questions, q);
    if (a->questions.len == 1)
        show_next(a);
}

bool approval_over(struct approval *a, const char *id)
{
    for (size_t i = 0; id && i < a->questions.len; i++) {
        if (strcmp(a->questions.items[i].id, id) != 0)
            continue;
        question_release(&a->questions.items[i]);
        vec_remove(&a->questions, i, 1);
        if (i == 0)
            show_next(a);
        return true;
    }
    return false;
}

void approval_forget(struct approval *a)
{
    for (size_t i = 0; i < a->questions.len; i++)
        question_release(&a->questions.items[i]);
    vec_clear(&a->questions);
    show_next(a);
}

bool approval_open(const struct approval *a)
{
    return a->questions.len > 0;
}

const char *approval_id(const struct approval *a)
{
    return a->questions.items[0].id;
}

void approval_typed(struct approval *a, int64_t now_ms)
{
    a->typed_ms = now_ms;
    a->entered = false;
    if (now_ms > 0)
        a->armed = false;
}

int64_t approval_due(const struct approval *a)
{
    if (!approval_open(a) || a->shown_ms == 0 || a->armed)
        return 0;
    int64_t looked = a->shown_ms + APPROVAL_LOOK_MS;
    int64_t paused = a->typed_ms > 0 ? a->typed_ms + APPROVAL_PAUSE_MS : 0;
    return looked > paused ? looked : paused;
}

/* Its rows are others now, so it is read from the beginning. */
void approval_hidden(struct approval *a)
{
    a->armed = false;
    a->entered = false;
    a->shown_ms = 0;
    a->read = false;
    a->top = 0;
}

/* Moves */

static void move(struct approval *a, long rows)
{
    long last = a->text.list.len > a->page ? (long)(a->text.list.len - a->page) : 0;
    long to = (long)a->top + rows;
    a->top = (size_t)(to < 0 ? 0 : to < last ? to : last);
}

/* Home and End are of the text that is written meanwhile. */
static bool move_by_action(struct approval *a, enum action action)
{
    bool of_text = action == ACTION_LINE_START || action == ACTION_LINE_END;
    long page = a->page > 1 ? (long)a->page - 1 : 1;
    long by = of_text ? 0 : moves_by_action(action, page, MOVES_WHEEL);
    if (by != 0)
        move(a, by);
    return by != 0;
}

static bool move_by_letter(struct approval *a, const struct key *key)
{
    if (moves_is_letter(key, ' '))
        return move_by_action(a, ACTION_PAGE_DOWN);
    move(a, moves_by_letter(key));
    return moves_by_letter(key) != 0;
}

static bool answer_of(enum action action, enum approval_answer *answer)
{
    static const struct {
        enum action action;
        enum approval_answer answer;
    } answers[] = {{ACTION_ALLOW_ONCE, ANSWER_ONCE},
                   {ACTION_ALLOW_SESSION, ANSWER_SESSION},
                   {ACTION_DECLINE, ANSWER_DENY}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].action == action) {
            *answer = answers[i].answer;
            return true;
        }
    return false;
}

static bool is_offered(const struct approval *a, enum approval_answer answer)
{
    return answer != ANSWER_SESSION || a->questions.items[0].grant;
}

enum approval_key approval_key(struct approval *a, const struct keymap *keymap, enum action action,
                               const struct key *key, enum approval_answer *answer)
{
    if (!approval_open(a) || a->shown_ms == 0)
        return APPROVAL_PASS;
    if (action == ACTION_CANCEL || action == ACTION_CLEAR)
        return APPROVAL_STOP;
    if (key->code == K_CLICK || move_by_action(a, action))
        return APPROVAL_TAKEN;
    if (!a->armed)
        return APPROVAL_PASS;
    if (a->drafted && !a->entered) {
        a->entered = action == ACTION_COMPLETE;
        return a->entered ? APPROVAL_TAKEN : action == ACTION_LEAVE ? APPROVAL_PASS : APPROVAL_TEXT;
    }
    if (answer_of(keymap_find_in(keymap, key, KEYS_ANSWER), answer)) {
        bool counts = is_offered(a, *answer) && (a->read || *answer == ANSWER_DENY);
        return counts ? APPROVAL_ANSWERED : APPROVAL_TAKEN;
    }
    if (action == ACTION_NONE && move_by_letter(a, key))
        return APPROVAL_TAKEN;
    return action == ACTION_LEAVE ? APPROVAL_PASS : APPROVAL_TEXT;
}

/* --- the view --- */

static struct approval *of(struct view *view)
{
    return (struct approval *)view;
}

static const struct approval *of_const(const struct view *view)
{
    return (const struct approval *)view;
}

static void send_answer(struct view *view, enum approval_answer answer)
{
    char *id = mem_strdup(approval_id(of(view)));
    approval_over(of(view), id);
    (void)view_ask(view, &operation_approval_decide,
                   &(struct approval_decide_params){.call = id, .decision = answer}, NULL);
    free(id);
}

static void look_at_draft(struct view *view)
{
    of(view)->drafted = view->host->drafting(view->host->app);
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    const struct view_host *host = view->host;
    enum approval_answer answer;
    look_at_draft(view);
    switch (approval_key(of(view), host->keymap, action, key, &answer)) {
    case APPROVAL_PASS:
        return false;
    case APPROVAL_TEXT:
        host->write(host->app, action, key);
        break;
    case APPROVAL_TAKEN:
        break;
    case APPROVAL_STOP:
        host->stop(host->app);
        break;
    case APPROVAL_ANSWERED:
        send_answer(view, answer);
        break;
    }
    return true;
}

static void notice(struct view *view, struct notice *n)
{
    struct approval *a = of(view);
    enum event_type type = n->type == NOTICE_EVENT ? n->event->type : EVENT_TEXT_DELTA;
    bool over = type == EVENT_TURN_COMPLETED || type == EVENT_TURN_FAILED ||
                type == EVENT_INTERRUPTED || (n->type == NOTICE_BUSY && !n->flag) ||
                (n->type == NOTICE_SESSION && n->flag);
    if (n->type == NOTICE_APPROVAL)
        approval_ask(a, n);
    else if (type == EVENT_TOOL_EXECUTION_COMPLETED && approval_over(a, n->event->id))
        view_touch(view);
    else if (over)
        approval_forget(a);
}

static bool shown(const struct view *view)
{
    return approval_open(of_const(view));
}

static bool passes(const struct view *view)
{
    (void)view;
    return true;
}

static int height(struct view *view, int width, int room)
{
    int wanted = approval_height(of(view), view->host->keymap, width);
    return wanted < room ? wanted : room;
}

static void resize(struct view *view, int width, int room)
{
    of(view)->room_width = width;
    of(view)->room = room;
}

static const struct rows *rows(struct view *view)
{
    struct approval *a = of(view);
    look_at_draft(view);
    return approval_rows(a, view->host->keymap, a->room_width, a->room, clock_mono_ms());
}

static int64_t due(const struct view *view)
{
    return view->host->has_keys(view->host->app, view) ? approval_due(of_const(view)) : 0;
}

static void close_view(struct view *view)
{
    approval_forget(of(view));
}

static void release(struct view *view)
{
    approval_release(of(view));
}

static const struct view_ops ops = {
    .layer = VIEW_QUESTION,
    .free = release,
    .close = close_view,
    .shown = shown,
    .passes = passes,
    .key = take_key,
    .height = height,
    .resize = resize,
    .rows = rows,
    .notice = notice,
    .due = due,
};

void approval_init(struct approval *a, const struct view_host *host)
{
    *a = (struct approval){.view = {.ops = &ops, .host = host}};
    rows_init(&a->text);
    rows_init(&a->rows);
}
