#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/text/editor.h"
#include "ui/view/memory_view_private.h"
#include "ui/view/moves.h"

/* --- what can be done with the chosen entry --- */

/* If none is, it says so. */
static bool is_chosen(struct view *view)
{
    bool chosen = pane_hit(pane_of(view)) != NULL;
    if (!chosen)
        pane_say(pane_of(view), STYLE_NOTE, _("No entry is selected."));
    return chosen;
}

static void open_source(struct view *view)
{
    if (is_chosen(view))
        pane_open_source(view);
}

static void insert(struct view *view)
{
    if (is_chosen(view))
        pane_insert(view);
}

static void pin(struct view *view)
{
    if (is_chosen(view))
        pane_pin(pane_of(view));
}

static void edit(struct view *view)
{
    if (is_chosen(view))
        edit_open(pane_of(view));
}

static void forget(struct view *view)
{
    if (is_chosen(view))
        pane_forget(pane_of(view));
}

static void restore(struct view *view)
{
    pane_restore(pane_of(view));
}

/* --- what is searched --- */

static void search_anew(struct memory_view *p)
{
    p->limit = PANE_HITS;
    p->lists[TAB_MEMORY] = (struct pane_list){0};
    pane_ask_other(p);
}

static void change_scope(struct view *view)
{
    struct memory_view *p = pane_of(view);
    p->tab = TAB_MEMORY;
    p->scope = (enum pane_scope)((p->scope + 1) % SCOPES);
    search_anew(p);
}

static void change_order(struct view *view)
{
    struct memory_view *p = pane_of(view);
    p->tab = TAB_MEMORY;
    p->order = p->order == MEMORY_BY_SCORE ? MEMORY_BY_DATE : MEMORY_BY_SCORE;
    search_anew(p);
}

static void change_origin(struct view *view)
{
    struct memory_view *p = pane_of(view);
    p->tab = TAB_MEMORY;
    p->origin = (p->origin + 1) % (1 + MEMORY_ORIGINS);
    search_anew(p);
}

static void to_query(struct view *view)
{
    struct memory_view *p = pane_of(view);
    preview_close(view);
    p->tab = TAB_MEMORY;
    p->place = IN_QUERY;
}

static void change_tab(struct view *view)
{
    struct memory_view *p = pane_of(view);
    preview_close(view);
    p->tab = p->tab == TAB_MEMORY ? TAB_ASKED : TAB_MEMORY;
    p->place = IN_LIST;
}

/* What the model asked can be asked again. */
static void choose(struct view *view)
{
    struct memory_view *p = pane_of(view);
    struct asked_row row = {NULL, NULL};
    if (p->tab == TAB_ASKED)
        row = asked_row(p, p->lists[TAB_ASKED].chosen);
    if (pane_hit(p)) {
        preview_open(view);
    } else if (row.recalled) {
        pane_set_query(p, row.recalled->query);
        p->tab = TAB_MEMORY;
        search_anew(p);
    }
}

/* --- tables --- */

static const struct view_key everywhere[] = {{ACTION_MEMORY, view_close},
                                             {ACTION_COMPLETE, memory_view_uncover},
                                             {ACTION_FIND_NEWER, memory_view_uncover},
                                             {ACTION_NONE, NULL}};

static const struct view_key letters[] = {{ACTION_MEMORY_OPEN, open_source},
                                          {ACTION_MEMORY_INSERT, insert},
                                          {ACTION_MEMORY_PIN, pin},
                                          {ACTION_MEMORY_EDIT, edit},
                                          {ACTION_MEMORY_FORGET, forget},
                                          {ACTION_MEMORY_RESTORE, restore},
                                          {ACTION_MEMORY_SCOPE, change_scope},
                                          {ACTION_MEMORY_ORIGIN, change_origin},
                                          {ACTION_MEMORY_SORT, change_order},
                                          {ACTION_MEMORY_FIGURES, preview_toggle_figures},
                                          {ACTION_MEMORY_QUERY, to_query},
                                          {ACTION_MEMORY_TAB, change_tab},
                                          {ACTION_NONE, NULL}};

static const struct view_key of_list[] = {{ACTION_SEND, choose},     {ACTION_TOGGLE, choose},
                                          {ACTION_CANCEL, to_query}, {ACTION_CLEAR, view_close},
                                          {ACTION_LEFT, change_tab}, {ACTION_RIGHT, change_tab},
                                          {ACTION_NONE, NULL}};

static const struct view_key of_preview[] = {{ACTION_SEND, preview_close},
                                             {ACTION_TOGGLE, preview_close},
                                             {ACTION_CANCEL, preview_close},
                                             {ACTION_CLEAR, view_close},
                                             {ACTION_NONE, NULL}};

/* --- moving --- */

/* Beyond the end there may be more. */
static void move_list(struct memory_view *p, long by)
{
    long to = (long)p->lists[p->tab].chosen + by;
    bool beyond = to >= (long)pane_count(p);
    pane_choose(p, to);
    if (beyond && pane_wants_more(p)) {
        p->limit *= 2;
        pane_ask(p);
    }
    if (beyond && p->tab == TAB_ASKED)
        p->view.host->want_older(p->view.host->app);
}

static void move(struct memory_view *p, long by)
{
    if (p->place == IN_PREVIEW)
        preview_scroll(p, by);
    else
        move_list(p, by);
}

static long page(const struct memory_view *p)
{
    int rows = p->place == IN_PREVIEW ? p->layout.lower_rows - 1
                                      : p->layout.list_rows / list_part_row_height(p);
    return rows > 2 ? rows - 1 : 1;
}

static bool move_by_key(struct memory_view *p, enum action action, const struct key *key)
{
    bool previews = p->place == IN_PREVIEW, next = moves_is_letter(key, 'n');
    long by = moves_by_action(action, page(p), previews ? MOVES_WHEEL : 1);
    if (by == 0)
        by = previews && moves_is_letter(key, ' ') ? page(p) : moves_by_letter(key);
    if (by != 0)
        move(p, by);
    else if (next || moves_is_letter(key, 'N'))
        move_list(p, next ? 1 : -1);
    else
        return false;
    return true;
}

bool pane_passes(enum action action)
{
    return action == ACTION_HELP || action == ACTION_SESSIONS || action == ACTION_CONTEXT ||
           action == ACTION_FIND || action == ACTION_HISTORY || action == ACTION_PALETTE ||
           action == ACTION_TOGGLE_ALL;
}

/* --- the query --- */

static bool is_down(enum action action)
{
    return action == ACTION_SEND || action == ACTION_DOWN || action == ACTION_PAGE_DOWN;
}

/* The hits move, the query keeps the keys. */
static void scroll_below(struct memory_view *p, bool down)
{
    const struct pane_list *l = &p->lists[p->tab];
    long whole = p->layout.list_rows / list_part_row_height(p), top = (long)l->top;
    move_list(p, (down ? top + (whole > 0 ? whole : 1) : top - 1) - (long)l->chosen);
}

/* True if there was one to bring back. */
static bool bring_back(struct memory_view *p)
{
    if (editor_len(p->query) > 0 || !p->former)
        return false;
    editor_set(p->query, p->former);
    search_anew(p);
    return true;
}

/* What changes it is asked at once. */
static bool change_query(struct memory_view *p, enum action action, const struct key *key)
{
    char *before = mem_strdup(editor_text(p->query));
    bool mine = edit_line_key(p->query, PANE_QUERY_BYTES, action, key);
    if (strcmp(before, editor_text(p->query)) != 0) {
        preview_close(&p->view);
        p->place = IN_QUERY;
        search_anew(p);
    }
    free(before);
    return mine;
}

static bool query_key(struct memory_view *p, enum action action, const struct key *key)
{
    bool scrolls = action == ACTION_SCROLL_UP || action == ACTION_SCROLL_DOWN;
    if (action == ACTION_CANCEL || (action == ACTION_CLEAR && editor_len(p->query) == 0))
        view_close(&p->view);
    else if (is_down(action))
        p->place = IN_LIST;
    else if (scrolls)
        scroll_below(p, action == ACTION_SCROLL_DOWN);
    else if (!(action == ACTION_UP && bring_back(p)))
        return change_query(p, action, key) || !pane_passes(action);
    return true;
}

/* --- keys --- */

static bool list_key(struct memory_view *p, enum action action, const struct key *key)
{
    const struct view_key *own = p->place == IN_PREVIEW ? of_preview : of_list;
    bool first = p->place == IN_LIST && p->tab == TAB_MEMORY && p->lists[p->tab].chosen == 0;
    enum action letter = keymap_find_in(p->view.host->keymap, key, KEYS_PANE);
    if (view_run_action(&p->view, letters, letter) || view_run_action(&p->view, own, action))
        return true;
    if (action == ACTION_UP && first)
        to_query(&p->view);
    else if (p->place == IN_LIST && moves_is_letter(key, ' '))
        choose(&p->view);
    else if (!move_by_key(p, action, key))
        return !pane_passes(action);
    return true;
}

bool pane_key(struct view *view, enum action action, const struct key *key)
{
    struct memory_view *p = pane_of(view);
    pane_say(p, STYLE_NOTE, NULL);
    if (ahead_take(p, action, key) || view_run_action(view, everywhere, action))
        return true;
    if (p->place == IN_EDITOR)
        return edit_in_pane(view, action, key);
    return p->place == IN_QUERY ? query_key(p, action, key) : list_key(p, action, key);
}

void pane_click(struct view *view, int row, int col)
{
    struct memory_view *p = pane_of(view);
    const struct pane_layout *l = &p->layout;
    size_t at = list_part_at(p, row - l->list_top);
    (void)col;
    (void)memory_view_focus(view, true);
    if (p->place == IN_EDITOR)
        return;
    if (row == 0 || row == l->query_row)
        ahead_drop(p);
    if (row == 0)
        change_tab(view);
    else if (row == l->query_row)
        to_query(view);
    else if (ahead_waits(p) || at == SIZE_MAX)
        return; /* what it was on goes away */
    else if (at == p->lists[p->tab].chosen && p->place != IN_QUERY)
        (p->preview.open ? preview_close : choose)(view);
    else {
        p->place = p->preview.open ? IN_PREVIEW : IN_LIST;
        pane_choose(p, (long)at);
    }
}
