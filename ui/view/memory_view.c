#include "ui/view/memory_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "ui/transcript/recalled.h"
#include "ui/view/memory_pane.h"

struct memory_view {
    struct view view;
    struct memory_pane *pane;
    struct recalls recalls; /* what the model asked in the open session */
    bool open, focused;
    char session[UUID_LEN + 1]; /* the open one; "": none was open yet */
    struct {
        bool waits; /* a session was asked for, to show a message of it */
        char session[UUID_LEN + 1];
        int64_t seq; /* 0: it is not known */
    } source;
};

static struct memory_view *of(struct view *view)
{
    return (struct memory_view *)view;
}

static const struct memory_view *of_const(const struct view *view)
{
    return (const struct memory_view *)view;
}

static void copy_id(char out[UUID_LEN + 1], const char *id)
{
    memset(out, 0, UUID_LEN + 1);
    memcpy(out, id, strnlen(id, UUID_LEN));
}

/* --- where it is --- */

static bool is_beside(const struct memory_view *v)
{
    return v->view.host->beside(v->view.host->app);
}

/* A terminal that was made narrow leaves somebody who writes the message there. */
static bool covers(const struct memory_view *v)
{
    return v->open && v->focused && !is_beside(v);
}

static bool is_seen(const struct view *view)
{
    const struct memory_view *v = of_const(view);
    return v->open && (v->focused || is_beside(v));
}

static bool passes(const struct view *view)
{
    return !of_const(view)->focused;
}

bool memory_view_is_open(const struct view *view)
{
    return of_const(view)->open;
}

bool memory_view_focused(const struct view *view)
{
    return of_const(view)->open && of_const(view)->focused;
}

static void focus(struct memory_view *v, bool focused)
{
    v->focused = focused;
    view_touch(&v->view);
}

bool memory_view_focus(struct view *view, bool focused)
{
    struct memory_view *v = of(view);
    if (!v->open || (!focused && !is_beside(v)))
        return false;
    focus(v, focused);
    return true;
}

/* --- opening and closing --- */

static bool make_ready(struct memory_view *v)
{
    const struct view_host *host = v->view.host;
    if (!host->has_memory(host->app))
        return false;
    host->raise(host->app, &v->view);
    host->want_titles(host->app);
    v->open = true;
    focus(v, true);
    return true;
}

void memory_view_open(struct view *view, const char *query)
{
    struct memory_view *v = of(view);
    if (!make_ready(v))
        return;
    bool as_left = !*query && memory_pane_edits(v->pane);
    memory_pane_show(v->pane, as_left ? NULL : query);
}

void memory_view_open_session(struct view *view)
{
    if (make_ready(of(view)))
        memory_pane_show_session(of(view)->pane);
}

void memory_view_to_hits(struct view *view)
{
    if (of(view)->open)
        memory_pane_to_hits(of(view)->pane);
}

void memory_view_return(struct view *view, bool focused)
{
    if (!of(view)->open && make_ready(of(view))) {
        memory_pane_show(of(view)->pane, NULL);
        memory_view_to_hits(view);
    }
    (void)memory_view_focus(view, focused);
}

static void close_view(struct view *view)
{
    struct memory_view *v = of(view);
    if (!v->open)
        return;
    v->open = false;
    focus(v, false);
    memory_pane_hide(v->pane);
}

void memory_view_toggle(struct view *view)
{
    if (is_seen(view))
        close_view(view);
    else if (!memory_view_focus(view, true))
        memory_view_open(view, "");
}

void memory_view_uncover(struct view *view)
{
    if (covers(of(view)))
        close_view(view);
    else
        (void)memory_view_focus(view, false);
}

/* --- what is done with an entry --- */

static void say(struct view *view, const char *text)
{
    if (is_seen(view))
        memory_pane_say(of(view)->pane, STYLE_NOTE, text);
    else
        view->host->note(view->host->app, text);
    view_touch(view);
}

static void open_other(struct memory_view *v, const char *id, int64_t seq)
{
    copy_id(v->source.session, id);
    v->source.seq = seq;
    v->source.waits = true;
    view_send(&v->view, command_new(COMMAND_OPEN, id));
}

/* Entries of an import may name conversations that were never here. */
static void open_source(struct view *view)
{
    const struct memory_entry *e = memory_pane_entry(of(view)->pane);
    const char *id = e && e->session_id ? e->session_id : "";
    if (strcmp(id, view->host->session->id) == 0 && e->seq > 0)
        view_jump(view, e->seq);
    else if (strcmp(id, view->host->session->id) == 0)
        say(view, _("The place of this entry in the conversation is unknown."));
    else if (strlen(id) != UUID_LEN)
        say(view, _("This entry was imported; its conversation is not here."));
    else
        open_other(of(view), id, e->seq);
}

static void insert(struct view *view)
{
    char *quote = memory_pane_quotation(of(view)->pane);
    if (!quote)
        return;
    memory_view_uncover(view);
    view->host->insert(view->host->app, quote);
    free(quote);
}

static void edit_outside(struct view *view)
{
    view->host->edit_outside(view->host->app, memory_pane_editor(of(view)->pane));
}

static void want_older(struct view *view)
{
    view->host->want_older(view->host->app);
}

/* --- keys --- */

static bool give_key(struct view *view, enum action action, const struct key *key)
{
    static void (*const what[])(struct view * view) = {
        [MEMORY_CLOSED] = close_view,     [MEMORY_WRITE] = memory_view_uncover,
        [MEMORY_OPEN] = open_source,      [MEMORY_INSERT] = insert,
        [MEMORY_EXTERNAL] = edit_outside, [MEMORY_OLDER] = want_older,
    };
    enum memory_result result = memory_pane_key(of(view)->pane, action, key);
    bool goes_on = action == ACTION_HISTORY || action == ACTION_PALETTE; /* in the message */
    if (result == MEMORY_PASS && goes_on)
        memory_view_uncover(view);
    else if (result != MEMORY_PASS && result != MEMORY_STAYS)
        what[result](view);
    return result != MEMORY_PASS;
}

/* The wheel moves what is below it, whoever has the keyboard. */
static bool take_key(struct view *view, enum action action, const struct key *key)
{
    const struct view_host *host = view->host;
    bool wheel = key->code == K_WHEEL_UP || key->code == K_WHEEL_DOWN;
    bool by_place = wheel && is_beside(of(view));
    if (by_place ? !host->under(host->app, view, key) : !of(view)->focused)
        return false;
    return give_key(view, action, key) || by_place;
}

static void click(struct view *view, int row, int col)
{
    (void)col;
    (void)memory_view_focus(view, true);
    memory_pane_click(of(view)->pane, row);
}

/* --- what it looks like --- */

static void resize(struct view *view, int width, int height)
{
    memory_pane_resize(of(view)->pane, width, height);
}

static const struct rows *rows(struct view *view)
{
    memory_pane_focus(of(view)->pane, of(view)->focused);
    return memory_pane_rows(of(view)->pane);
}

static bool caret(const struct view *view, int *row, int *col)
{
    return memory_pane_caret(of_const(view)->pane, row, col);
}

static int64_t due(const struct view *view)
{
    return memory_pane_due(of_const(view)->pane);
}

/* --- notices --- */

/* What was typed before an answer is for whoever has the keyboard now. */
static void type_again(struct memory_view *v)
{
    struct key key;
    while (memory_pane_typed_ahead(v->pane, &key)) {
        v->view.host->type(v->view.host->app, &v->view, &key);
        free(key.text);
    }
}

static void take_event(struct memory_view *v, const struct event *ev, bool live)
{
    bool added = recalls_add(&v->recalls, ev, live);
    if (added && live)
        memory_pane_recalled(v->pane, vec_last(&v->recalls.items));
    if (live && (ev->type == EVENT_MEMORY_INDEXED || ev->type == EVENT_COMPACTION_UNDONE))
        memory_pane_changed(v->pane);
    if (added)
        view_touch(&v->view);
}

static void take_session(struct memory_view *v)
{
    if (*v->session) {
        recalls_clear(&v->recalls);
        memory_view_uncover(&v->view);
        memory_pane_session(v->pane);
    }
    copy_id(v->session, v->view.host->session->id);
}

/* The first page of a session that was asked for here. */
static void take_first_page(struct memory_view *v)
{
    if (!v->source.waits || strcmp(v->source.session, v->session) != 0)
        return;
    v->source.waits = false;
    say(&v->view, _("opened read-only; /resume continues it"));
    if (v->source.seq > 0)
        v->view.host->scroll_to(v->view.host->app, v->source.seq);
}

/* It may have been asked for before another session was opened. */
static void take_page(struct memory_view *v, const struct notice *n)
{
    if (n->events.len > 0 && strcmp(n->events.items[0]->session_id, v->session) != 0)
        return;
    for (size_t i = 0; i < n->events.len; i++)
        take_event(v, n->events.items[i], false);
    if (n->number == 0)
        take_first_page(v);
}

static bool done(struct memory_view *v, const struct notice *n)
{
    if (!memory_pane_done(v->pane, n))
        return false;
    type_again(v);
    return true;
}

static bool failed(struct memory_view *v, const struct notice *n, const char *words)
{
    bool opening = n->command == COMMAND_OPEN && v->source.waits;
    if (opening)
        v->source.waits = false;
    if (!is_seen(&v->view))
        return false;
    if (!opening)
        return memory_pane_failed(v->pane, n->command, words);
    memory_pane_say(v->pane, STYLE_WARNING, words);
    return true;
}

static bool notice(struct view *view, struct notice *n, const char *words)
{
    struct memory_view *v = of(view);
    switch (n->type) {
    case NOTICE_MEMORY:
    case NOTICE_MEMORY_ENTRY:
    case NOTICE_MEMORY_STATE:
        memory_pane_take(v->pane, n);
        type_again(v);
        return false;
    case NOTICE_EVENT:
        take_event(v, n->event, true);
        return false;
    case NOTICE_PAGE:
        take_page(v, n);
        return false;
    case NOTICE_SESSION:
        if (n->flag)
            take_session(v);
        return false;
    case NOTICE_DONE:
        return done(v, n);
    case NOTICE_ERROR:
        return failed(v, n, words);
    default:
        return false;
    }
}

void memory_view_missed(struct view *view)
{
    if (of(view)->open)
        say(view, _("The message no longer exists."));
}

/* --- the view --- */

static void send(void *view, struct command *c)
{
    view_send(view, c);
}

static const char *title_of(void *view, const char *session_id)
{
    const struct view_host *host = ((struct view *)view)->host;
    return host->title(host->app, session_id);
}

static void free_view(struct view *view)
{
    memory_pane_free(of(view)->pane);
    recalls_release(&of(view)->recalls);
    free(view);
}

static const struct view_ops ops = {
    .layer = VIEW_PANE,
    .free = free_view,
    .close = close_view,
    .shown = is_seen,
    .passes = passes,
    .key = take_key,
    .click = click,
    .resize = resize,
    .rows = rows,
    .caret = caret,
    .notice = notice,
    .due = due,
};

struct view *memory_view_new(const struct view_host *host)
{
    struct memory_view *v = mem_alloc(sizeof *v);
    const struct memory_host pane = {host->keymap,      send, title_of, v, &v->recalls,
                                     host->memory_scope};
    v->view = (struct view){&ops, host};
    v->pane = memory_pane_new(&pane);
    return &v->view;
}
