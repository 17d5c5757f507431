/* What the tab of learned memory asks, holds and is answered, and its keys. */
#include "ui/view/learned_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/learned_operations.h"
#include "ui/text/editor.h"
#include "ui/view/hints.h"
#include "ui/view/learned_view_private.h"

enum { AGAIN_MS = 300 };

static void say(struct learned_view *v, enum style style, const char *text)
{
    remark_set(&v->remark, style, text);
}

const struct learned_item *learned_view_chosen(const struct learned_view *v)
{
    size_t chosen = outline_chosen(v->outline);
    return chosen < v->list.items.len ? &v->list.items.items[chosen] : NULL;
}

/* What can be decided: not what the logs say. */
static const struct learned_item *chosen_item(struct learned_view *v)
{
    const struct learned_item *item = learned_view_chosen(v);
    if (!item)
        say(v, STYLE_NOTE, _("No entry is selected."));
    else if (item->origin == LEARNED_LOGGED)
        say(v, STYLE_NOTE, _("This comes from session logs and cannot be changed here."));
    else
        return item;
    return NULL;
}

/* FNV-1a: an id as the outline wants to know its entries. */
static int64_t entry_key(void *view, size_t entry)
{
    const struct learned_view *v = view;
    uint64_t h = 14695981039346656037U;
    for (const char *id = v->list.items.items[entry].id; *id; id++)
        h = (h ^ (unsigned char)*id) * 1099511628211U;
    return (int64_t)h;
}

/* --- asking and answers ----------------------------------------------------------------------- */

/* Those of one state behind one another, each in the order in which they came; replaced ones are
 * seen with what took their place. */
static void sort_by_state(struct learned_items *list)
{
    static const enum learned_state order[] = {LEARNED_CANDIDATE, LEARNED_ACTIVE, LEARNED_REJECTED};
    struct learned_items sorted = {0};
    for (size_t s = 0; s < sizeof order / sizeof *order; s++)
        for (size_t i = 0; i < list->items.len; i++)
            if (list->items.items[i].state == order[s]) {
                vec_push(&sorted.items, list->items.items[i]);
                list->items.items[i] = (struct learned_item){.state = LEARNED_SUPERSEDED};
            }
    learned_items_release(list);
    *list = sorted;
}

static bool has_item(const struct learned_items *list, const char *id)
{
    for (size_t i = 0; i < list->items.len; i++)
        if (strcmp(list->items.items[i].id, id) == 0)
            return true;
    return false;
}

/* A candidate that is new shows its message, so that nobody accepts it without having seen whose
 * words it is of. */
static void open_new(struct learned_view *v, const struct learned_items *before)
{
    for (size_t i = 0; i < v->list.items.len; i++) {
        const struct learned_item *item = &v->list.items.items[i];
        if (item->state == LEARNED_CANDIDATE && item->said && !has_item(before, item->id))
            outline_open(v->outline, i);
    }
}

static bool take_list(struct view *view, struct operation_answer *a, const char *words)
{
    struct learned_view *v = learned_view_of(view);
    v->asked = 0;
    if (words) {
        say(v, STYLE_ERROR, words);
        return true;
    }
    struct learned_items *items = a->result;
    struct learned_items before = v->list;
    v->list = *items;
    *items = (struct learned_items){0};
    sort_by_state(&v->list);
    v->known = true;
    outline_fill(v->outline, v->list.items.len);
    open_new(v, &before);
    learned_items_release(&before);
    return true;
}

static bool take_stats(struct view *view, struct operation_answer *a, const char *words)
{
    struct learned_view *v = learned_view_of(view);
    const struct learned_stats *stats = words ? NULL : a->result;
    v->waits = stats ? stats->candidates : -1;
    v->active = stats ? stats->active : -1;
    return true;
}

/* "port #deploy": the first word with that sign is the tag, the others are words. The caller frees
 * both; *tag NULL: there is none. */
static char *split_query(const char *query, char **tag)
{
    const char *at = query;
    *tag = NULL;
    while ((at = strchr(at, '#')) && at > query && at[-1] != ' ')
        at++;
    if (!at || at[1] == '\0' || at[1] == ' ')
        return mem_strdup(query);
    size_t len = strcspn(at, " ");
    *tag = mem_strndup(at, len);
    return mem_printf("%.*s%s", (int)(at - query), query, at + len);
}

static void ask_list(struct learned_view *v)
{
    char *tag, *query = split_query(editor_text(v->query), &tag);
    const char *session = v->view.host->session->id;
    const struct learned_list_params params = {
        .query = utf8_is_blank(query) ? NULL : query,
        .tag = tag,
        .scope = v->scope >= 0 ? learned_scope_word((enum learned_scope)v->scope) : NULL,
        .kind = v->kind >= 0 ? learned_kind_word((enum learned_kind)v->kind) : NULL,
        .session = v->here && *session ? session : NULL,
        .unused = v->unused};
    view_withdraw(&v->view, v->asked);
    v->asked = view_ask(&v->view, &operation_learned_list, &params, take_list);
    free(query);
    free(tag);
}

static void forget_history(struct learned_view *v)
{
    free(v->history_of);
    v->history_of = NULL;
    learned_items_release(&v->history);
}

static void ask_again(struct learned_view *v)
{
    v->stale = false;
    v->asked_ms = clock_mono_ms();
    forget_history(v);
    ask_list(v);
    (void)view_ask(&v->view, &operation_learned_stats, NULL, take_stats);
}

/* --- deciding --------------------------------------------------------------------------------- */

/* Tells what was done, and looks again. */
static bool done(struct view *view, const char *said, const char *words)
{
    struct learned_view *v = learned_view_of(view);
    say(v, words ? STYLE_ERROR : STYLE_NOTE, words ? words : said);
    if (!words)
        ask_again(v);
    return true;
}

static bool accepted(struct view *view, struct operation_answer *a, const char *words)
{
    bool entity = !words && ((const struct learned_item *)a->result)->kind == LEARNED_ENTITY;
    return done(view, entity ? _("Kept in the graph of facts.") : _("Remembered."), words);
}

static bool rejected(struct view *view, struct operation_answer *a, const char *words)
{
    (void)a;
    return done(view, _("Rejected; it is not asked for again."), words);
}

static bool edited(struct view *view, struct operation_answer *a, const char *words)
{
    (void)a;
    return done(view, _("Changed."), words);
}

static bool forgotten(struct view *view, struct operation_answer *a, const char *words)
{
    (void)a;
    return done(view, _("Forgotten; u undoes it."), words);
}

static bool restored(struct view *view, struct operation_answer *a, const char *words)
{
    (void)a;
    return done(view, _("Restored."), words);
}

static void decide(struct view *view, const struct operation *o, view_answer *take)
{
    const struct learned_item *item = chosen_item(learned_view_of(view));
    if (item)
        (void)view_ask(view, o, &(struct learned_id_params){item->id}, take);
}

static void accept(struct view *view)
{
    decide(view, &operation_learned_accept, accepted);
}

static void reject(struct view *view)
{
    decide(view, &operation_learned_reject, rejected);
}

static void restore(struct view *view)
{
    (void)view_ask(view, &operation_learned_restore, NULL, restored);
}

static void ask_forget(struct view *view)
{
    struct learned_view *v = learned_view_of(view);
    if (chosen_item(v))
        v->place = LEARNED_IN_QUESTION;
}

static void answer_key(struct learned_view *v, enum action action, const struct key *key)
{
    enum hint_answer answer = hint_answer(action, key);
    if (answer == HINT_NO_ANSWER)
        return;
    v->place = LEARNED_IN_LIST;
    const struct learned_item *item = learned_view_chosen(v);
    if (answer == HINT_NO || !item)
        return;
    const char *id = item->id;
    const struct learned_forget_params params = {.ids = {.items = &id, .len = 1}};
    (void)view_ask(&v->view, &operation_learned_forget, &params, forgotten);
}

/* --- another text ----------------------------------------------------------------------------- */

static void edit(struct view *view)
{
    struct learned_view *v = learned_view_of(view);
    const struct learned_item *item = chosen_item(v);
    if (!item)
        return;
    struct buf line = BUF_INIT;
    utf8_clean(&line, item->text, strlen(item->text), UTF8_ONE_LINE);
    free(v->changed);
    v->changed = mem_strdup(item->id);
    editor_set(v->text, line.data);
    v->place = LEARNED_IN_TEXT;
    buf_release(&line);
}

static void save(struct learned_view *v)
{
    const struct learned_edit_params params = {.id = v->changed, .text = editor_text(v->text)};
    v->place = LEARNED_IN_LIST;
    (void)view_ask(&v->view, &operation_learned_edit, &params, edited);
}

/* --- history, source -------------------------------------------------------------------------- */

static bool take_history(struct view *view, struct operation_answer *a, const char *words)
{
    struct learned_view *v = learned_view_of(view);
    const struct learned_item *item = learned_view_chosen(v);
    struct learned_items *items = a->result;
    if (words)
        say(v, STYLE_ERROR, words);
    else if (items->items.len < 2)
        say(v, STYLE_NOTE, _("There is no earlier version of it."));
    if (words || items->items.len < 2 || !item || strcmp(item->id, items->items.items[0].id) != 0)
        return true;
    forget_history(v);
    v->history_of = mem_strdup(item->id);
    v->history = *items;
    *items = (struct learned_items){0};
    outline_fill(v->outline, v->list.items.len); /* the text is another one */
    outline_open(v->outline, outline_chosen(v->outline));
    return true;
}

static void history(struct view *view)
{
    struct learned_view *v = learned_view_of(view);
    bool shown = v->history_of != NULL;
    forget_history(v);
    outline_fill(v->outline, v->list.items.len);
    if (!shown)
        decide(view, &operation_learned_history, take_history);
}

static void open_source(struct view *view)
{
    struct learned_view *v = learned_view_of(view);
    const struct learned_item *item = learned_view_chosen(v);
    if (!item)
        say(v, STYLE_NOTE, _("No entry is selected."));
    else if (!item->session_id)
        say(v, STYLE_NOTE, _("Not from a conversation: added by hand."));
    else if (item->session_gone)
        say(v, STYLE_NOTE, _("The conversation of this was deleted."));
    else
        view->host->show_message(view->host->app, item->session_id, item->seq);
}

/* --- what is listed --------------------------------------------------------------------------- */

static void list_others(struct learned_view *v)
{
    outline_choose(v->outline, 0);
    ask_list(v);
}

static void next_scope(struct view *view)
{
    struct learned_view *v = learned_view_of(view);
    v->scope = v->scope + 1 < LEARNED_SCOPES ? v->scope + 1 : -1;
    list_others(v);
}

/* Of those that a person can say. */
static void next_kind(struct view *view)
{
    struct learned_view *v = learned_view_of(view);
    v->kind = v->kind + 1 < LEARNED_USAGE ? v->kind + 1 : -1;
    list_others(v);
}

static void toggle_here(struct view *view)
{
    struct learned_view *v = learned_view_of(view);
    v->here = !v->here;
    list_others(v);
}

static void toggle_unused(struct view *view)
{
    struct learned_view *v = learned_view_of(view);
    v->unused = !v->unused;
    list_others(v);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void unfold(struct view *view)
{
    (void)outline_toggle(learned_view_of(view)->outline);
}

static void to_query(struct view *view)
{
    learned_view_of(view)->place = LEARNED_IN_QUERY;
}

static const struct view_key letters[] = {{ACTION_ITEM_ACCEPT, accept},
                                          {ACTION_ITEM_REJECT, reject},
                                          {ACTION_MEMORY_EDIT, edit},
                                          {ACTION_MEMORY_FORGET, ask_forget},
                                          {ACTION_MEMORY_RESTORE, restore},
                                          {ACTION_ITEM_HISTORY, history},
                                          {ACTION_MEMORY_OPEN, open_source},
                                          {ACTION_MEMORY_SCOPE, next_scope},
                                          {ACTION_ITEM_KIND, next_kind},
                                          {ACTION_ITEM_SESSION, toggle_here},
                                          {ACTION_ITEM_UNUSED, toggle_unused},
                                          {ACTION_MEMORY_QUERY, to_query},
                                          {ACTION_NONE, NULL}};

static const struct view_key of_list[] = {{ACTION_SEND, unfold},        {ACTION_TOGGLE, unfold},
                                          {ACTION_RIGHT, unfold},       {ACTION_CANCEL, to_query},
                                          {ACTION_BACKSPACE, to_query}, {ACTION_NONE, NULL}};

static bool list_key(struct learned_view *v, enum action action, const struct key *key)
{
    enum action letter = keymap_find_in(v->view.host->keymap, key, KEYS_PANE);
    if (view_run_action(&v->view, letters, letter) || view_run_action(&v->view, of_list, action))
        return true;
    if (action == ACTION_UP && outline_chosen(v->outline) == 0) {
        v->place = LEARNED_IN_QUERY;
        return true;
    }
    return outline_key(v->outline, action, key);
}

static bool text_key(struct learned_view *v, enum action action, const struct key *key)
{
    bool empty = editor_len(v->text) == 0;
    if (action == ACTION_SEND)
        save(v);
    else if (action == ACTION_CANCEL || (action == ACTION_CLEAR && empty))
        v->place = LEARNED_IN_LIST;
    else
        return edit_line_key(v->text, LEARNED_TEXT_BYTES, action, key);
    return true;
}

static bool query_key(struct learned_view *v, enum action action, const struct key *key)
{
    if (action == ACTION_SEND || action == ACTION_DOWN || action == ACTION_PAGE_DOWN) {
        v->place = LEARNED_IN_LIST;
        return true;
    }
    if (action == ACTION_SCROLL_UP || action == ACTION_SCROLL_DOWN)
        return outline_key(v->outline, action, key);
    if (action == ACTION_CANCEL || (action == ACTION_CLEAR && editor_len(v->query) == 0))
        return false;
    char *before = mem_strdup(editor_text(v->query));
    bool mine = edit_line_key(v->query, LEARNED_QUERY_BYTES, action, key);
    if (strcmp(before, editor_text(v->query)) != 0)
        list_others(v);
    free(before);
    return mine;
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct learned_view *v = learned_view_of(view);
    if (v->place == LEARNED_IN_QUESTION) {
        answer_key(v, action, key);
        return true;
    }
    say(v, STYLE_NOTE, NULL);
    return v->place == LEARNED_IN_TEXT    ? text_key(v, action, key)
           : v->place == LEARNED_IN_QUERY ? query_key(v, action, key)
                                          : list_key(v, action, key);
}

static void click(struct view *view, int row, int col)
{
    struct learned_view *v = learned_view_of(view);
    (void)col;
    if (v->place == LEARNED_IN_QUESTION || v->place == LEARNED_IN_TEXT)
        return;
    if (row > 0 && row < v->top_rows) {
        v->place = LEARNED_IN_QUERY;
        return;
    }
    v->place = LEARNED_IN_LIST;
    (void)outline_click(v->outline, row - v->top_rows);
}

/* --- the view --------------------------------------------------------------------------------- */

static void notice(struct view *view, struct notice *n)
{
    struct learned_view *v = learned_view_of(view);
    bool noted = n->type == NOTICE_EVENT && n->event->type == EVENT_LEARNED_NOTED;
    bool another = n->type == NOTICE_SESSION && n->flag && v->here;
    v->stale = v->stale || noted || another || n->type == NOTICE_LEARNED;
}

static bool is_free_to_look(const struct learned_view *v)
{
    return v->stale && v->place != LEARNED_IN_QUESTION;
}

static int64_t due(const struct view *view)
{
    const struct learned_view *v = (const struct learned_view *)view;
    return is_free_to_look(v) ? v->asked_ms + AGAIN_MS : 0;
}

static void tick(struct view *view)
{
    if (is_free_to_look(learned_view_of(view)))
        ask_again(learned_view_of(view));
}

void learned_view_show(struct view *view, const char *query)
{
    struct learned_view *v = learned_view_of(view);
    if (query && *query) {
        editor_set(v->query, query);
        v->scope = v->kind = -1;
        v->here = v->unused = false;
        v->place = LEARNED_IN_LIST;
    }
    ask_again(v);
}

static void free_view(struct view *view)
{
    struct learned_view *v = learned_view_of(view);
    learned_items_release(&v->list);
    forget_history(v);
    outline_free(v->outline);
    editor_free(v->query);
    editor_free(v->text);
    remark_release(&v->remark);
    rows_release(&v->rows);
    free(v->changed);
    free(v->opened);
    free(v);
}

static const struct view_ops ops = {
    .layer = VIEW_PANE,
    .free = free_view,
    .key = take_key,
    .click = click,
    .resize = learned_view_resize,
    .rows = learned_view_rows,
    .caret = learned_view_caret,
    .notice = notice,
    .due = due,
    .tick = tick,
};

struct view *learned_view_new(const struct view_host *host)
{
    struct learned_view *v = mem_alloc(sizeof *v);
    const struct outline_host outline = {entry_key, learned_view_text, learned_view_heading, v};
    *v = (struct learned_view){.view = {.ops = &ops, .host = host},
                               .place = LEARNED_IN_LIST,
                               .query = editor_new(),
                               .text = editor_new(),
                               .scope = -1,
                               .kind = -1,
                               .waits = -1,
                               .active = -1,
                               .width = 1,
                               .height = 1};
    v->outline = outline_new(&outline);
    rows_init(&v->rows);
    return &v->view;
}
