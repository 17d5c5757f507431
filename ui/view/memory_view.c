#include "ui/view/memory_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/text/editor.h"
#include "ui/view/hints.h"
#include "ui/view/memory_view_private.h"

/* Keys that came before what they mean: the hits of the query as it was typed, the text of the
 * entry that is to be changed, or the list once it is. They wait, so that nothing is done with
 * another entry. */

enum { MOST_KEYS = 64 };

static bool waits_for_hits(const struct memory_view *p)
{
    return p->behind && p->tab == TAB_MEMORY;
}

bool ahead_waits(const struct memory_view *p)
{
    if (p->place == IN_EDITOR)
        return p->edit.saving;
    return edit_waits(p) || waits_for_hits(p);
}

void ahead_drop(struct memory_view *p)
{
    for (size_t i = 0; i < p->ahead.len; i++)
        free(p->ahead.items[i].text);
    vec_clear(&p->ahead);
    edit_give_up(p);
}

/* --- which keys wait --- */

static bool is_any_of(enum action action, const enum action *all)
{
    for (; *all != ACTION_NONE; all++)
        if (*all == action)
            return true;
    return false;
}

/* What closes or leaves is not to be waited with, and what came before it is off. */
static bool leaves(enum action action)
{
    static const enum action leaving[] = {ACTION_CANCEL,   ACTION_CLEAR,      ACTION_MEMORY,
                                          ACTION_COMPLETE, ACTION_FIND_NEWER, ACTION_NONE};
    return is_any_of(action, leaving) || pane_passes(action);
}

/* What means no hit, if nothing waits that would come before it. */
static bool means_no_hit(const struct memory_view *p, enum action action, const struct key *key)
{
    static const enum action letters[] = {
        ACTION_MEMORY_RESTORE, ACTION_MEMORY_SCOPE, ACTION_MEMORY_ORIGIN, ACTION_MEMORY_SORT,
        ACTION_MEMORY_QUERY,   ACTION_MEMORY_TAB,   ACTION_NONE};
    static const enum action of_list[] = {ACTION_LEFT, ACTION_RIGHT, ACTION_NONE};
    if (p->ahead.len > 0 || p->place == IN_EDITOR || edit_waits(p))
        return false;
    if (is_any_of(keymap_find_in(p->view.host->keymap, key, KEYS_PANE), letters))
        return true;
    bool first = p->lists[p->tab].chosen == 0;
    return p->place == IN_LIST && (is_any_of(action, of_list) || (action == ACTION_UP && first));
}

static void keep(struct memory_view *p, const struct key *key)
{
    struct key copy = *key;
    if (p->ahead.len == MOST_KEYS)
        return;
    copy.text = mem_strdup(key->text);
    vec_push(&p->ahead, copy);
}

bool ahead_take(struct memory_view *p, enum action action, const struct key *key)
{
    bool wheel = action == ACTION_SCROLL_UP || action == ACTION_SCROLL_DOWN;
    if (wheel || !ahead_waits(p) || p->place == IN_QUERY)
        return false;
    if (leaves(action)) {
        ahead_drop(p);
        return false;
    }
    if (means_no_hit(p, action, key))
        return false;
    keep(p, key);
    return true;
}

void ahead_replay(struct memory_view *p)
{
    const struct view_host *host = p->view.host;
    while (p->ahead.len > 0 && !ahead_waits(p)) {
        struct key key = p->ahead.items[0];
        vec_remove(&p->ahead, 0, 1);
        host->type(host->app, &p->view, &key);
        free(key.text);
    }
}

struct asked_row asked_row(const struct memory_view *p, size_t index)
{
    const struct recalls *all = &p->recalls;
    for (size_t i = all->items.len; i-- > 0;) {
        const struct recalled *r = all->items.items[i];
        if (index == 0)
            return (struct asked_row){r, NULL};
        index--;
        if (index < r->hits.items.len)
            return (struct asked_row){r, &r->hits.items.items[index]};
        index -= r->hits.items.len;
    }
    return (struct asked_row){NULL, NULL};
}

size_t asked_count(const struct memory_view *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->recalls.items.len; i++)
        count += 1 + p->recalls.items.items[i]->hits.items.len;
    return count;
}

size_t asked_fresh(const struct memory_view *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->recalls.items.len; i++)
        count += p->recalls.items.items[i]->fresh;
    return count;
}

void asked_seen(struct memory_view *p)
{
    for (size_t i = 0; i < p->recalls.items.len; i++)
        p->recalls.items.items[i]->fresh = false;
}

/* What the pane asks of memory, what it holds, and what is answered. */

/* --- what is chosen --- */

size_t pane_count(const struct memory_view *p)
{
    return p->tab == TAB_ASKED ? asked_count(p) : p->hits.items.len;
}

const struct memory_hit *pane_hit(const struct memory_view *p)
{
    size_t chosen = p->lists[p->tab].chosen;
    if (p->tab == TAB_ASKED)
        return asked_row(p, chosen).hit;
    return chosen < p->hits.items.len ? &p->hits.items.items[chosen] : NULL;
}

void pane_choose(struct memory_view *p, long index)
{
    p->lists[p->tab].chosen = moves_within(index, pane_count(p));
    preview_follow(p);
}

static void set_stay(struct memory_view *p, const char *id)
{
    char *copy = mem_strdup(id);
    free(p->stay);
    p->stay = copy;
}

/* --- searching --- */

static size_t place_of(const struct memory_hits *hits, const char *id)
{
    for (size_t i = 0; id && i < hits->items.len; i++)
        if (hits->items.items[i].entry.id && strcmp(hits->items.items[i].entry.id, id) == 0)
            return i;
    return SIZE_MAX;
}

static const char *id_at(const struct memory_hits *hits, size_t index)
{
    return index < hits->items.len ? hits->items.items[index].entry.id : NULL;
}

/* The same entry stays chosen in a new answer to the same question, and so does the first place. */
static size_t to_choose(const struct memory_view *p, const struct memory_hits *hits)
{
    const struct pane_list *l = &p->lists[TAB_MEMORY];
    bool same = p->held && strcmp(p->held, editor_text(p->query)) == 0;
    const char *id = p->stay ? p->stay : same && l->chosen > 0 ? id_at(&p->hits, l->chosen) : NULL;
    size_t found = place_of(hits, id);
    if (found != SIZE_MAX)
        return found;
    size_t last = hits->items.len > 0 ? hits->items.len - 1 : 0;
    return !same ? 0 : l->chosen < last ? l->chosen : last;
}

static void hold(struct memory_view *p, struct memory_found *found)
{
    p->lists[TAB_MEMORY].chosen = to_choose(p, &found->hits);
    memory_hits_release(&p->hits);
    p->hits = found->hits;
    found->hits = (struct memory_hits){0};
    p->total = found->total;
    free(p->held);
    p->held = mem_strdup(editor_text(p->query));
    set_stay(p, NULL);
}

static void hold_nothing(struct memory_view *p)
{
    memory_hits_release(&p->hits);
    p->lists[TAB_MEMORY] = (struct pane_list){0};
    free(p->held);
    p->held = NULL;
}

static bool take_hits(struct view *view, struct operation_answer *a, const char *words)
{
    struct memory_view *p = pane_of(view);
    if (!words)
        hold(p, a->result);
    else if (p->behind) /* what is held may stay if it answers the same */
        hold_nothing(p);
    p->searching = 0;
    p->behind = p->slow = false;
    preview_follow(p);
    if (words)
        return pane_fail(p, words);
    ahead_replay(p);
    return true;
}

static const char *const scopes[SCOPES] = {"all", "project", "session"};

enum pane_scope pane_scope_of(const char *name)
{
    for (int i = 0; i < SCOPES; i++)
        if (strcmp(scopes[i], name) == 0)
            return (enum pane_scope)i;
    return SCOPE_ALL;
}

void pane_ask(struct memory_view *p)
{
    const struct memory_search search = {.query = editor_text(p->query),
                                         .scope = scopes[p->scope],
                                         .limit = p->limit,
                                         .order = p->order,
                                         .filter = {.origin = p->origin},
                                         .typing = true};
    view_withdraw(&p->view, p->searching);
    p->searching = view_ask(&p->view, &operation_memory_search, &search, take_hits);
}

static void fall_behind(struct memory_view *p)
{
    if (!p->behind)
        p->behind_ms = clock_mono_ms();
    p->behind = true;
}

void pane_ask_other(struct memory_view *p)
{
    fall_behind(p);
    pane_ask(p);
}

bool pane_wants_more(const struct memory_view *p)
{
    return p->tab == TAB_MEMORY && p->searching == 0 && (int)p->hits.items.len >= p->limit &&
           p->limit < PANE_HITS_MOST;
}

void pane_changed(struct memory_view *p)
{
    if (p->open)
        pane_ask(p);
}

/* --- how memory is --- */

void pane_take_stats(struct memory_view *p, struct memory_stats *stats)
{
    memory_stats_release(&p->stats);
    p->stats = *stats;
    *stats = (struct memory_stats){0};
}

static bool take_stats(struct view *view, struct operation_answer *a, const char *words)
{
    if (words)
        return pane_fail(pane_of(view), words);
    pane_take_stats(pane_of(view), a->result);
    return true;
}

/* --- being shown --- */

static void appear(struct memory_view *p, enum pane_tab tab, bool other)
{
    ahead_drop(p);
    p->tab = tab;
    pane_say(p, STYLE_NOTE, NULL);
    view_ask(&p->view, &operation_memory_stats, NULL, take_stats);
    if (other || !p->held)
        fall_behind(p);
    p->behind_ms = clock_mono_ms();
    pane_ask(p);
}

void pane_set_query(struct memory_view *p, const char *text)
{
    struct buf line = BUF_INIT;
    utf8_clean(&line, text, utf8_cut_bytes(text, strlen(text), PANE_QUERY_BYTES), UTF8_ONE_LINE);
    editor_set(p->query, line.data);
    buf_release(&line);
}

static void keep_former(struct memory_view *p)
{
    if (editor_len(p->query) == 0)
        return;
    free(p->former);
    p->former = mem_strdup(editor_text(p->query));
}

void pane_show(struct memory_view *p, const char *query)
{
    bool other = query && strcmp(query, editor_text(p->query)) != 0;
    if (other) {
        keep_former(p);
        pane_set_query(p, query);
        p->limit = PANE_HITS;
        preview_close(&p->view);
    }
    if (other || p->place != IN_EDITOR)
        p->place = IN_QUERY;
    appear(p, query || p->tab == TAB_MEMORY ? TAB_MEMORY : TAB_ASKED, other);
    if (p->tab == TAB_ASKED && p->place == IN_QUERY)
        p->place = IN_LIST;
}

void pane_show_session(struct memory_view *p)
{
    p->scope = SCOPE_SESSION;
    keep_former(p);
    editor_set(p->query, "");
    preview_close(&p->view);
    p->place = IN_LIST;
    appear(p, TAB_MEMORY, true);
}

/* --- changes --- */

void pane_say(struct memory_view *p, enum style style, const char *text)
{
    remark_set(&p->remark, style, text);
}

/* What failed is to be seen before the next key does something. */
bool pane_fail(struct memory_view *p, const char *words)
{
    ahead_drop(p);
    if (pane_is_seen(p))
        pane_say(p, STYLE_ERROR, words);
    return pane_is_seen(p);
}

/* `words` NULL: it was done, which `said` tells; `id` is the entry to choose. */
static bool end_change(struct memory_view *p, const char *id, const char *said, const char *words)
{
    if (!words) {
        pane_say(p, STYLE_NOTE, said);
        set_stay(p, id);
    }
    preview_follow(p);
    pane_changed(p);
    if (words)
        return pane_fail(p, words);
    ahead_replay(p);
    return true;
}

static bool take_pinned(struct view *view, struct operation_answer *a, const char *words)
{
    const struct memory_pin_params *asked = a->request->params;
    return end_change(pane_of(view), asked->id, asked->pinned ? _("pinned") : _("no longer pinned"),
                      words);
}

/* The next key may ask for the opposite before the engine has answered. */
static void set_pinned(struct memory_view *p, const struct memory_hit *h, bool pinned)
{
    struct memory_entry *whole = &p->preview.whole;
    if (p->tab == TAB_MEMORY)
        p->hits.items.items[p->lists[TAB_MEMORY].chosen].entry.pinned = pinned;
    if (whole->id && h->entry.id && strcmp(whole->id, h->entry.id) == 0)
        whole->pinned = pinned;
    preview_follow(p);
}

void pane_pin(struct memory_view *p)
{
    const struct memory_entry *e = preview_entry(p);
    const struct memory_pin_params params = {.id = e->id, .pinned = !e->pinned};
    view_ask(&p->view, &operation_memory_pin, &params, take_pinned);
    set_pinned(p, pane_hit(p), params.pinned);
}

static bool take_saved(struct view *view, struct operation_answer *a, const char *words)
{
    const struct memory_edit_params *asked = a->request->params;
    edit_saved(pane_of(view), !words);
    if (!words)
        preview_anew(pane_of(view));
    return end_change(pane_of(view), asked->id, _("changed"), words);
}

void pane_save(struct memory_view *p, const char *id, const char *content)
{
    const struct memory_edit_params params = {.id = id, .content = content};
    view_ask(&p->view, &operation_memory_edit, &params, take_saved);
}

static void say_forgotten(struct memory_view *p, int summaries)
{
    struct buf key = BUF_INIT, text = BUF_INIT;
    keymap_describe_first(p->view.host->keymap, ACTION_MEMORY_RESTORE, &key);
    buf_addf(&text, _("forgotten; %s restores it"), key.len > 0 ? key.data : "-");
    if (summaries > 0) {
        buf_addstr(&text, "; ");
        buf_addf(
            &text,
            ngettext("%d summary quotes it", "%d summaries quote it", (unsigned long)summaries),
            summaries);
    }
    pane_say(p, summaries > 0 ? STYLE_WARNING : STYLE_NOTE, text.data);
    buf_release(&key);
    buf_release(&text);
}

static bool take_forgotten(struct view *view, struct operation_answer *a, const char *words)
{
    const struct memory_forget_result *gone = a->result;
    if (words)
        return end_change(pane_of(view), NULL, NULL, words);
    say_forgotten(pane_of(view), gone->summaries);
    pane_changed(pane_of(view));
    ahead_replay(pane_of(view));
    return true;
}

/* What is forgotten is gone at once: the next key means the entry that now stands there. */
static void take_out(struct memory_view *p)
{
    size_t chosen = p->lists[TAB_MEMORY].chosen;
    if (p->tab != TAB_MEMORY)
        return;
    memory_hit_release(&p->hits.items.items[chosen]);
    vec_remove(&p->hits.items, chosen, 1);
    if (p->total > 0)
        p->total--;
    pane_choose(p, (long)chosen);
}

void pane_forget(struct memory_view *p)
{
    const char *ids[] = {pane_hit(p)->entry.id};
    const struct memory_forget_params params = {.ids = {.items = ids, .len = 1}};
    view_ask(&p->view, &operation_memory_forget, &params, take_forgotten);
    take_out(p);
}

static bool take_restored(struct view *view, struct operation_answer *a, const char *words)
{
    const struct memory_restore_result *back = a->result;
    return words ? pane_fail(pane_of(view), words)
                 : end_change(pane_of(view), back->id, _("restored"), NULL);
}

void pane_restore(struct memory_view *p)
{
    view_ask(&p->view, &operation_memory_restore, NULL, take_restored);
}

/* --- what happens outside --- */

void pane_session_changed(struct memory_view *p)
{
    p->lists[TAB_ASKED] = (struct pane_list){0};
    pane_say(p, STYLE_NOTE, NULL); /* of the one that was open */
    if (p->tab == TAB_ASKED)
        preview_close(&p->view);
    if (p->scope == SCOPE_SESSION)
        fall_behind(p);
    pane_changed(p); /* the scope may be another now */
}

static void say_recalled(struct memory_view *p, const struct recalled *r)
{
    size_t hits = r->hits.items.len;
    struct buf text = BUF_INIT;
    buf_addf(
        &text,
        ngettext("model's search, %zu match: \"%s\"", "model's search, %zu matches: \"%s\"", hits),
        hits, r->query);
    pane_say(p, STYLE_NOTE, text.data);
    buf_release(&text);
}

/* It is shown at once unless the person is busy here. */
void pane_recalled(struct memory_view *p, const struct recalled *r)
{
    struct pane_list *l = &p->lists[TAB_ASKED];
    bool busy = p->focused || p->place == IN_EDITOR || p->preview.open;
    if (l->chosen > 0) { /* it came before those that are there */
        l->chosen += 1 + r->hits.items.len;
        l->top += 1 + r->hits.items.len;
    }
    if (!p->open)
        return;
    if (!busy) {
        p->tab = TAB_ASKED;
        p->place = IN_LIST;
        *l = (struct pane_list){0};
    }
    say_recalled(p, r);
}

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
