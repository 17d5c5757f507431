#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/memory_operations.h"
#include "ui/view/memory_line.h"
#include "ui/view/memory_view_private.h"

/* The tabs of the pane: memory's own list, and views of others within it (struct view_tab). Where
 * there is more than one, their names stand above them. */

enum { BAR_ROWS = 8 /* of the pane, from which on there is a row for the names */ };

/* --- which there are --- */

static size_t count_tabs(const struct memory_view *p)
{
    return p->tabs.views.len + 1;
}

static const struct view_tab *tab_at(const struct memory_view *p, size_t tab)
{
    return &p->view.host->tabs[tab - 1];
}

static const char *name_of(const struct memory_view *p, size_t tab)
{
    return tab == 0 ? _("memory") : _(tab_at(p, tab)->name);
}

bool tabs_offered(const struct memory_view *p, size_t tab)
{
    const struct view_host *host = p->view.host;
    if (tab >= count_tabs(p))
        return false;
    const struct operation *o = tab == 0 ? &operation_memory_search : tab_at(p, tab)->operation;
    return !host->offers || host->offers(host->app, o);
}

static size_t count_offered(const struct memory_view *p)
{
    size_t count = 0;
    for (size_t i = 0; i < count_tabs(p); i++)
        count += tabs_offered(p, i);
    return count;
}

bool tabs_any(const struct memory_view *p)
{
    return count_offered(p) > 0;
}

/* The place of a tab among those that are offered: what its key is called. */
static size_t nth_offered(const struct memory_view *p, size_t nth)
{
    size_t tab = 0;
    for (; tab < count_tabs(p); tab++)
        if (tabs_offered(p, tab) && nth-- == 0)
            return tab;
    return tab;
}

static size_t next_offered(const struct memory_view *p)
{
    size_t tab = p->tabs.at;
    do
        tab = (tab + 1) % count_tabs(p);
    while (tab != p->tabs.at && !tabs_offered(p, tab));
    return tab;
}

/* --- the one that is shown --- */

/* NULL: memory's own. */
static struct view *shown(const struct memory_view *p)
{
    return p->tabs.at > 0 ? p->tabs.views.items[p->tabs.at - 1] : NULL;
}

static void resize(struct memory_view *p)
{
    struct view *v = shown(p);
    int height = p->tabs.height - (int)p->tabs.bar;
    if (v)
        v->ops->resize(v, p->tabs.width, height);
    else
        pane_resize(&p->view, p->tabs.width, height);
}

static struct view *need(struct memory_view *p, size_t tab)
{
    struct view **v = &p->tabs.views.items[tab - 1];
    if (!*v) {
        *v = tab_at(p, tab)->make(p->view.host);
        (*v)->within = &p->view;
    }
    return *v;
}

void tabs_choose(struct memory_view *p, size_t tab, const char *query)
{
    p->tabs.at = tab;
    if (tab > 0)
        tab_at(p, tab)->show(need(p, tab), query);
    else
        pane_show(p, query);
    resize(p);
    view_touch(&p->view);
}

void tabs_choose_first(struct memory_view *p)
{
    if (!tabs_offered(p, p->tabs.at))
        p->tabs.at = tabs_any(p) ? nth_offered(p, 0) : 0;
}

/* --- keys --- */

static void change(struct memory_view *p, size_t tab)
{
    if (tab == p->tabs.at || !tabs_offered(p, tab))
        return;
    ahead_drop(p);
    tabs_choose(p, tab, NULL);
}

/* Letters are keys where nothing is written. */
static bool change_by_letter(struct memory_view *p, const struct key *key)
{
    enum action letter = keymap_find_in(p->view.host->keymap, key, KEYS_PANE);
    if (letter < ACTION_PANE_TAB_1 || letter > ACTION_PANE_TAB_4)
        return false;
    change(p, nth_offered(p, (size_t)(letter - ACTION_PANE_TAB_1)));
    return true;
}

static bool writes(const struct memory_view *p)
{
    return p->place == IN_QUERY || p->place == IN_EDITOR || ahead_waits(p);
}

static const struct view_key around[] = {{ACTION_MEMORY, view_close},
                                         {ACTION_COMPLETE, memory_view_uncover},
                                         {ACTION_FIND_NEWER, memory_view_uncover},
                                         {ACTION_CANCEL, view_close},
                                         {ACTION_CLEAR, view_close},
                                         {ACTION_NONE, NULL}};

bool tabs_key(struct view *view, enum action action, const struct key *key)
{
    struct memory_view *p = pane_of(view);
    struct view *v = shown(p);
    if (action == ACTION_PANE_NEXT)
        change(p, next_offered(p));
    else if (!v)
        return (!writes(p) && change_by_letter(p, key)) || pane_key(view, action, key);
    else if (!v->ops->key(v, action, key) && !change_by_letter(p, key))
        return view_run_action(view, around, action) || !pane_passes(action);
    return true;
}

/* --- what it looks like --- */

/* Whether what is typed goes into a line of the shown one: its digits are no keys then. */
static bool takes_text(const struct memory_view *p)
{
    const struct view *v = shown(p);
    int row, col;
    return v ? v->ops->caret && v->ops->caret(v, &row, &col) : writes(p);
}

/* "1 memory  2 graph": returns the tab that stands at the column, SIZE_MAX: none does. `out` NULL:
 * that is all. Where a digit is no key, its place is blank. */
static size_t names_row(const struct memory_view *p, struct rows *out, size_t column)
{
    size_t width = (size_t)p->tabs.width, used = 0, found = SIZE_MAX, nth = 0;
    bool digits = p->focused && !takes_text(p);
    struct rows scratch;
    rows_init(&scratch);
    rows_begin(out ? out : &scratch);
    for (size_t tab = 0; tab < count_tabs(p); tab++) {
        struct buf text = BUF_INIT, key = BUF_INIT;
        if (!tabs_offered(p, tab))
            continue;
        keymap_describe_first(p->view.host->keymap, (enum action)(ACTION_PANE_TAB_1 + nth++), &key);
        buf_addf(&text, " %*s %s ", (int)key.len, digits && key.data ? key.data : "",
                 name_of(p, tab));
        size_t columns = rows_add_cut(out ? out : &scratch, text.data, width - used,
                                      tab == p->tabs.at ? STYLE_OVERLAY_TITLE : STYLE_DIM);
        found = column >= used && column < used + columns ? tab : found;
        used += columns;
        buf_release(&text);
        buf_release(&key);
    }
    rows_pad(out ? out : &scratch, width - used, STYLE_OVERLAY);
    rows_release(&scratch);
    return found;
}

void tabs_click(struct view *view, int row, int col)
{
    struct memory_view *p = pane_of(view);
    struct view *v = shown(p);
    if (p->tabs.bar && row == 0) {
        (void)memory_view_focus(view, true);
        change(p, names_row(p, NULL, col < 0 ? SIZE_MAX : (size_t)col));
        return;
    }
    row -= (int)p->tabs.bar;
    if (!v) {
        pane_click(view, row, col);
        return;
    }
    (void)memory_view_focus(view, true);
    if (v->ops->click)
        v->ops->click(v, row, col);
}

void tabs_resize(struct view *view, int width, int height)
{
    struct memory_view *p = pane_of(view);
    p->tabs.width = width;
    p->tabs.height = height;
    p->tabs.bar = height >= BAR_ROWS && count_offered(p) > 1;
    resize(p);
}

const struct rows *tabs_rows(struct view *view)
{
    struct memory_view *p = pane_of(view);
    struct view *v = shown(p);
    const struct rows *body = v ? v->ops->rows(v) : pane_rows(view);
    if (!p->tabs.bar)
        return body;
    rows_clear(&p->tabs.rows);
    (void)names_row(p, &p->tabs.rows, SIZE_MAX);
    for (size_t i = 0; i < body->list.len; i++)
        rows_copy(&p->tabs.rows, body, i);
    return &p->tabs.rows;
}

bool tabs_caret(const struct view *view, int *row, int *col)
{
    const struct memory_view *p = (const struct memory_view *)view;
    struct view *v = shown(p);
    bool there = v ? v->ops->caret && v->ops->caret(v, row, col) : p->caret_row >= 0;
    if (!v) {
        *row = p->caret_row;
        *col = p->caret_col;
    }
    *row += (int)p->tabs.bar;
    return there;
}

/* --- notices and times --- */

void tabs_notice(struct memory_view *p, struct notice *n)
{
    for (size_t i = 0; i < p->tabs.views.len; i++) {
        struct view *v = p->tabs.views.items[i];
        if (v && v->ops->notice)
            v->ops->notice(v, n);
    }
}

int64_t tabs_due(const struct view *view)
{
    const struct memory_view *p = (const struct memory_view *)view;
    const struct view *v = shown(p);
    if (!p->open || !v)
        return pane_due(view);
    return v->ops->due ? v->ops->due(v) : 0;
}

void tabs_tick(struct view *view)
{
    struct view *v = shown(pane_of(view));
    if (v && v->ops->tick)
        v->ops->tick(v);
}

/* --- all of them --- */

void tabs_init(struct memory_view *p)
{
    p->tabs.width = p->tabs.height = 1;
    rows_init(&p->tabs.rows);
    for (const struct view_tab *t = p->view.host->tabs; t && t->name; t++)
        vec_push(&p->tabs.views, NULL);
}

void tabs_release(struct memory_view *p)
{
    for (size_t i = 0; i < p->tabs.views.len; i++) {
        struct view *v = p->tabs.views.items[i];
        if (!v)
            continue;
        v->host->gone(v->host->app, v);
        v->ops->free(v);
    }
    vec_release(&p->tabs.views);
    rows_release(&p->tabs.rows);
}

/* The pane as a view: where it is, what leads to it and from it. */

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

static bool is_beside(const struct memory_view *p)
{
    return p->view.host->beside(p->view.host->app);
}

/* A terminal that was made narrow leaves somebody who writes the message there. */
static bool covers(const struct memory_view *p)
{
    return p->open && p->focused && !is_beside(p);
}

bool pane_is_seen(const struct memory_view *p)
{
    return p->open && (p->focused || is_beside(p));
}

static bool is_seen(const struct view *view)
{
    return pane_is_seen(of_const(view));
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

static void focus(struct memory_view *p, bool focused)
{
    p->focused = focused;
    view_touch(&p->view);
}

bool memory_view_focus(struct view *view, bool focused)
{
    struct memory_view *p = pane_of(view);
    if (!p->open || (!focused && !is_beside(p)))
        return false;
    focus(p, focused);
    return true;
}

/* --- opening and closing --- */

static void come(struct memory_view *p)
{
    const struct view_host *host = p->view.host;
    host->raise(host->app, &p->view);
    host->want_titles(host->app);
    p->open = true;
    focus(p, true);
}

/* For memory's own tab. */
static bool make_ready(struct memory_view *p)
{
    if (!p->view.host->has_memory(p->view.host->app))
        return false;
    p->tabs.at = 0;
    come(p);
    return true;
}

void memory_view_open(struct view *view, const char *query)
{
    struct memory_view *p = pane_of(view);
    if (make_ready(p))
        pane_show(p, !*query && p->place == IN_EDITOR ? NULL : query);
}

bool memory_view_open_tab(struct view *view, const char *name, const char *query)
{
    struct memory_view *p = pane_of(view);
    const struct view_tab *t = view->host->tabs;
    size_t tab = 1;
    for (; t && t->name && strcmp(t->name, name) != 0; t++)
        tab++;
    if (!t || !tabs_offered(p, tab))
        return false;
    come(p);
    tabs_choose(p, tab, query);
    return true;
}

/* As it was left; where memory is off, at what else there is. */
static void open_anyway(struct memory_view *p)
{
    tabs_choose_first(p);
    if (p->tabs.at == 0) {
        memory_view_open(&p->view, "");
        return;
    }
    come(p);
    tabs_choose(p, p->tabs.at, NULL);
}

void memory_view_open_session(struct view *view)
{
    if (make_ready(pane_of(view)))
        pane_show_session(pane_of(view));
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
    } else if (!p->open && make_ready(p)) {
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
    p->open = false;
    ahead_drop(p);
    view_withdraw(view, p->searching);
    p->searching = 0;
    focus(p, false);
}

void memory_view_toggle(struct view *view)
{
    if (is_seen(view))
        close_view(view);
    else if (!memory_view_focus(view, true))
        open_anyway(pane_of(view));
}

void memory_view_uncover(struct view *view)
{
    if (covers(pane_of(view)))
        close_view(view);
    else
        (void)memory_view_focus(view, false);
}

/* --- the chosen entry --- */

static void say(struct view *view, const char *text)
{
    if (is_seen(view) && pane_of(view)->tabs.at == 0)
        pane_say(pane_of(view), STYLE_NOTE, text);
    else
        view->host->note(view->host->app, text);
    view_touch(view);
}

static bool opened(struct view *view, struct operation_answer *a, const char *words)
{
    struct memory_view *p = pane_of(view);
    (void)a;
    if (!words)
        return true;
    p->source.waits = false;
    bool tells = pane_is_seen(p) && p->tabs.at == 0;
    if (tells)
        pane_say(p, STYLE_WARNING, words);
    return tells;
}

static void open_other(struct memory_view *p, const char *id, int64_t seq)
{
    copy_id(p->source.session, id);
    p->source.seq = seq;
    p->source.waits = true;
    (void)view_ask(&p->view, &operation_session_open,
                   &(struct session_open_params){.session = id, .read_only = true}, opened);
}

/* Entries of an import may name conversations that were never here. */
void memory_view_show_message(struct view *view, const char *id, int64_t seq)
{
    bool here = strcmp(id, view->host->session->id) == 0;
    if (here && seq > 0)
        view_jump(view, seq);
    else if (here)
        say(view, _("The place of this entry in the conversation is unknown."));
    else if (strlen(id) != UUID_LEN)
        say(view, _("This entry was imported; its conversation is not here."));
    else
        open_other(pane_of(view), id, seq);
}

void pane_open_source(struct view *view)
{
    const struct memory_entry *e = preview_entry(pane_of(view));
    memory_view_show_message(view, e->session_id ? e->session_id : "", e->seq);
}

/* Of a long entry its best passage, unless all of it was looked at. */
static struct memory_span to_quote(const struct memory_view *p, const struct memory_hit *h,
                                   const struct memory_entry *e)
{
    size_t len = strlen(e->content);
    bool known = !p->preview.open && h->passage.len > 0 && h->passage.start < len &&
                 h->passage.len <= len - h->passage.start && e == &h->entry;
    return known ? h->passage : (struct memory_span){0, len};
}

void pane_insert(struct view *view)
{
    struct memory_view *p = pane_of(view);
    const struct memory_entry *e = preview_entry(p);
    struct memory_span part = to_quote(p, pane_hit(p), e);
    struct buf source = BUF_INIT;
    pane_write_who(p, e, WHO_LASTING, &source);
    char *quote = memory_quote(e->content + part.start, part.len, source.data);
    memory_view_uncover(view);
    view->host->insert(view->host->app, quote);
    buf_release(&source);
    free(quote);
}

/* --- keys --- */

static bool give_key(struct view *view, enum action action, const struct key *key)
{
    bool taken = tabs_key(view, action, key);
    if (!taken && (action == ACTION_HISTORY || action == ACTION_PALETTE)) /* in the message */
        memory_view_uncover(view);
    return taken;
}

/* The wheel moves what is below it, whoever has the keyboard. */
static bool take_key(struct view *view, enum action action, const struct key *key)
{
    const struct view_host *host = view->host;
    bool wheel = key->code == K_WHEEL_UP || key->code == K_WHEEL_DOWN;
    bool by_place = wheel && is_beside(pane_of(view));
    if (by_place ? !host->under(host->app, view, key) : !pane_of(view)->focused)
        return false;
    return give_key(view, action, key) || by_place;
}

static bool caret(const struct view *view, int *row, int *col)
{
    return of_const(view)->focused && tabs_caret(view, row, col);
}

/* --- notices --- */

static void take_event(struct memory_view *p, const struct event *ev, bool live)
{
    bool added = recalls_add(&p->recalls, ev, live);
    if (added && live)
        pane_recalled(p, vec_last(&p->recalls.items));
    if (live && (ev->type == EVENT_MEMORY_INDEXED || ev->type == EVENT_COMPACTION_UNDONE))
        pane_changed(p);
    if (added)
        view_touch(&p->view);
}

static void take_session(struct memory_view *p)
{
    if (*p->session) {
        recalls_clear(&p->recalls);
        memory_view_uncover(&p->view);
        pane_session_changed(p);
    }
    copy_id(p->session, p->view.host->session->id);
}

/* The first page of a session that was asked for here. */
static void take_first_page(struct memory_view *p)
{
    if (!p->source.waits || strcmp(p->source.session, p->session) != 0)
        return;
    p->source.waits = false;
    say(&p->view, _("opened read-only; /resume continues it"));
    if (p->source.seq > 0)
        p->view.host->scroll_to(p->view.host->app, p->source.seq);
}

/* It may have been asked for before another session was opened. */
static void take_page(struct memory_view *p, const struct notice *n)
{
    if (n->events.len > 0 && strcmp(n->events.items[0]->session_id, p->session) != 0)
        return;
    for (size_t i = 0; i < n->events.len; i++)
        take_event(p, n->events.items[i], false);
    if (n->number == 0)
        take_first_page(p);
}

/* Sessions that were left may have brought some. */
static void take_state(struct memory_view *p, struct notice *n)
{
    bool others = n->stats.entries != p->stats.entries;
    pane_take_stats(p, &n->stats);
    if (others)
        pane_changed(p);
}

static void notice(struct view *view, struct notice *n)
{
    struct memory_view *p = pane_of(view);
    if (n->type == NOTICE_MEMORY_STATE)
        take_state(p, n);
    else if (n->type == NOTICE_EVENT)
        take_event(p, n->event, true);
    else if (n->type == NOTICE_PAGE)
        take_page(p, n);
    else if (n->type == NOTICE_SESSION && n->flag)
        take_session(p);
    tabs_notice(p, n);
}

void memory_view_say(struct view *view, const char *text)
{
    if (pane_of(view)->open)
        say(view, text);
}

void memory_view_missed(struct view *view)
{
    if (pane_of(view)->open)
        say(view, _("The message no longer exists."));
}

/* --- the view --- */

static void free_view(struct view *view)
{
    struct memory_view *p = pane_of(view);
    tabs_release(p);
    memory_hits_release(&p->hits);
    memory_stats_release(&p->stats);
    recalls_release(&p->recalls);
    preview_release(&p->preview);
    edit_release(&p->edit);
    editor_free(p->query);
    remark_release(&p->remark);
    rows_release(&p->rows);
    free(p->former);
    free(p->held);
    free(p->stay);
    for (size_t i = 0; i < p->ahead.len; i++)
        free(p->ahead.items[i].text);
    vec_release(&p->ahead);
    free(p);
}

static const struct view_ops ops = {
    .layer = VIEW_PANE,
    .free = free_view,
    .close = close_view,
    .shown = is_seen,
    .passes = passes,
    .key = take_key,
    .click = tabs_click,
    .resize = tabs_resize,
    .rows = tabs_rows,
    .caret = caret,
    .notice = notice,
    .due = tabs_due,
    .tick = tabs_tick,
};

struct view *memory_view_new(const struct view_host *host)
{
    struct memory_view *p = mem_alloc(sizeof *p);
    *p = (struct memory_view){.view = {.ops = &ops, .host = host},
                              .scope = pane_scope_of(host->memory_scope),
                              .limit = PANE_HITS,
                              .total = -1,
                              .query = editor_new(),
                              .edit.editor = editor_new(),
                              .caret_row = -1,
                              .layout = {.width = 1, .height = 1}};
    rows_init(&p->rows);
    styled_init(&p->preview.text);
    tabs_init(p);
    return &p->view;
}
