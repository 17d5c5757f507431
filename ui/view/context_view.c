#include "ui/view/context_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "ui/view/context_view_private.h"
#include "ui/view/hints.h"

enum { ASK_MS = 1000 };

/* --- what is held --- */

static int64_t part_key(void *view, size_t index)
{
    const struct context_view *v = view;
    const struct context_part *p = &v->context.parts.items[index];
    int64_t of_kind = 0;
    for (size_t i = 0; p->seq <= 0 && i < index; i++)
        of_kind += v->context.parts.items[i].kind == p->kind;
    return p->seq > 0 ? p->seq : -1 - (int64_t)p->kind - CONTEXT_KINDS * of_kind;
}

static struct outline_text part_text(void *view, size_t index)
{
    struct context_view *v = view;
    const struct context_part *p = &v->context.parts.items[index];
    if (!p->text || !*p->text)
        return (struct outline_text){0};
    free(v->text);
    v->text = context_part_text(p);
    return (struct outline_text){v->text, false};
}

static struct context_view *of(struct view *view)
{
    return (struct context_view *)view;
}

/* NULL: there are none. */
static const struct context_part *chosen_part(const struct context_view *v)
{
    size_t chosen = outline_chosen(v->outline);
    return chosen < v->context.parts.len ? &v->context.parts.items[chosen] : NULL;
}

static int64_t chosen_message(const struct context_view *v)
{
    const struct context_part *p = chosen_part(v);
    return p ? p->seq : 0;
}

/* --- asking and answers --- */

static struct context_sums sums_of(const struct context *c)
{
    struct context_sums sums = {0};
    int64_t before = 0;
    for (size_t i = 0; i < c->parts.len; i++) {
        const struct context_part *p = &c->parts.items[i];
        if ((size_t)p->kind < CONTEXT_KINDS)
            sums.tokens[p->kind] += p->tokens;
        sums.going += p->goes;
        before += p->tokens;
        if (before <= c->cached)
            sums.cached = i + 1;
    }
    return sums;
}

static bool take(struct view *view, struct operation_answer *a, const char *words)
{
    struct context_view *v = of(view);
    v->waiting = false;
    if (words) {
        remark_set(&v->remark, STYLE_ERROR, words);
        return true;
    }
    v->known = true;
    context_release(&v->context);
    v->context = *(struct context *)a->result;
    *(struct context *)a->result = (struct context){0};
    v->sums = sums_of(&v->context);
    outline_fill(v->outline, v->context.parts.len);
    return true;
}

/* What is done is seen in what the next request is then. */
static bool changed(struct view *view, struct operation_answer *a, const char *words)
{
    (void)a;
    if (words)
        remark_set(&of(view)->remark, STYLE_ERROR, words);
    return true;
}

static void ask(struct context_view *v)
{
    v->waiting = true;
    v->stale = false;
    v->asked_ms = clock_mono_ms();
    (void)view_ask(&v->view, &operation_context_read, NULL, take);
}

static bool changes_request(enum event_type type)
{
    static const bool changes[EVENT_TYPE_COUNT] = {
        [EVENT_TURN_STARTED] = true,
        [EVENT_REASONING_COMPLETE] = true,
        [EVENT_TEXT_COMPLETE] = true,
        [EVENT_TOOL_CALL_REQUESTED] = true,
        [EVENT_TOOL_EXECUTION_COMPLETED] = true,
        [EVENT_CALL_COMPLETED] = true,
        [EVENT_COMPACTION_COMPLETED] = true,
        [EVENT_COMPACTION_UNDONE] = true,
        [EVENT_MESSAGE_PINNED] = true,
        [EVENT_TURN_COMPLETED] = true,
        [EVENT_TURN_FAILED] = true,
        [EVENT_INTERRUPTED] = true,
    };
    return type < EVENT_TYPE_COUNT && changes[type];
}

static int64_t due(const struct view *view)
{
    const struct context_view *v = (const struct context_view *)view;
    return v->stale && !v->waiting ? v->asked_ms + ASK_MS : 0;
}

static void tick(struct view *view)
{
    struct context_view *v = of(view);
    if (v->stale && !v->waiting)
        ask(v);
}

static void notice(struct view *view, struct notice *n)
{
    struct context_view *v = of(view);
    if (n->type == NOTICE_SESSION || n->type == NOTICE_PROVIDER)
        v->stale = true;
    else if (n->type == NOTICE_EVENT && changes_request(n->event->type))
        v->stale = true;
    else if (n->type == NOTICE_BUSY && !n->flag) /* the end of a turn */
        tick(view);
}

/* --- what can be done --- */

static void toggle(struct view *view)
{
    (void)outline_toggle(of(view)->outline);
}

static bool can_pin(const struct context_part *p)
{
    return p && p->kind == CONTEXT_MESSAGE && p->seq > 0 && p->role != ROLE_TOOL;
}

static void pin(struct view *view)
{
    struct context_view *v = of(view);
    const struct context_part *p = chosen_part(v);
    if (!can_pin(p)) {
        remark_set(&v->remark, STYLE_NOTE, _("Only your messages and answers can be pinned."));
        return;
    }
    (void)view_ask(view, p->pinned ? &operation_compaction_unpin : &operation_compaction_pin,
                   &(struct compaction_pin_params){.seq = p->seq}, changed);
}

static void ask_compact(struct view *view)
{
    struct context_view *v = of(view);
    v->asks_compact = v->context.mode != NULL;
    if (!v->asks_compact)
        remark_set(&v->remark, STYLE_NOTE, _("Conversations are not shortened here."));
}

static void undo(struct view *view)
{
    (void)view_ask(view, &operation_compaction_undo, NULL, changed);
}

static void jump(struct view *view)
{
    int64_t seq = chosen_message(of(view));
    if (seq > 0)
        view_jump(view, seq);
    else
        remark_set(&of(view)->remark, STYLE_NOTE, _("This is not a message of the conversation."));
}

static const struct view_key keys[] = {{ACTION_CANCEL, view_close},
                                       {ACTION_CLEAR, view_close},
                                       {ACTION_CONTEXT, view_close},
                                       {ACTION_SEND, toggle},
                                       {ACTION_TOGGLE, toggle},
                                       {ACTION_CONTEXT_PIN, pin},
                                       {ACTION_CONTEXT_COMPACT, ask_compact},
                                       {ACTION_CONTEXT_UNCOMPACT, undo},
                                       {ACTION_JUMP, jump},
                                       {ACTION_NONE, NULL}};

/* --- keys --- */

/* The card in the transcript shows how it goes. */
static void answer_key(struct context_view *v, enum action action, const struct key *key)
{
    enum hint_answer answer = hint_answer(action, key);
    if (answer == HINT_NO_ANSWER)
        return;
    v->asks_compact = false;
    if (answer == HINT_NO)
        return;
    (void)view_ask(&v->view, &operation_compaction_run, NULL, NULL);
    view_close(&v->view);
}

/* To the next part that goes, or back to the one before. */
static bool move_to_going(struct context_view *v, const struct key *key)
{
    bool back = key->cp == 'N';
    if (key->code != K_CHAR || key->ctrl || key->alt || (key->cp != 'n' && !back))
        return false;
    size_t count = v->context.parts.len, at = outline_chosen(v->outline);
    for (size_t i = 1; i < count; i++) {
        size_t to = (at + (back ? count - i : i)) % count;
        if (v->context.parts.items[to].goes) {
            outline_choose(v->outline, to);
            break;
        }
    }
    return true;
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct context_view *v = of(view);
    if (action == ACTION_HELP)
        return false;
    remark_set(&v->remark, STYLE_NOTE, NULL);
    if (v->asks_compact)
        answer_key(v, action, key);
    else if (!view_run_key(view, keys, action, key) && !move_to_going(v, key))
        (void)outline_key(v->outline, action, key);
    return true;
}

static void click(struct view *view, int row, int col)
{
    struct context_view *v = of(view);
    (void)col;
    if (!v->asks_compact)
        (void)outline_click(v->outline, row - v->head_rows);
}

/* --- the view --- */

static void free_view(struct view *view)
{
    struct context_view *v = of(view);
    outline_free(v->outline);
    free(v->text);
    context_release(&v->context);
    rows_release(&v->rows);
    remark_release(&v->remark);
    free(v);
}

static const struct view_ops ops = {
    .layer = VIEW_COVER,
    .of_session = true,
    .free = free_view,
    .key = take_key,
    .click = click,
    .resize = context_view_resize,
    .rows = context_view_rows,
    .notice = notice,
    .due = due,
    .tick = tick,
};

struct view *context_view_new(const struct view_host *host, const char *none)
{
    (void)none;
    struct context_view *v = mem_alloc(sizeof *v);
    const struct outline_host outline = {part_key, part_text, context_part_heading, v};
    v->view = (struct view){.ops = &ops, .host = host};
    v->outline = outline_new(&outline);
    v->width = v->height = 1;
    rows_init(&v->rows);
    ask(v);
    return &v->view;
}
