/* The pane: its place beside or over the transcript, and its tabs. Memory's own list is the first
 * tab; the others are views within the pane (struct view_tab). If more than one is offered, their
 * names stand in a row above them. */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "ui/view/memory_view_private.h"

enum { BAR_ROWS = 8 /* of the pane, from which on there is a row for the names */ };

/* --- tabs --- */

/* False: there is no such tab, or its operation is not offered. */
static bool is_offered(const struct memory_view *p, size_t tab)
{
    const struct pane_host *host = p->host;
    if (tab >= p->tabs.views.len)
        return false;
    const struct operation *o =
        tab == 0 ? &operation_memory_search : p->host->tabs[tab - 1].operation;
    return !host->offers || host->offers(p->view.host->app, o);
}

/* The tab with that number among those that are offered: the number is its key. If there are fewer,
 * one that does not exist. */
static size_t nth_offered(const struct memory_view *p, size_t nth)
{
    size_t tab = 0;
    for (; tab < p->tabs.views.len; tab++)
        if (is_offered(p, tab) && nth-- == 0)
            return tab;
    return tab;
}

/* `query` NULL: as it was left. */
static void choose_tab(struct memory_view *p, size_t tab, const char *query)
{
    p->tabs.at = tab;
    if (tab > 0) {
        struct view **v = &p->tabs.views.items[tab];
        if (!*v) {
            *v = p->host->tabs[tab - 1].make(p->view.host);
            (*v)->within = &p->view;
        }
        p->host->tabs[tab - 1].show(*v, query);
    } else {
        pane_show(p, query);
    }
    view_touch(&p->view);
}

static void change_tab(struct memory_view *p, size_t tab)
{
    if (tab == p->tabs.at || !is_offered(p, tab))
        return;
    ahead_drop(p);
    choose_tab(p, tab, NULL);
}

static bool is_writing(const struct memory_view *p)
{
    const struct view *v = p->tabs.views.items[p->tabs.at];
    if (v)
        return v->caret.shown;
    return p->place == IN_QUERY || p->place == IN_EDITOR || ahead_waits(p);
}

/* "1 memory  2 graph": returns the tab at the column; SIZE_MAX: none. Where a digit is no key, its
 * place is blank. */
static size_t names_row(const struct memory_view *p, struct rows *out, size_t column)
{
    size_t width = (size_t)p->view.width, used = 0, found = SIZE_MAX, nth = 0;
    bool digits = p->focused && !is_writing(p);
    rows_begin(out);
    for (size_t tab = 0; tab < p->tabs.views.len; tab++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        AUTO(buf_release) struct buf key = BUF_INIT;
        if (!is_offered(p, tab))
            continue;
        keymap_describe_first(p->view.host->keymap, (enum action)(ACTION_PANE_TAB_1 + nth++), &key);
        buf_addf(&text, " %*s %s ", (int)key.len, digits && key.data ? key.data : "",
                 tab == 0 ? _("memory") : _(p->host->tabs[tab - 1].name));
        size_t columns = rows_add_cut(out, text.data, width - used,
                                      tab == p->tabs.at ? STYLE_OVERLAY_TITLE : STYLE_DIM);
        found = column >= used && column < used + columns ? tab : found;
        used += columns;
    }
    rows_pad(out, width - used, STYLE_OVERLAY);
    return found;
}

static void click(struct view *view, int row, int col)
{
    struct memory_view *p = pane_of(view);
    struct view *v = p->tabs.views.items[p->tabs.at];
    (void)memory_view_focus(view, true);
    if (p->tabs.bar && row == 0) {
        struct rows scratch;
        rows_init(&scratch);
        change_tab(p, names_row(p, &scratch, col < 0 ? SIZE_MAX : (size_t)col));
        rows_release(&scratch);
        return;
    }
    row -= (int)p->tabs.bar;
    if (!v)
        pane_click(p, row);
    else if (v->ops->click)
        v->ops->click(v, row, col);
}

static const struct rows *rows(struct view *view)
{
    struct memory_view *p = pane_of(view);
    struct view *v = p->tabs.views.items[p->tabs.at];
    p->tabs.bar = view->height >= BAR_ROWS && nth_offered(p, 1) < p->tabs.views.len;
    int height = view->height - (int)p->tabs.bar;
    p->layout.width = view->width;
    p->layout.height = height;
    const struct rows *body = v ? view_draw(v, view->width, height) : pane_rows(view);
    if (v)
        view->caret = v->caret;
    view->caret.shown = view->caret.shown && p->focused;
    view->caret.row += (int)p->tabs.bar;
    if (!p->tabs.bar)
        return body;
    rows_clear(&p->tabs.rows);
    (void)names_row(p, &p->tabs.rows, SIZE_MAX);
    for (size_t i = 0; i < body->list.len; i++)
        rows_copy(&p->tabs.rows, body, i);
    return &p->tabs.rows;
}

static int64_t due(const struct view *view)
{
    const struct memory_view *p = (const struct memory_view *)view;
    const struct view *v = p->tabs.views.items[p->tabs.at];
    if (!p->open || !v)
        return pane_due(view);
    return v->ops->due ? v->ops->due(v) : 0;
}

static void tick(struct view *view)
{
    const struct memory_view *p = pane_of(view);
    struct view *v = p->tabs.views.items[p->tabs.at];
    if (v && v->ops->tick)
        v->ops->tick(v);
}

/* --- its place --- */

bool pane_is_seen(const struct view *view)
{
    const struct memory_view *p = (const struct memory_view *)view;
    return p->open && (p->focused || p->host->beside(p->view.host->app));
}

static bool passes(const struct view *view)
{
    return !((const struct memory_view *)view)->focused;
}

bool memory_view_is_open(const struct view *view)
{
    return ((const struct memory_view *)view)->open;
}

bool memory_view_focused(const struct view *view)
{
    return ((const struct memory_view *)view)->open && ((const struct memory_view *)view)->focused;
}

bool memory_view_focus(struct view *view, bool focused)
{
    struct memory_view *p = pane_of(view);
    if (!p->open || (!focused && !p->host->beside(p->view.host->app)))
        return false;
    p->focused = focused;
    view_touch(view);
    return true;
}

/* --- opening and closing --- */

static void come(struct memory_view *p)
{
    p->host->came(p->view.host->app, &p->view);
    p->open = p->focused = true;
    view_touch(&p->view);
}

bool pane_come(struct memory_view *p)
{
    if (!p->host->has_memory(p->view.host->app))
        return false;
    p->tabs.at = 0;
    come(p);
    return true;
}

void memory_view_open(struct view *view, const char *query)
{
    struct memory_view *p = pane_of(view);
    if (pane_come(p))
        pane_show(p, !*query && p->place == IN_EDITOR ? NULL : query);
}

bool memory_view_open_tab(struct view *view, const char *name, const char *query)
{
    struct memory_view *p = pane_of(view);
    size_t tab = 1;
    while (tab < p->tabs.views.len && strcmp(p->host->tabs[tab - 1].name, name) != 0)
        tab++;
    if (!is_offered(p, tab))
        return false;
    come(p);
    choose_tab(p, tab, query);
    return true;
}

/* As it was left; where that tab is not offered, the first that is. */
static void open_anyway(struct memory_view *p)
{
    size_t first = nth_offered(p, 0);
    if (!is_offered(p, p->tabs.at))
        p->tabs.at = first < p->tabs.views.len ? first : 0;
    if (p->tabs.at == 0) {
        memory_view_open(&p->view, "");
        return;
    }
    come(p);
    choose_tab(p, p->tabs.at, NULL);
}

void memory_view_to_hits(struct view *view)
{
    struct memory_view *p = pane_of(view);
    if (p->open && p->place == IN_QUERY)
        p->place = IN_LIST;
}

void memory_view_return(struct view *view, bool focused)
{
    struct memory_view *p = pane_of(view);
    if (!p->open && p->tabs.at > 0) {
        open_anyway(p);
    } else if (!p->open && pane_come(p)) {
        pane_show(p, NULL);
        memory_view_to_hits(view);
    }
    (void)memory_view_focus(view, focused);
}

static void close_view(struct view *view)
{
    struct memory_view *p = pane_of(view);
    if (!p->open)
        return;
    p->open = p->focused = false;
    ahead_drop(p);
    view_withdraw(view, p->searching);
    p->searching = 0;
    view_touch(view);
}

void memory_view_toggle(struct view *view)
{
    if (pane_is_seen(view))
        close_view(view);
    else if (!memory_view_focus(view, true))
        open_anyway(pane_of(view));
}

/* In a terminal that was made narrow, a pane without the keys covers nothing. */
void memory_view_uncover(struct view *view)
{
    const struct memory_view *p = pane_of(view);
    if (p->open && p->focused && !p->host->beside(p->view.host->app))
        close_view(view);
    else
        (void)memory_view_focus(view, false);
}

/* --- a message that is shown --- */

static void say(struct view *view, const char *text)
{
    if (pane_is_seen(view) && pane_of(view)->tabs.at == 0)
        remark_set(&pane_of(view)->remark, STYLE_NOTE, text);
    else
        pane_of(view)->host->note(view->host->app, text);
    view_touch(view);
}

void memory_view_say(struct view *view, const char *text)
{
    if (pane_of(view)->open)
        say(view, text);
}

static bool opened(struct view *view, struct operation_answer *a, const char *words)
{
    struct memory_view *p = pane_of(view);
    (void)a;
    if (!words)
        return true;
    p->source.waits = false;
    bool tells = pane_is_seen(view) && p->tabs.at == 0;
    if (tells)
        remark_set(&p->remark, STYLE_WARNING, words);
    return tells;
}

/* Entries of an import may name conversations that were never here. */
void memory_view_show_message(struct view *view, const char *id, int64_t seq)
{
    struct memory_view *p = pane_of(view);
    bool here = strcmp(id, view->host->session->id) == 0;
    if (here && seq > 0) {
        view->host->show_message(view->host->app, view, NULL, seq);
    } else if (here) {
        say(view, _("The place of this entry in the conversation is unknown."));
    } else if (strlen(id) != UUID_LEN) {
        say(view, _("This entry was imported; its conversation is not here."));
    } else {
        memcpy(p->source.session, id, sizeof p->source.session);
        p->source.seq = seq;
        p->source.waits = true;
        (void)view_ask(view, &operation_session_open,
                       &(struct session_open_params){.session = id, .read_only = true}, opened);
    }
}

/* --- keys and notices --- */

/* The wheel moves the list below it, whoever has the keyboard. The keys of the history and of the
 * palette are the message's. */
static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct memory_view *p = pane_of(view);
    struct view *v = p->tabs.views.items[p->tabs.at];
    bool wheel = key->code == K_WHEEL_UP || key->code == K_WHEEL_DOWN;
    bool by_place = wheel && p->host->beside(p->view.host->app), taken = true;
    if (by_place ? !p->host->under(view->host->app, view, key) : !p->focused)
        return false;
    /* digits are keys where nothing is written */
    enum action digit = keymap_find_in(view->host->keymap, key, KEYS_PANE);
    bool by_digit = digit >= ACTION_PANE_TAB_1 && digit <= ACTION_PANE_TAB_4;
    size_t nth = by_digit ? nth_offered(p, (size_t)(digit - ACTION_PANE_TAB_1)) : 0;
    if (action == ACTION_PANE_NEXT) {
        size_t tab = p->tabs.at;
        do
            tab = (tab + 1) % p->tabs.views.len;
        while (tab != p->tabs.at && !is_offered(p, tab));
        change_tab(p, tab);
    } else if (!v && by_digit && !is_writing(p)) {
        change_tab(p, nth);
    } else if (!v) {
        taken = pane_key(p, action, key);
    } else if (v->ops->key(v, action, key)) {
        ;
    } else if (by_digit) {
        change_tab(p, nth);
    } else if (action == ACTION_COMPLETE || action == ACTION_FIND_NEWER) {
        memory_view_uncover(view);
    } else if (action == ACTION_MEMORY || action == ACTION_CANCEL || action == ACTION_CLEAR) {
        view_close(view);
    } else {
        taken = !pane_passes(action);
    }
    if (!taken && (action == ACTION_HISTORY || action == ACTION_PALETTE))
        memory_view_uncover(view);
    return taken || by_place;
}

/* A search of the model is shown at once unless the person is busy here. */
static void take_event(struct memory_view *p, const struct event *ev, bool live)
{
    struct pane_list *l = &p->lists[TAB_ASKED];
    bool added = recalls_add(&p->recalls, ev, live);
    if (ev->type == EVENT_MEMORY_LEFT_OUT && ev->id) {
        left_out_note(&p->recalls.left_out, ev->id, ev->seq, ev->flag);
        view_touch(&p->view);
    }
    if (live && (ev->type == EVENT_MEMORY_INDEXED || ev->type == EVENT_COMPACTION_UNDONE))
        pane_changed(p);
    if (added)
        view_touch(&p->view);
    if (!added || !live)
        return;
    const struct recalled *r = vec_last(&p->recalls.items);
    size_t hits = r->hits.items.len;
    if (l->chosen > 0) { /* it came before those that are there */
        l->chosen += 1 + hits;
        l->top += 1 + hits;
    }
    if (!p->open)
        return;
    if (!p->focused && p->place != IN_EDITOR && !p->preview.open) {
        p->tab = TAB_ASKED;
        p->place = IN_LIST;
        *l = (struct pane_list){0};
    }
    auto_free char *text = r->tokens > 0
                               ? mem_printf(ngettext("%zu passage was sent with \"%s\"",
                                                     "%zu passages were sent with \"%s\"", hits),
                                            hits, r->query)
                               : mem_printf(ngettext("model's search, %zu match: \"%s\"",
                                                     "model's search, %zu matches: \"%s\"", hits),
                                            hits, r->query);
    remark_set(&p->remark, STYLE_NOTE, text);
}

/* A page may have been asked for before another session was opened. The first page of a session
 * that was asked for here shows its message. */
static void notice(struct view *view, struct notice *n)
{
    struct memory_view *p = pane_of(view);
    if (n->type == NOTICE_MEMORY_STATE) {
        bool others = n->stats.entries != p->stats.entries; /* of sessions that were left */
        memory_stats_release(&p->stats);
        p->stats = n->stats;
        n->stats = (struct memory_stats){0};
        if (others)
            pane_changed(p);
    } else if (n->type == NOTICE_EVENT) {
        take_event(p, n->event, true);
    } else if (n->type == NOTICE_PAGE &&
               (n->events.len == 0 || strcmp(n->events.items[0]->session_id, p->session) == 0)) {
        for (size_t i = 0; i < n->events.len; i++)
            take_event(p, n->events.items[i], false);
        if (n->number == 0 && p->source.waits && strcmp(p->source.session, p->session) == 0) {
            p->source.waits = false;
            say(view, _("opened read-only; /resume continues it"));
            if (p->source.seq > 0)
                p->host->scroll_to(view->host->app, p->source.seq);
        }
    } else if (n->type == NOTICE_SESSION && n->flag) {
        if (*p->session) {
            recalls_clear(&p->recalls);
            memory_view_uncover(view);
            pane_session_changed(p);
        }
        memcpy(p->session, view->host->session->id, sizeof p->session);
    }
    for (size_t i = 0; i < p->tabs.views.len; i++) {
        struct view *v = p->tabs.views.items[i];
        if (v && v->ops->notice)
            v->ops->notice(v, n);
    }
}

/* --- the view --- */

static void free_view(struct view *view)
{
    struct memory_view *p = pane_of(view);
    for (size_t i = 0; i < p->tabs.views.len; i++) {
        struct view *v = p->tabs.views.items[i];
        if (!v)
            continue;
        v->host->withdraw(v->host->app, v, 0);
        v->ops->free(v);
    }
    vec_release(&p->tabs.views);
    rows_release(&p->tabs.rows);
    memory_hits_release(&p->hits);
    memory_stats_release(&p->stats);
    recalls_clear(&p->recalls);
    vec_release(&p->recalls.items);
    free(p->preview.id);
    memory_entry_release(&p->preview.whole);
    styled_release(&p->preview.text);
    vec_release(&p->preview.starts);
    free(p->edit.id);
    free(p->edit.original);
    editor_free(p->edit.editor);
    editor_free(p->query);
    free(p->remark.text);
    rows_release(&p->rows);
    free(p->former);
    free(p->held);
    free(p->stay);
    for (size_t i = 0; i < p->ahead.len; i++)
        free(p->ahead.items[i].text);
    vec_release(&p->ahead);
    free(p);
}

struct view *memory_view_new(const struct view_host *host, const struct pane_host *pane)
{
    static const struct view_ops ops = {
        .layer = VIEW_PANE,
        .free = free_view,
        .close = close_view,
        .shown = pane_is_seen,
        .passes = passes,
        .key = take_key,
        .click = click,
        .rows = rows,
        .notice = notice,
        .due = due,
        .tick = tick,
    };
    struct memory_view *p = mem_alloc(sizeof *p);
    *p = (struct memory_view){.view = {.ops = &ops, .host = host},
                              .host = pane,
                              .limit = PANE_HITS,
                              .total = -1,
                              .query = editor_new(),
                              .edit.editor = editor_new(),
                              .layout = {.width = 1, .height = 1}};
    for (int i = 0; i < SCOPES; i++)
        if (strcmp(pane_scopes[i], pane->memory_scope) == 0)
            p->scope = (enum pane_scope)i;
    rows_init(&p->rows);
    rows_init(&p->tabs.rows);
    styled_init(&p->preview.text);
    vec_push(&p->tabs.views, NULL);
    for (const struct view_tab *t = pane->tabs; t && t->name; t++)
        vec_push(&p->tabs.views, NULL);
    return &p->view;
}
