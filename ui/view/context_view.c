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
    return p->seq > 0 ? p->seq : -1 - (int64_t)p->kind;
}

static struct outline_text part_text(void *view, size_t index)
{
    const struct context_view *v = view;
    const char *text = v->context.parts.items[index].text;
    return (struct outline_text){text && *text ? text : NULL, false};
}

static void send(struct context_view *v, struct command *c)
{
    v->host.send(v->host.context, c);
}

static void ask(struct context_view *v)
{
    v->waiting = true;
    v->stale = false;
    v->asked_ms = clock_mono_ms();
    send(v, command_new(COMMAND_CONTEXT, NULL));
}

struct context_view *context_view_new(const struct context_host *host)
{
    struct context_view *v = mem_alloc(sizeof *v);
    const struct outline_host outline = {part_key, part_text, context_part_heading, v};
    v->host = *host;
    v->outline = outline_new(&outline);
    v->width = v->height = 1;
    rows_init(&v->rows);
    ask(v);
    return v;
}

void context_view_free(struct context_view *v)
{
    if (!v)
        return;
    outline_free(v->outline);
    context_release(&v->context);
    rows_release(&v->rows);
    remark_release(&v->remark);
    free(v);
}

/* NULL: there are none. */
static const struct context_part *chosen_part(const struct context_view *v)
{
    size_t chosen = outline_chosen(v->outline);
    return chosen < v->context.parts.len ? &v->context.parts.items[chosen] : NULL;
}

int64_t context_view_message(const struct context_view *v)
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

void context_view_take(struct context_view *v, struct notice *n)
{
    v->waiting = false;
    v->known = true;
    context_release(&v->context);
    v->context = n->context;
    n->context = (struct context){0};
    v->sums = sums_of(&v->context);
    outline_fill(v->outline, v->context.parts.len);
}

bool context_view_failed(struct context_view *v, enum command_type command, const char *text)
{
    bool mine =
        command == COMMAND_CONTEXT || command == COMMAND_PIN || command == COMMAND_UNCOMPACT;
    if (mine)
        remark_set(&v->remark, STYLE_ERROR, text);
    if (command == COMMAND_CONTEXT)
        v->waiting = false;
    return mine;
}

void context_view_changed(struct context_view *v)
{
    v->stale = true;
}

void context_view_event(struct context_view *v, enum event_type type)
{
    static const bool changes[EVENT_TYPE_COUNT] = {
        [EVENT_RUN_STARTED] = true,
        [EVENT_REASONING_COMPLETE] = true,
        [EVENT_TEXT_COMPLETE] = true,
        [EVENT_TOOL_CALL_REQUESTED] = true,
        [EVENT_TOOL_EXECUTION_COMPLETED] = true,
        [EVENT_TURN_COMPLETED] = true,
        [EVENT_COMPACTION_COMPLETED] = true,
        [EVENT_COMPACTION_UNDONE] = true,
        [EVENT_MESSAGE_PINNED] = true,
        [EVENT_RUN_COMPLETED] = true,
        [EVENT_RUN_FAILED] = true,
        [EVENT_INTERRUPTED] = true,
    };
    if (type < EVENT_TYPE_COUNT && changes[type])
        context_view_changed(v);
}

void context_view_idle(struct context_view *v)
{
    if (v->stale && !v->waiting)
        ask(v);
}

int64_t context_view_due(const struct context_view *v)
{
    return v->stale && !v->waiting ? v->asked_ms + ASK_MS : 0;
}

void context_view_tick(struct context_view *v, int64_t now_ms)
{
    int64_t due = context_view_due(v);
    if (due != 0 && now_ms >= due)
        ask(v);
}

/* --- what can be done --- */

static enum context_result close_view(struct context_view *v)
{
    (void)v;
    return CONTEXT_CLOSED;
}

static enum context_result toggle(struct context_view *v)
{
    (void)outline_toggle(v->outline);
    return CONTEXT_STAYS;
}

static bool can_pin(const struct context_part *p)
{
    return p && p->kind == CONTEXT_MESSAGE && p->seq > 0 && p->role != ROLE_TOOL;
}

static enum context_result pin(struct context_view *v)
{
    const struct context_part *p = chosen_part(v);
    if (!can_pin(p)) {
        remark_set(&v->remark, STYLE_NOTE, _("Only your messages and answers can be pinned."));
        return CONTEXT_STAYS;
    }
    struct command *c = command_new(COMMAND_PIN, NULL);
    c->number = p->seq;
    c->limit = !p->pinned;
    send(v, c);
    return CONTEXT_STAYS;
}

static enum context_result ask_compact(struct context_view *v)
{
    v->asks_compact = v->context.mode != NULL;
    if (!v->asks_compact)
        remark_set(&v->remark, STYLE_NOTE, _("Conversations are not shortened here."));
    return CONTEXT_STAYS;
}

static enum context_result undo(struct context_view *v)
{
    send(v, command_new(COMMAND_UNCOMPACT, NULL));
    return CONTEXT_STAYS;
}

static enum context_result jump(struct context_view *v)
{
    if (context_view_message(v) > 0)
        return CONTEXT_JUMP;
    remark_set(&v->remark, STYLE_NOTE, _("This is not a message of the conversation."));
    return CONTEXT_STAYS;
}

static const struct act {
    enum action action;
    enum context_result (*run)(struct context_view *v);
} acts[] = {{ACTION_CANCEL, close_view},
            {ACTION_CLEAR, close_view},
            {ACTION_CONTEXT, close_view},
            {ACTION_SEND, toggle},
            {ACTION_TOGGLE, toggle},
            {ACTION_CONTEXT_PIN, pin},
            {ACTION_CONTEXT_COMPACT, ask_compact},
            {ACTION_CONTEXT_UNCOMPACT, undo},
            {ACTION_JUMP, jump}};

static const struct act *find_act(enum action action)
{
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (acts[i].action == action)
            return &acts[i];
    return NULL;
}

/* --- keys --- */

/* The card in the transcript shows how it goes. */
static enum context_result answer_key(struct context_view *v, enum action action,
                                      const struct key *key)
{
    bool yes = hint_is_letter(key, _("y"));
    if (!yes && action != ACTION_CANCEL && action != ACTION_CLEAR && !hint_is_letter(key, _("n")))
        return CONTEXT_STAYS;
    v->asks_compact = false;
    if (yes)
        send(v, command_new(COMMAND_COMPACT, NULL));
    return yes ? CONTEXT_CLOSED : CONTEXT_STAYS;
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

enum context_result context_view_key(struct context_view *v, enum action action,
                                     const struct key *key)
{
    enum action letter = keymap_find_reading(v->host.keymap, key);
    const struct act *act = find_act(letter != ACTION_NONE ? letter : action);
    remark_set(&v->remark, STYLE_NOTE, NULL);
    if (v->asks_compact)
        return answer_key(v, action, key);
    if (act)
        return act->run(v);
    if (!move_to_going(v, key))
        (void)outline_key(v->outline, action, key);
    return CONTEXT_STAYS;
}

void context_view_click(struct context_view *v, int row)
{
    if (!v->asks_compact)
        (void)outline_click(v->outline, row - v->head_rows);
}
