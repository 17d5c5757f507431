/* The tabs of the pane: memory's own list, and views of others within it (struct view_tab). Where
 * there is more than one, their names stand above them. */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/memory_operations.h"
#include "ui/view/memory_view_private.h"

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
