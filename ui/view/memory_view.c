#include "ui/view/memory_view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/view/browser.h"
#include "ui/view/memory_line.h"
#include "ui/view/memory_view_private.h"

enum {
    MOST_HITS = 6400, /* after going on to the end of them, again and again */
    MOST_KEYS = 64    /* that wait */
};

/* Drops the keys that wait: the user sees the failure before another key acts. */
bool pane_fail(struct memory_view *p, const char *words)
{
    ahead_drop(p);
    if (pane_is_seen(&p->view))
        remark_set(&p->remark, STYLE_ERROR, words);
    return pane_is_seen(&p->view);
}

/* --- keys that come before their answer --- */

/* Keys wait for the hits of the query, for the text of the entry that is to be changed, and for the
 * list after the change, so that they never act on another entry. */
bool ahead_waits(const struct memory_view *p)
{
    if (p->place == IN_EDITOR)
        return p->edit.saving;
    return p->edit.reading != 0 || (p->behind && p->tab == TAB_MEMORY);
}

void ahead_drop(struct memory_view *p)
{
    for (size_t i = 0; i < p->ahead.len; i++)
        free(p->ahead.items[i].text);
    vec_clear(&p->ahead);
    edit_give_up(p);
}

static bool is_any_of(enum action action, const enum action *all)
{
    for (; *all != ACTION_NONE; all++)
        if (*all == action)
            return true;
    return false;
}

void ahead_replay(struct memory_view *p)
{
    while (p->ahead.len > 0 && !ahead_waits(p)) {
        struct key key = p->ahead.items[0];
        vec_remove(&p->ahead, 0, 1);
        p->host->type(p->view.host->app, &p->view, &key);
        free(key.text);
    }
}

/* --- the lists --- */

struct asked_row asked_row(const struct memory_view *p, size_t index)
{
    for (size_t i = p->recalls.items.len; i-- > 0;) {
        const struct recalled *r = p->recalls.items.items[i];
        if (index == 0)
            return (struct asked_row){r, NULL};
        index--;
        if (index < r->hits.items.len)
            return (struct asked_row){r, &r->hits.items.items[index]};
        index -= r->hits.items.len;
    }
    return (struct asked_row){NULL, NULL};
}

size_t pane_count(const struct memory_view *p)
{
    size_t count = 0;
    if (p->tab == TAB_MEMORY)
        return p->hits.items.len;
    for (size_t i = 0; i < p->recalls.items.len; i++)
        count += 1 + p->recalls.items.items[i]->hits.items.len;
    return count;
}

const struct memory_hit *pane_hit(const struct memory_view *p)
{
    size_t chosen = p->lists[p->tab].chosen;
    if (p->tab == TAB_ASKED)
        return asked_row(p, chosen).hit;
    return chosen < p->hits.items.len ? &p->hits.items.items[chosen] : NULL;
}

/* The nearest row that there is. */
static void choose_row(struct memory_view *p, long index)
{
    p->lists[p->tab].chosen = moves_within(index, pane_count(p));
    preview_follow(p);
}

/* --- searching --- */

/* The same entry stays chosen in a new answer to the same query, and so does the first place. */
static bool take_hits(struct view *view, struct operation_answer *a, const char *words)
{
    struct memory_view *p = pane_of(view);
    struct memory_found *found = a->result;
    struct pane_list *l = &p->lists[TAB_MEMORY];
    if (!words) {
        bool same = p->held && strcmp(p->held, editor_text(p->query)) == 0;
        size_t count = found->hits.items.len, i = 0;
        const char *id = p->stay;
        if (!id && same && l->chosen > 0 && l->chosen < p->hits.items.len)
            id = p->hits.items.items[l->chosen].entry.id;
        for (; id && i < count; i++)
            if (found->hits.items.items[i].entry.id &&
                strcmp(found->hits.items.items[i].entry.id, id) == 0)
                break;
        l->chosen = id && i < count ? i : same ? moves_within((long)l->chosen, count) : 0;
        memory_hits_release(&p->hits);
        p->hits = found->hits;
        found->hits = (struct memory_hits){0};
        p->total = found->total;
        free(p->held);
        p->held = mem_strdup(editor_text(p->query));
        free(p->stay);
        p->stay = NULL;
    } else if (p->behind) { /* hits of another query do not stay */
        memory_hits_release(&p->hits);
        *l = (struct pane_list){0};
        free(p->held);
        p->held = NULL;
    }
    p->searching = 0;
    p->behind = p->slow = false;
    preview_follow(p);
    if (words)
        return pane_fail(p, words);
    ahead_replay(p);
    return true;
}

const char *const pane_scopes[SCOPES] = {N_("all"), N_("project"), N_("session")};

static void ask(struct memory_view *p)
{
    const struct memory_search search = {.query = editor_text(p->query),
                                         .scope = pane_scopes[p->scope],
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

static void search_anew(struct memory_view *p)
{
    p->limit = PANE_HITS;
    p->lists[TAB_MEMORY] = (struct pane_list){0};
    fall_behind(p);
    ask(p);
}

void pane_changed(struct memory_view *p)
{
    if (p->open)
        ask(p);
}

static bool take_stats(struct view *view, struct operation_answer *a, const char *words)
{
    if (words)
        return pane_fail(pane_of(view), words);
    browser_take(a, &pane_of(view)->stats);
    return true;
}

/* --- being shown --- */

static void appear(struct memory_view *p, enum pane_tab tab, bool other)
{
    ahead_drop(p);
    p->tab = tab;
    remark_set(&p->remark, STYLE_NOTE, NULL);
    view_ask(&p->view, &operation_memory_stats, NULL, take_stats);
    if (other || !p->held)
        fall_behind(p);
    p->behind_ms = clock_mono_ms();
    ask(p);
}

static void set_query(struct memory_view *p, const char *text)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    utf8_clean(&line, text, utf8_cut_bytes(text, strlen(text), BROWSER_QUERY_BYTES), UTF8_ONE_LINE);
    editor_set(p->query, line.data);
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
        set_query(p, query);
        p->limit = PANE_HITS;
        preview_close(p);
    }
    if (other || p->place != IN_EDITOR)
        p->place = IN_QUERY;
    appear(p, query || p->tab == TAB_MEMORY ? TAB_MEMORY : TAB_ASKED, other);
    if (p->tab == TAB_ASKED && p->place == IN_QUERY)
        p->place = IN_LIST;
}

void memory_view_open_recalled(struct view *view)
{
    struct memory_view *p = pane_of(view);
    if (!pane_come(p))
        return;
    if (p->place != IN_EDITOR)
        p->place = IN_LIST;
    appear(p, TAB_ASKED, false);
}

void memory_view_open_session(struct view *view)
{
    struct memory_view *p = pane_of(view);
    if (!pane_come(p))
        return;
    p->scope = SCOPE_SESSION;
    keep_former(p);
    editor_set(p->query, "");
    preview_close(p);
    p->place = IN_LIST;
    appear(p, TAB_MEMORY, true);
}

/* --- changes --- */

static char *forgotten_text(const struct memory_view *p, int summaries)
{
    AUTO(buf_release) struct buf key = BUF_INIT;
    struct buf text = BUF_INIT;
    keymap_describe_first(p->view.host->keymap, ACTION_MEMORY_RESTORE, &key);
    buf_addf(&text, _("forgotten; %s restores it"), key.len > 0 ? key.data : "-");
    if (summaries > 0) {
        buf_addstr(&text, "; ");
        buf_addf(
            &text,
            ngettext("%d summary quotes it", "%d summaries quote it", (unsigned long)summaries),
            summaries);
    }
    return buf_take(&text);
}

/* A change was made, which the foot says, or it failed. `id`: the entry to choose. */
bool pane_take_change(struct view *view, struct operation_answer *a, const char *words)
{
    struct memory_view *p = pane_of(view);
    const struct operation *o = a->request->operation;
    const struct memory_pin_params *pin = a->request->params;
    const struct memory_restore_result *back = a->result;
    const struct memory_forget_result *gone = a->result;
    auto_free char *forgotten = NULL;
    const char *said = NULL, *id = NULL;
    enum style style = STYLE_NOTE;
    if (o == &operation_memory_edit) {
        edit_saved(p, !words);
        if (!words)
            preview_forget(p);
        id = ((const struct memory_edit_params *)a->request->params)->id;
        said = _("changed");
    } else if (o == &operation_memory_pin) {
        id = pin->id;
        said = pin->pinned ? _("pinned") : _("no longer pinned");
    } else if (words && o == &operation_memory_restore) {
        return pane_fail(p, words);
    } else if (!words && o == &operation_memory_restore) {
        id = back->id;
        said = _("restored");
    } else if (!words) {
        style = gone->summaries > 0 ? STYLE_WARNING : STYLE_NOTE;
        said = forgotten = forgotten_text(p, gone->summaries);
    }
    if (!words)
        remark_set(&p->remark, style, said);
    if (!words && id) {
        free(p->stay);
        p->stay = mem_strdup(id);
    }
    preview_follow(p);
    pane_changed(p);
    if (words)
        return pane_fail(p, words);
    ahead_replay(p);
    return true;
}

/* Marked at once: the next key may ask for the opposite before the engine has answered. */
static void pin(struct memory_view *p)
{
    const struct memory_hit *h = pane_hit(p);
    const struct memory_entry *e = preview_entry(p);
    const struct memory_pin_params params = {.id = e->id, .pinned = !e->pinned};
    struct memory_entry *whole = &p->preview.whole;
    view_ask(&p->view, &operation_memory_pin, &params, pane_take_change);
    if (p->tab == TAB_MEMORY)
        p->hits.items.items[p->lists[TAB_MEMORY].chosen].entry.pinned = params.pinned;
    if (whole->id && h->entry.id && strcmp(whole->id, h->entry.id) == 0)
        whole->pinned = params.pinned;
    preview_follow(p);
}

static bool take_left_out(struct view *view, struct operation_answer *a, const char *words)
{
    struct memory_view *p = pane_of(view);
    const struct memory_leave_out_params *asked = a->request->params;
    if (!words)
        return true;
    left_out_note(&p->recalls.left_out, asked->id, 0, asked->back);
    return pane_fail(p, words);
}

/* Marks the entry before the answer comes, as a pin does; take_left_out() takes the mark back. */
static void leave_out(struct memory_view *p)
{
    const char *id = pane_hit(p)->entry.id;
    const struct memory_leave_out_params params = {.id = id,
                                                   .back = left_out_has(&p->recalls.left_out, id)};
    AUTO(buf_release) struct buf key = BUF_INIT;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!id)
        return;
    keymap_describe_first(p->view.host->keymap, ACTION_MEMORY_LEAVE_OUT, &key);
    if (params.back)
        buf_addstr(&text, _("may be sent with messages again"));
    else
        buf_addf(&text, _("left out of this session's messages; %s undoes it"), key.data);
    remark_set(&p->remark, STYLE_NOTE, text.data);
    left_out_note(&p->recalls.left_out, id, 0, !params.back);
    view_ask(&p->view, &operation_memory_leave_out, &params, take_left_out);
}

/* The entry leaves the list at once: the next key means the entry that takes its place. */
static void forget(struct memory_view *p)
{
    const char *ids[] = {pane_hit(p)->entry.id};
    size_t chosen = p->lists[TAB_MEMORY].chosen;
    view_ask(&p->view, &operation_memory_forget,
             &(struct memory_forget_params){.ids = {.items = ids, .len = 1}}, pane_take_change);
    if (p->tab != TAB_MEMORY)
        return;
    memory_hit_release(&p->hits.items.items[chosen]);
    vec_remove(&p->hits.items, chosen, 1);
    if (p->total > 0)
        p->total--;
    choose_row(p, (long)chosen);
}

/* --- events --- */

void pane_session_changed(struct memory_view *p)
{
    p->lists[TAB_ASKED] = (struct pane_list){0};
    remark_set(&p->remark, STYLE_NOTE, NULL);
    if (p->tab == TAB_ASKED)
        preview_close(p);
    if (p->scope == SCOPE_SESSION)
        fall_behind(p);
    pane_changed(p); /* the scope may be another now */
}

/* --- the chosen entry --- */

/* Quotes it in the message: of a long entry the best passage, unless all of it was looked at. */
static void insert(struct memory_view *p)
{
    const struct memory_hit *h = pane_hit(p);
    const struct memory_entry *e = preview_entry(p);
    struct memory_span part = {0, strlen(e->content)};
    AUTO(buf_release) struct buf source = BUF_INIT;
    if (!p->preview.open && h->passage.len > 0 && h->passage.start < part.len &&
        h->passage.len <= part.len - h->passage.start && e == &h->entry)
        part = h->passage;
    pane_write_who(p, e, WHO_LASTING, &source);
    auto_free char *quote = memory_quote(e->content + part.start, part.len, source.data);
    memory_view_uncover(&p->view);
    p->host->insert(p->view.host->app, quote);
}

/* Shows an entry in full; a search of the model is made again. */
static void choose(struct memory_view *p)
{
    struct asked_row row = {NULL, NULL};
    if (p->tab == TAB_ASKED)
        row = asked_row(p, p->lists[TAB_ASKED].chosen);
    if (pane_hit(p)) {
        preview_open(p);
    } else if (row.recalled) {
        set_query(p, row.recalled->query);
        p->tab = TAB_MEMORY;
        search_anew(p);
    }
}

/* --- the two lists --- */

static void to_query(struct memory_view *p)
{
    preview_close(p);
    p->tab = TAB_MEMORY;
    p->place = IN_QUERY;
}

static void change_list(struct memory_view *p)
{
    preview_close(p);
    p->tab = p->tab == TAB_MEMORY ? TAB_ASKED : TAB_MEMORY;
    p->place = IN_LIST;
}

/* --- keys --- */

bool pane_passes(enum action action)
{
    static const enum action passing[] = {ACTION_HELP,       ACTION_SESSIONS, ACTION_CONTEXT,
                                          ACTION_FIND,       ACTION_HISTORY,  ACTION_PALETTE,
                                          ACTION_TOGGLE_ALL, ACTION_NONE};
    return is_any_of(action, passing);
}

/* Beyond the end there may be more. */
static void move_list(struct memory_view *p, long by)
{
    long to = (long)p->lists[p->tab].chosen + by;
    bool beyond = to >= (long)pane_count(p);
    choose_row(p, to);
    if (!beyond)
        return;
    if (p->tab == TAB_ASKED) {
        (void)p->host->want_older(p->view.host->app);
    } else if (p->searching == 0 && (int)p->hits.items.len >= p->limit && p->limit < MOST_HITS) {
        p->limit *= 2;
        ask(p);
    }
}

bool pane_tab_acts(const struct memory_view *p, uint32_t character)
{
    return editor_len(p->query) == 0 && character < 0x80 && ispunct((int)character);
}

static bool query_key(struct memory_view *p, enum action action, const struct key *key)
{
    bool mine = true, scrolls = action == ACTION_SCROLL_UP || action == ACTION_SCROLL_DOWN;
    enum action letter = keymap_find_in(p->view.host->keymap, key, KEYS_PANE);
    if (letter == ACTION_MEMORY_TAB && pane_tab_acts(p, key->cp)) {
        change_list(p);
        return true;
    }
    if (action == ACTION_CANCEL || (action == ACTION_CLEAR && editor_len(p->query) == 0)) {
        view_close(&p->view);
    } else if (action == ACTION_SEND || action == ACTION_DOWN || action == ACTION_PAGE_DOWN) {
        p->place = IN_LIST;
    } else if (scrolls) { /* the list scrolls, the query keeps the keys */
        const struct pane_list *l = &p->lists[p->tab];
        long whole = p->layout.list_rows / pane_entry_height(p), top = (long)l->top;
        long to = action == ACTION_SCROLL_DOWN ? top + (whole > 0 ? whole : 1) : top - 1;
        move_list(p, to - (long)l->chosen);
    } else if (action == ACTION_UP && editor_len(p->query) == 0 && p->former) {
        editor_set(p->query, p->former);
        search_anew(p);
    } else {
        if (browser_edit(p->query, BROWSER_QUERY_BYTES, action, key, &mine)) {
            preview_close(p);
            p->place = IN_QUERY;
            search_anew(p);
        }
        return mine || !pane_passes(action);
    }
    return true;
}

static bool letter_key(struct memory_view *p, enum action letter)
{
    const struct memory_entry *e = preview_entry(p);
    bool of_entry = letter == ACTION_MEMORY_OPEN || letter == ACTION_MEMORY_INSERT ||
                    letter == ACTION_MEMORY_PIN || letter == ACTION_MEMORY_EDIT ||
                    letter == ACTION_MEMORY_FORGET || letter == ACTION_MEMORY_LEAVE_OUT;
    if (of_entry && !e) {
        remark_set(&p->remark, STYLE_NOTE, _("No entry is selected."));
        return true;
    }
    switch (letter) {
    case ACTION_MEMORY_OPEN:
        memory_view_show_message(&p->view, e->session_id ? e->session_id : "", e->seq);
        return true;
    case ACTION_MEMORY_INSERT:
        insert(p);
        return true;
    case ACTION_MEMORY_PIN:
        pin(p);
        return true;
    case ACTION_MEMORY_EDIT:
        edit_open(p);
        return true;
    case ACTION_MEMORY_FORGET:
        forget(p);
        return true;
    case ACTION_MEMORY_LEAVE_OUT:
        leave_out(p);
        return true;
    case ACTION_MEMORY_RESTORE:
        view_ask(&p->view, &operation_memory_restore, NULL, pane_take_change);
        return true;
    case ACTION_MEMORY_FIGURES:
        preview_toggle_figures(p);
        return true;
    case ACTION_MEMORY_QUERY:
        to_query(p);
        return true;
    case ACTION_MEMORY_TAB:
        change_list(p);
        return true;
    case ACTION_MEMORY_SCOPE:
        p->scope = (enum pane_scope)((p->scope + 1) % SCOPES);
        break;
    case ACTION_MEMORY_SORT:
        p->order = p->order == MEMORY_BY_SCORE ? MEMORY_BY_DATE : MEMORY_BY_SCORE;
        break;
    case ACTION_MEMORY_ORIGIN:
        p->origin = (p->origin + 1) % (1 + MEMORY_ORIGINS);
        break;
    default:
        return false;
    }
    p->tab = TAB_MEMORY; /* the filter has changed */
    search_anew(p);
    return true;
}

static bool list_key(struct memory_view *p, enum action action, const struct key *key)
{
    bool preview = p->place == IN_PREVIEW, next = moves_is_letter(key, 'n');
    bool first = !preview && p->tab == TAB_MEMORY && p->lists[p->tab].chosen == 0;
    bool chooses = action == ACTION_SEND || action == ACTION_TOGGLE;
    int rows = preview ? p->layout.lower_rows - 1 : p->layout.list_rows / pane_entry_height(p);
    long page = rows > 2 ? rows - 1 : 1;
    long by = moves_by_action(action, page, preview ? MOVES_WHEEL : 1);
    if (by == 0)
        by = preview && moves_is_letter(key, ' ') ? page : moves_by_letter(key);
    if (letter_key(p, keymap_find_in(p->view.host->keymap, key, KEYS_PANE)))
        return true;
    if (action == ACTION_CLEAR)
        view_close(&p->view);
    else if (preview && (chooses || action == ACTION_CANCEL))
        preview_close(p);
    else if (!preview && (chooses || moves_is_letter(key, ' ')))
        choose(p);
    else if (!preview && (action == ACTION_LEFT || action == ACTION_RIGHT))
        change_list(p);
    else if (action == ACTION_CANCEL || (action == ACTION_UP && first))
        to_query(p);
    else if (by != 0 && preview)
        preview_scroll(p, by);
    else if (by != 0)
        move_list(p, by);
    else if (next || moves_is_letter(key, 'N'))
        move_list(p, next ? 1 : -1);
    else
        return !pane_passes(action);
    return true;
}

/* While keys wait, one that leaves the list drops them, and others wait behind them; but a key that
 * needs no hit does not begin to wait. */
bool pane_key(struct memory_view *p, enum action action, const struct key *key)
{
    static const enum action leaving[] = {ACTION_CANCEL,   ACTION_CLEAR,      ACTION_MEMORY,
                                          ACTION_COMPLETE, ACTION_FIND_NEWER, ACTION_NONE};
    static const enum action letters[] = {
        ACTION_MEMORY_RESTORE, ACTION_MEMORY_SCOPE, ACTION_MEMORY_ORIGIN, ACTION_MEMORY_SORT,
        ACTION_MEMORY_QUERY,   ACTION_MEMORY_TAB,   ACTION_NONE};
    bool wheel = action == ACTION_SCROLL_UP || action == ACTION_SCROLL_DOWN;
    bool leaves = is_any_of(action, leaving) || pane_passes(action);
    bool of_list = is_any_of(keymap_find_in(p->view.host->keymap, key, KEYS_PANE), letters) ||
                   (p->place == IN_LIST && (action == ACTION_LEFT || action == ACTION_RIGHT ||
                                            (action == ACTION_UP && p->lists[p->tab].chosen == 0)));
    bool at_once = of_list && p->ahead.len == 0 && p->place != IN_EDITOR && p->edit.reading == 0;
    bool waits = !wheel && p->place != IN_QUERY && ahead_waits(p);
    remark_set(&p->remark, STYLE_NOTE, NULL);
    if (waits && leaves) {
        ahead_drop(p);
    } else if (waits && !at_once) {
        struct key copy = *key;
        copy.text = p->ahead.len < MOST_KEYS ? mem_strdup(key->text) : NULL;
        if (p->ahead.len < MOST_KEYS)
            vec_push(&p->ahead, copy);
        return true;
    }
    if (action == ACTION_MEMORY)
        view_close(&p->view);
    else if (action == ACTION_COMPLETE || action == ACTION_FIND_NEWER)
        memory_view_uncover(&p->view);
    else
        return p->place == IN_EDITOR  ? edit_key(p, action, key)
               : p->place == IN_QUERY ? query_key(p, action, key)
                                      : list_key(p, action, key);
    return true;
}

void pane_click(struct memory_view *p, int row)
{
    size_t at = pane_list_at(p, row - p->layout.list_top);
    bool on_query = row == p->layout.query_row;
    if (p->place == IN_EDITOR)
        return;
    if (row == 0 || on_query)
        ahead_drop(p);
    if (row == 0)
        change_list(p);
    else if (on_query)
        to_query(p);
    else if (ahead_waits(p) || at == SIZE_MAX)
        return; /* the clicked entry is about to be replaced */
    else if (at == p->lists[p->tab].chosen && p->place != IN_QUERY)
        (p->preview.open ? preview_close : choose)(p);
    else {
        p->place = p->preview.open ? IN_PREVIEW : IN_LIST;
        choose_row(p, (long)at);
    }
}
