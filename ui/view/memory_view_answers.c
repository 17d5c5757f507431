/* What the pane asks of memory, what it holds, and what is answered. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/view/memory_view_private.h"
#include "ui/view/moves.h"

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
