#include "ui/view/memory_pane.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/view/memory_pane_private.h"

/* --- asking --- */

static const char *const scopes[SCOPES] = {"all", "project", "session"};

const char *pane_scope_name(enum pane_scope scope)
{
    return scopes[scope];
}

void pane_send(struct memory_pane *p, enum command_type type, const char *id, const char *text,
               int64_t number)
{
    struct command *c = command_new(type, text);
    c->name = mem_strdup(id);
    c->number = number;
    p->host.send(p->host.context, c);
}

void pane_ask(struct memory_pane *p)
{
    struct command *c = command_new(COMMAND_MEMORY_SEARCH, editor_text(p->query));
    c->name = mem_strdup(scopes[p->scope]);
    c->number = p->order;
    c->limit = p->limit;
    p->waiting = true;
    p->host.send(p->host.context, c);
}

static void fall_behind(struct memory_pane *p)
{
    if (!p->behind)
        p->behind_ms = clock_mono_ms();
    p->behind = true;
}

void pane_ask_other(struct memory_pane *p)
{
    fall_behind(p);
    pane_ask(p);
}

static enum pane_scope scope_of(const char *name)
{
    for (int i = 0; name && i < SCOPES; i++)
        if (strcmp(scopes[i], name) == 0)
            return (enum pane_scope)i;
    return SCOPE_ALL;
}

struct memory_pane *memory_pane_new(const struct memory_host *host)
{
    struct memory_pane *p = mem_alloc(sizeof *p);
    p->host = *host;
    p->host.scope = NULL; /* of the caller's */
    p->scope = scope_of(host->scope);
    p->limit = PANE_HITS;
    p->total = -1;
    p->query = editor_new();
    p->edit.editor = editor_new();
    p->caret_row = -1;
    p->layout = (struct pane_layout){.width = 1, .height = 1};
    rows_init(&p->rows);
    styled_init(&p->preview.text);
    return p;
}

void memory_pane_free(struct memory_pane *p)
{
    if (!p)
        return;
    memory_hits_release(&p->hits);
    memory_stats_release(&p->stats);
    preview_release(&p->preview);
    edit_release(&p->edit);
    editor_free(p->query);
    remark_release(&p->remark);
    rows_release(&p->rows);
    free(p->former);
    free(p->held);
    free(p->stay);
    ahead_drop(p);
    vec_release(&p->ahead);
    free(p);
}

static void set_stay(struct memory_pane *p, const char *id)
{
    char *copy = mem_strdup(id);
    free(p->stay);
    p->stay = copy;
}

static void appear(struct memory_pane *p, enum pane_tab tab, bool other)
{
    ahead_drop(p);
    p->shown = true;
    p->tab = tab;
    remark_set(&p->remark, STYLE_NOTE, NULL);
    pane_send(p, COMMAND_MEMORY_STATE, NULL, NULL, 0);
    if (other || !p->held)
        fall_behind(p);
    p->behind_ms = clock_mono_ms();
    pane_ask(p);
}

static bool is_another_text(const struct memory_pane *p, const char *query)
{
    return query && strcmp(query, editor_text(p->query)) != 0;
}

void pane_set_query(struct memory_pane *p, const char *text)
{
    struct buf line = BUF_INIT;
    utf8_clean(&line, text, utf8_cut_bytes(text, strlen(text), PANE_QUERY_BYTES), UTF8_ONE_LINE);
    editor_set(p->query, line.data);
    buf_release(&line);
}

static void keep_former(struct memory_pane *p)
{
    if (editor_len(p->query) == 0)
        return;
    free(p->former);
    p->former = mem_strdup(editor_text(p->query));
}

bool memory_pane_edits(const struct memory_pane *p)
{
    return p->place == IN_EDITOR;
}

void memory_pane_show(struct memory_pane *p, const char *query)
{
    bool other = is_another_text(p, query);
    if (other) {
        keep_former(p);
        pane_set_query(p, query);
        p->limit = PANE_HITS;
        preview_close(p);
    }
    if (other || p->place != IN_EDITOR)
        p->place = IN_QUERY;
    appear(p, query || p->tab == TAB_MEMORY ? TAB_MEMORY : TAB_ASKED, other);
    if (p->tab == TAB_ASKED && p->place == IN_QUERY)
        p->place = IN_LIST;
}

void memory_pane_to_hits(struct memory_pane *p)
{
    if (p->place == IN_QUERY)
        p->place = IN_LIST;
}

void memory_pane_show_session(struct memory_pane *p)
{
    p->scope = SCOPE_SESSION;
    keep_former(p);
    editor_set(p->query, "");
    preview_close(p);
    p->place = IN_LIST;
    appear(p, TAB_MEMORY, true);
}

void memory_pane_hide(struct memory_pane *p)
{
    p->shown = p->focused = false;
    ahead_drop(p);
}

/* --- what is chosen --- */

size_t pane_count(const struct memory_pane *p)
{
    return p->tab == TAB_ASKED ? asked_count(p) : p->hits.items.len;
}

const struct memory_hit *pane_hit(const struct memory_pane *p)
{
    size_t chosen = p->lists[p->tab].chosen;
    if (p->tab == TAB_ASKED)
        return asked_row(p, chosen).hit;
    return chosen < p->hits.items.len ? &p->hits.items.items[chosen] : NULL;
}

void pane_choose(struct memory_pane *p, size_t index)
{
    size_t count = pane_count(p);
    p->lists[p->tab].chosen = index < count ? index : count > 0 ? count - 1 : 0;
    preview_follow(p);
}

/* The next key may ask for the opposite before the engine has answered. */
void pane_set_pinned(struct memory_pane *p, bool pinned)
{
    struct memory_entry *whole = &p->preview.whole;
    const struct memory_hit *h = pane_hit(p);
    if (h && p->tab == TAB_MEMORY)
        p->hits.items.items[p->lists[TAB_MEMORY].chosen].entry.pinned = pinned;
    if (h && whole->id && h->entry.id && strcmp(whole->id, h->entry.id) == 0)
        whole->pinned = pinned;
    preview_follow(p);
}

/* What is forgotten is gone at once: the next key means the entry that now stands there. */
void pane_take_out(struct memory_pane *p)
{
    size_t chosen = p->lists[TAB_MEMORY].chosen;
    if (p->tab != TAB_MEMORY || chosen >= p->hits.items.len)
        return;
    memory_hit_release(&p->hits.items.items[chosen]);
    vec_remove(&p->hits.items, chosen, 1);
    if (p->total > 0)
        p->total--;
    pane_choose(p, chosen);
}

bool pane_wants_more(const struct memory_pane *p)
{
    return p->tab == TAB_MEMORY && !p->waiting && (int)p->hits.items.len >= p->limit &&
           p->limit < PANE_HITS_MOST;
}

const struct memory_entry *memory_pane_entry(const struct memory_pane *p)
{
    return preview_entry(p);
}

/* --- answers --- */

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
static size_t to_choose(const struct memory_pane *p, const struct memory_hits *hits)
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

static bool was_asked(const struct memory_pane *p, const struct notice *n)
{
    const char *text = n->text ? n->text : "";
    return strcmp(text, editor_text(p->query)) == 0 && n->flag == (p->order == MEMORY_BY_DATE) &&
           (!n->name || strcmp(n->name, scopes[p->scope]) == 0);
}

static void take_hits(struct memory_pane *p, struct notice *n)
{
    if (!was_asked(p, n))
        return;
    p->waiting = p->behind = p->slow = false;
    p->lists[TAB_MEMORY].chosen = to_choose(p, &n->memory);
    memory_hits_release(&p->hits);
    p->hits = n->memory;
    n->memory = (struct memory_hits){0};
    p->total = n->number;
    free(p->held);
    p->held = mem_strdup(editor_text(p->query));
    set_stay(p, NULL);
    preview_follow(p);
}

static void take_entry(struct memory_pane *p, struct notice *n)
{
    struct memory_entry *e = n->memory.items.len > 0 ? &n->memory.items.items[0].entry : NULL;
    if (!e || !e->id)
        return;
    edit_take(p, e);
    preview_take(p, e);
}

static void take_state(struct memory_pane *p, struct notice *n)
{
    memory_stats_release(&p->stats);
    p->stats = n->stats;
    n->stats = (struct memory_stats){0};
}

void memory_pane_take(struct memory_pane *p, struct notice *n)
{
    if (n->type == NOTICE_MEMORY)
        take_hits(p, n);
    else if (n->type == NOTICE_MEMORY_ENTRY)
        take_entry(p, n);
    else if (n->type == NOTICE_MEMORY_STATE)
        take_state(p, n);
}

/* --- what was done, or not --- */

void memory_pane_say(struct memory_pane *p, enum style style, const char *text)
{
    remark_set(&p->remark, style, text);
}

static void say_forgotten(struct memory_pane *p, int64_t summaries)
{
    struct buf key = BUF_INIT, text = BUF_INIT;
    keymap_describe_first(p->host.keymap, ACTION_MEMORY_RESTORE, &key);
    buf_addf(&text, _("forgotten; %s restores it"), key.len > 0 ? key.data : "-");
    if (summaries > 0) {
        buf_addstr(&text, "; ");
        buf_addf(
            &text,
            ngettext("%d summary quotes it", "%d summaries quote it", (unsigned long)summaries),
            (int)summaries);
    }
    memory_pane_say(p, summaries > 0 ? STYLE_WARNING : STYLE_NOTE, text.data);
    buf_release(&key);
    buf_release(&text);
}

static const char *words_for(const struct memory_pane *p, enum command_type command)
{
    switch (command) {
    case COMMAND_MEMORY_PIN:
        return p->pinning ? _("pinned") : _("no longer pinned");
    case COMMAND_MEMORY_EDIT:
        return _("changed");
    case COMMAND_MEMORY_RESTORE:
        return _("restored");
    default:
        return NULL;
    }
}

bool memory_pane_done(struct memory_pane *p, const struct notice *n)
{
    const char *words = words_for(p, n->command);
    if (!words && n->command != COMMAND_MEMORY_FORGET)
        return false;
    if (words)
        memory_pane_say(p, STYLE_NOTE, words);
    else
        say_forgotten(p, n->number);
    if (n->command == COMMAND_MEMORY_EDIT)
        edit_over(p, true);
    if (n->command != COMMAND_MEMORY_FORGET)
        set_stay(p, n->text);
    preview_follow(p);
    memory_pane_changed(p);
    return true;
}

static bool is_mine(enum command_type command)
{
    return command == COMMAND_MEMORY_SEARCH || command == COMMAND_MEMORY_SHOW ||
           command == COMMAND_MEMORY_EDIT || command == COMMAND_MEMORY_PIN ||
           command == COMMAND_MEMORY_FORGET || command == COMMAND_MEMORY_RESTORE ||
           command == COMMAND_MEMORY_STATE;
}

/* What is held may stay if it answers the same. */
static void end_search(struct memory_pane *p)
{
    if (p->behind) {
        memory_hits_release(&p->hits);
        p->lists[TAB_MEMORY] = (struct pane_list){0};
        free(p->held);
        p->held = NULL;
        preview_follow(p);
    }
    p->waiting = p->behind = p->slow = false;
}

bool memory_pane_failed(struct memory_pane *p, enum command_type command, const char *words)
{
    if (!is_mine(command))
        return false;
    if (command == COMMAND_MEMORY_SEARCH)
        end_search(p);
    ahead_drop(p); /* what failed is to be seen before the next key does something */
    if (command == COMMAND_MEMORY_EDIT || command == COMMAND_MEMORY_SHOW)
        edit_over(p, false);
    if (command == COMMAND_MEMORY_FORGET || command == COMMAND_MEMORY_PIN)
        memory_pane_changed(p); /* it is as it was */
    memory_pane_say(p, STYLE_ERROR, words);
    return true;
}

/* --- what happens outside --- */

void memory_pane_changed(struct memory_pane *p)
{
    if (p->shown)
        pane_ask(p);
}

void memory_pane_session(struct memory_pane *p)
{
    p->lists[TAB_ASKED] = (struct pane_list){0};
    memory_pane_say(p, STYLE_NOTE, NULL); /* of the one that was open */
    if (p->tab == TAB_ASKED)
        preview_close(p);
    if (p->scope == SCOPE_SESSION)
        fall_behind(p);
    memory_pane_changed(p); /* the scope may be another now */
}

static void say_recalled(struct memory_pane *p, const struct recalled *r)
{
    size_t hits = r->hits.items.len;
    struct buf text = BUF_INIT;
    buf_addf(
        &text,
        ngettext("model's search, %zu match: \"%s\"", "model's search, %zu matches: \"%s\"", hits),
        hits, r->query);
    memory_pane_say(p, STYLE_NOTE, text.data);
    buf_release(&text);
}

void memory_pane_recalled(struct memory_pane *p, const struct recalled *r)
{
    struct pane_list *l = &p->lists[TAB_ASKED];
    bool busy = p->focused || p->place == IN_EDITOR || p->preview.open;
    if (l->chosen > 0) { /* it came before those that are there */
        l->chosen += 1 + r->hits.items.len;
        l->top += 1 + r->hits.items.len;
    }
    if (!p->shown)
        return;
    if (!busy) {
        p->tab = TAB_ASKED;
        p->place = IN_LIST;
        *l = (struct pane_list){0};
    }
    say_recalled(p, r);
}

void memory_pane_focus(struct memory_pane *p, bool focused)
{
    if (!focused)
        ahead_drop(p);
    p->focused = focused;
}
