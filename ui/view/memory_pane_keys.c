#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/text/edit_keys.h"
#include "ui/view/memory_line.h"
#include "ui/view/memory_pane_private.h"
#include "ui/view/moves.h"

/* --- what can be done with the chosen entry --- */

static enum memory_result say_none(struct memory_pane *p)
{
    memory_pane_say(p, STYLE_NOTE, _("No entry is selected."));
    return MEMORY_STAYS;
}

static enum memory_result open_source(struct memory_pane *p)
{
    return pane_hit(p) ? MEMORY_OPEN : say_none(p);
}

static enum memory_result insert(struct memory_pane *p)
{
    return pane_hit(p) ? MEMORY_INSERT : say_none(p);
}

static enum memory_result pin(struct memory_pane *p)
{
    const struct memory_entry *e = memory_pane_entry(p);
    if (!e)
        return say_none(p);
    p->pinning = !e->pinned;
    pane_send(p, COMMAND_MEMORY_PIN, e->id, NULL, p->pinning);
    pane_set_pinned(p, p->pinning);
    return MEMORY_STAYS;
}

static enum memory_result edit(struct memory_pane *p)
{
    if (!pane_hit(p))
        return say_none(p);
    edit_open(p);
    return MEMORY_STAYS;
}

static enum memory_result forget(struct memory_pane *p)
{
    const struct memory_hit *h = pane_hit(p);
    if (!h)
        return say_none(p);
    pane_send(p, COMMAND_MEMORY_FORGET, h->entry.id, NULL, 0);
    pane_take_out(p);
    return MEMORY_STAYS;
}

static enum memory_result restore(struct memory_pane *p)
{
    pane_send(p, COMMAND_MEMORY_RESTORE, NULL, NULL, 0);
    return MEMORY_STAYS;
}

/* Of a long entry its best passage, unless all of it was looked at. */
char *memory_pane_quotation(const struct memory_pane *p)
{
    const struct memory_hit *h = pane_hit(p);
    const struct memory_entry *e = memory_pane_entry(p);
    if (!h || !e)
        return NULL;
    struct buf source = BUF_INIT;
    size_t len = strlen(e->content);
    struct memory_span part = {0, len};
    bool known = !p->preview.open && h->passage.len > 0 && h->passage.start < len &&
                 h->passage.len <= len - h->passage.start && e == &h->entry;
    if (known)
        part = h->passage;
    pane_write_who(p, e, WHO_LASTING, &source);
    char *quote = memory_quote(e->content + part.start, part.len, source.data);
    buf_release(&source);
    return quote;
}

/* --- what is searched --- */

static void search_anew(struct memory_pane *p)
{
    p->limit = PANE_HITS;
    p->lists[TAB_MEMORY] = (struct pane_list){0};
    pane_ask_other(p);
}

static enum memory_result change_scope(struct memory_pane *p)
{
    p->tab = TAB_MEMORY;
    p->scope = (enum pane_scope)((p->scope + 1) % SCOPES);
    search_anew(p);
    return MEMORY_STAYS;
}

static enum memory_result change_order(struct memory_pane *p)
{
    p->tab = TAB_MEMORY;
    p->order = p->order == MEMORY_BY_SCORE ? MEMORY_BY_DATE : MEMORY_BY_SCORE;
    search_anew(p);
    return MEMORY_STAYS;
}

static enum memory_result to_query(struct memory_pane *p)
{
    preview_close(p);
    p->tab = TAB_MEMORY;
    p->place = IN_QUERY;
    return MEMORY_STAYS;
}

static enum memory_result change_tab(struct memory_pane *p)
{
    preview_close(p);
    p->tab = p->tab == TAB_MEMORY ? TAB_ASKED : TAB_MEMORY;
    p->place = IN_LIST;
    return MEMORY_STAYS;
}

/* What the model asked can be asked again. */
static enum memory_result choose(struct memory_pane *p)
{
    struct asked_row row = {NULL, NULL};
    if (p->tab == TAB_ASKED)
        row = asked_row(p, p->lists[TAB_ASKED].chosen);
    if (pane_hit(p)) {
        preview_open(p);
    } else if (row.recalled) {
        pane_set_query(p, row.recalled->query);
        p->tab = TAB_MEMORY;
        search_anew(p);
    }
    return MEMORY_STAYS;
}

/* --- the pane itself --- */

static enum memory_result close_pane(struct memory_pane *p)
{
    (void)p;
    return MEMORY_CLOSED;
}

static enum memory_result write_message(struct memory_pane *p)
{
    (void)p;
    return MEMORY_WRITE;
}

static enum memory_result close_preview(struct memory_pane *p)
{
    preview_close(p);
    return MEMORY_STAYS;
}

struct act {
    enum action action;
    enum memory_result (*run)(struct memory_pane *p);
};

static const struct act everywhere[] = {{ACTION_MEMORY, close_pane},
                                        {ACTION_COMPLETE, write_message},
                                        {ACTION_FIND_NEWER, write_message},
                                        {ACTION_NONE, NULL}};

static const struct act letters[] = {{ACTION_MEMORY_OPEN, open_source},
                                     {ACTION_MEMORY_INSERT, insert},
                                     {ACTION_MEMORY_PIN, pin},
                                     {ACTION_MEMORY_EDIT, edit},
                                     {ACTION_MEMORY_FORGET, forget},
                                     {ACTION_MEMORY_RESTORE, restore},
                                     {ACTION_MEMORY_SCOPE, change_scope},
                                     {ACTION_MEMORY_SORT, change_order},
                                     {ACTION_MEMORY_QUERY, to_query},
                                     {ACTION_MEMORY_TAB, change_tab},
                                     {ACTION_NONE, NULL}};

static const struct act of_list[] = {{ACTION_SEND, choose},     {ACTION_TOGGLE, choose},
                                     {ACTION_CANCEL, to_query}, {ACTION_CLEAR, close_pane},
                                     {ACTION_LEFT, change_tab}, {ACTION_RIGHT, change_tab},
                                     {ACTION_NONE, NULL}};

static const struct act of_preview[] = {{ACTION_SEND, close_preview},
                                        {ACTION_TOGGLE, close_preview},
                                        {ACTION_CANCEL, close_preview},
                                        {ACTION_CLEAR, close_pane},
                                        {ACTION_NONE, NULL}};

static const struct act *find_act(const struct act *acts, enum action action)
{
    for (; acts->run; acts++)
        if (acts->action == action)
            return acts;
    return NULL;
}

/* --- moving --- */

static enum memory_result move_list(struct memory_pane *p, long by)
{
    long at = (long)p->lists[p->tab].chosen, count = (long)pane_count(p), to = at + by;
    bool beyond = to >= count;
    pane_choose(p, to < 0 ? 0 : beyond ? (count > 0 ? (size_t)count - 1 : 0) : (size_t)to);
    if (beyond && pane_wants_more(p)) {
        p->limit *= 2;
        pane_ask(p);
    }
    return beyond && p->tab == TAB_ASKED ? MEMORY_OLDER : MEMORY_STAYS;
}

static enum memory_result move(struct memory_pane *p, long by)
{
    if (p->place != IN_PREVIEW)
        return move_list(p, by);
    preview_scroll(p, by);
    return MEMORY_STAYS;
}

static enum memory_result move_to_end(struct memory_pane *p, bool first)
{
    long count = (long)pane_count(p);
    if (p->place != IN_PREVIEW)
        return move_list(p, first ? -count : count);
    preview_to_end(p, first);
    return MEMORY_STAYS;
}

static long page(const struct memory_pane *p)
{
    int rows = p->place == IN_PREVIEW ? p->layout.lower_rows - 1
                                      : p->layout.list_rows / list_part_row_height(p);
    return rows > 2 ? rows - 1 : 1;
}

static enum memory_result move_by(struct memory_pane *p, long by)
{
    return by == MOVES_ALL || by == -MOVES_ALL ? move_to_end(p, by < 0) : move(p, by);
}

static bool move_by_action(struct memory_pane *p, enum action action, enum memory_result *result)
{
    long by = moves_by_action(action, page(p), p->place == IN_PREVIEW ? MOVES_WHEEL : 1);
    if (by != 0)
        *result = move_by(p, by);
    return by != 0;
}

static enum memory_result move_by_letter(struct memory_pane *p, const struct key *key)
{
    bool next = moves_is_letter(key, 'n'), blank = moves_is_letter(key, ' ');
    if (moves_by_letter(key) != 0)
        return move_by(p, moves_by_letter(key));
    if (next || moves_is_letter(key, 'N'))
        return move_list(p, next ? 1 : -1);
    if (blank && p->place == IN_PREVIEW)
        return move(p, page(p));
    return blank ? choose(p) : MEMORY_PASS;
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
static enum memory_result scroll_below(struct memory_pane *p, bool down)
{
    const struct pane_list *l = &p->lists[p->tab];
    long whole = p->layout.list_rows / list_part_row_height(p), top = (long)l->top;
    return move_list(p, (down ? top + (whole > 0 ? whole : 1) : top - 1) - (long)l->chosen);
}

static void paste_line(struct editor *e, const char *text)
{
    struct buf line = BUF_INIT;
    size_t len = editor_len(e), room = len < PANE_QUERY_BYTES ? PANE_QUERY_BYTES - len : 0;
    utf8_clean(&line, text, utf8_cut_bytes(text, strlen(text), room), UTF8_ONE_LINE);
    editor_paste(e, line.data, line.len);
    buf_release(&line);
}

static bool edit_query(struct memory_pane *p, enum action action, const struct key *key)
{
    bool grows = key->code == K_CHAR && action == ACTION_NONE;
    if (action == ACTION_NEWLINE)
        return true;
    if (key->code == K_PASTE)
        paste_line(p->query, key->text);
    else if (!grows || editor_len(p->query) < PANE_QUERY_BYTES)
        return edit_key(p->query, action, key);
    return true;
}

/* True if there was one to bring back. */
static bool bring_back(struct memory_pane *p)
{
    if (editor_len(p->query) > 0 || !p->former)
        return false;
    editor_set(p->query, p->former);
    search_anew(p);
    return true;
}

static enum memory_result query_key(struct memory_pane *p, enum action action,
                                    const struct key *key)
{
    bool clears = action == ACTION_CLEAR && editor_len(p->query) > 0;
    if (action == ACTION_CANCEL || (action == ACTION_CLEAR && !clears))
        return MEMORY_CLOSED;
    if (is_down(action)) {
        p->place = IN_LIST;
        return MEMORY_STAYS;
    }
    if (action == ACTION_UP && bring_back(p))
        return MEMORY_STAYS;
    if (action == ACTION_SCROLL_UP || action == ACTION_SCROLL_DOWN)
        return scroll_below(p, action == ACTION_SCROLL_DOWN);
    char *before = mem_strdup(editor_text(p->query));
    if (clears)
        editor_set(p->query, "");
    bool mine = clears || edit_query(p, action, key);
    bool changed = strcmp(before, editor_text(p->query)) != 0;
    free(before);
    if (changed) {
        preview_close(p);
        p->place = IN_QUERY;
        search_anew(p);
    }
    return mine || !pane_passes(action) ? MEMORY_STAYS : MEMORY_PASS;
}

/* --- keys --- */

static enum memory_result list_key(struct memory_pane *p, enum action action, const struct key *key)
{
    enum action letter = keymap_find_pane(p->host.keymap, key);
    const struct act *act = find_act(letters, letter);
    enum memory_result result;
    if (!act)
        act = find_act(p->place == IN_PREVIEW ? of_preview : of_list, action);
    if (act)
        return act->run(p);
    if (p->place == IN_LIST && action == ACTION_UP && p->tab == TAB_MEMORY &&
        p->lists[p->tab].chosen == 0)
        return to_query(p);
    if (move_by_action(p, action, &result))
        return result;
    result = move_by_letter(p, key);
    return result == MEMORY_PASS && !pane_passes(action) ? MEMORY_STAYS : result;
}

enum memory_result memory_pane_key(struct memory_pane *p, enum action action, const struct key *key)
{
    const struct act *act = find_act(everywhere, action);
    memory_pane_say(p, STYLE_NOTE, NULL);
    if (ahead_take(p, action, key))
        return MEMORY_STAYS;
    if (p->place == IN_EDITOR)
        return edit_in_pane(p, action, key);
    if (act)
        return act->run(p);
    return p->place == IN_QUERY ? query_key(p, action, key) : list_key(p, action, key);
}

void memory_pane_click(struct memory_pane *p, int row)
{
    const struct pane_layout *l = &p->layout;
    size_t at = list_part_at(p, row - l->list_top);
    if (p->place == IN_EDITOR)
        return;
    if (row == 0 || row == l->query_row)
        ahead_drop(p);
    if (row == 0)
        (void)change_tab(p);
    else if (row == l->query_row)
        (void)to_query(p);
    else if (ahead_waits(p))
        return; /* what it was on goes away */
    else if (at != SIZE_MAX && at == p->lists[p->tab].chosen && p->place != IN_QUERY)
        (void)(p->preview.open ? close_preview(p) : choose(p));
    else if (at != SIZE_MAX) {
        p->place = p->preview.open ? IN_PREVIEW : IN_LIST;
        pane_choose(p, at);
    }
}
