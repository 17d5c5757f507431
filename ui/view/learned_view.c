/* Learned memory as a tab: facts, rules and preferences that wait for a decision, that are told to
 * the model, or that were rejected. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/utf8.h"
#include "chat/knowledge.h"
#include "session/learned_operations.h"
#include "ui/text/format.h"
#include "ui/view/browser.h"
#include "ui/view/memory_view.h"

struct learned_view {
    struct browser b;
    struct learned_items list; /* by state, candidates first */
    /* The filter of the list. */
    int scope; /* of enum learned_scope; -1: facts of the project and of the user */
    int kind;  /* of enum learned_kind; -1: any */
    bool here, unused;
    int64_t waits, active; /* of all; -1: not known */
    char *changed;         /* id of the item that is edited; NULL: none */
    char *history_of;      /* id of the item whose history is shown; NULL: none */
    struct learned_items history;
};

static const struct learned_item *chosen_item(const struct browser *b)
{
    const struct learned_items *list = &((const struct learned_view *)b)->list;
    size_t chosen = browser_chosen(b);
    return chosen < list->items.len ? &list->items.items[chosen] : NULL;
}

static const char *const kinds[LEARNED_KIND_COUNT] = {
    [LEARNED_FACT] = N_("fact"),         [LEARNED_RULE] = N_("rule"),
    [LEARNED_LANGUAGE] = N_("language"), [LEARNED_STYLE] = N_("style"),
    [LEARNED_TONE] = N_("tone"),         [LEARNED_FORMAT] = N_("format"),
    [LEARNED_EMOJI] = N_("emoji"),       [LEARNED_ENTITY] = N_("entity"),
    [LEARNED_USAGE] = N_("tool usage"),  [LEARNED_SESSION] = N_("session"),
};

static const char *const scopes[LEARNED_SCOPES] = {
    [LEARNED_PROJECT] = N_("this project"),
    [LEARNED_USER] = N_("everywhere"),
    [LEARNED_TOOL] = N_("tools"),
    [LEARNED_HISTORY] = N_("sessions"),
};

/* --- entries ---------------------------------------------------------------------------------- */

static int64_t entry_id(const struct browser *b, size_t index)
{
    return browser_hash(0, ((const struct learned_view *)b)->list.items.items[index].id);
}

static void entry(const struct browser *b, size_t index, struct browser_entry *out)
{
    const struct learned_item *item = &((const struct learned_view *)b)->list.items.items[index];
    bool waits = item->state == LEARNED_CANDIDATE, rejected = item->state == LEARNED_REJECTED;
    out->style = rejected ? STYLE_DIM : STYLE_OVERLAY;
    buf_addf(&out->left, "%s ", waits ? "?" : rejected ? "x" : "-");
    utf8_reveal(&out->left, item->text, strlen(item->text), UTF8_ONE_LINE);
    if (waits || rejected)
        buf_addstr(&out->right, waits ? _("waits") : _("rejected"));
    else if (item->uses > 0)
        buf_addf(&out->right, ngettext("%lld use", "%lld uses", (unsigned long)item->uses),
                 (long long)item->uses);
    else if (item->origin != LEARNED_LOGGED)
        buf_addstr(&out->right, _("never used"));
    if (out->right.len > 0)
        buf_addf(&out->right, " %s ", glyph(GLYPH_DOT));
    format_age(&out->right, item->changed_ms, clock_wall_ms());
    buf_addch(&out->right, ' ');
}

static struct browser_source source(const struct browser *b, size_t index)
{
    const struct learned_item *item = &((const struct learned_view *)b)->list.items.items[index];
    return (struct browser_source){.session_id = item->session_id,
                                   .title = item->title,
                                   .seq = item->seq,
                                   .at_ms = item->said_ms > 0 ? item->said_ms : item->created_ms,
                                   .deleted = item->session_gone};
}

/* The text, its earlier versions, the message it is from, kind and scope, origin and uses. */
static bool entry_text(const struct browser *b, size_t index, struct buf *out)
{
    static const char *const origins[INPUT_ORIGINS] = {
        [INPUT_UNKNOWN] = N_("of unknown origin"),      [INPUT_TYPED] = N_("typed"),
        [INPUT_PIPED] = N_("piped into tiro"),          [INPUT_ATTACHED] = N_("of a file"),
        [INPUT_PROGRAM] = N_("sent by a program"),      [INPUT_IMPORTED] = N_("imported"),
        [INPUT_COMMAND] = N_("output of your command"),
    };
    const struct learned_view *v = (const struct learned_view *)b;
    const struct learned_item *item = &v->list.items.items[index];
    const struct browser_source said = source(b, index);
    bool has_history = v->history_of && strcmp(v->history_of, item->id) == 0;
    utf8_reveal(out, item->text, strlen(item->text), UTF8_MULTILINE);
    for (size_t i = 1; has_history && i < v->history.items.len; i++) {
        const struct learned_item *old = &v->history.items.items[i];
        buf_addf(out, "\n%s ", _("before:"));
        utf8_reveal(out, old->text, strlen(old->text), UTF8_ONE_LINE);
        buf_addstr(out, " (");
        format_date(out, old->created_ms);
        buf_addch(out, ')');
    }
    if (item->said) {
        buf_addf(out, "\n%s: \"", _(origins[item->said_origin]));
        utf8_reveal(out, item->said, strlen(item->said), UTF8_ONE_LINE);
        buf_addch(out, '"');
    }
    buf_addf(out, "\n%s, %s\n", _(kinds[item->kind]), _(scopes[item->scope]));
    browser_write_source(
        b, &said, item->origin == LEARNED_LOGGED ? _("from session logs") : _("added by hand"),
        out);
    if (item->origin == LEARNED_EXTRACTED)
        buf_addf(out, ", %s", _("proposed by a model"));
    if (item->origin == LEARNED_SHARED)
        buf_addf(out, ", %s", _("from a shared space"));
    if (item->turn > 0)
        buf_addf(out, _(", turn %d"), item->turn);
    if (item->origin == LEARNED_LOGGED || item->state == LEARNED_CANDIDATE)
        return true;
    buf_addstr(out, ", ");
    if (item->uses == 0) {
        buf_addstr(out, _("never used"));
        return true;
    }
    buf_addf(out,
             ngettext("told to %lld session, last ", "told to %lld sessions, last ",
                      (unsigned long)item->uses),
             (long long)item->uses);
    format_date(out, item->used_ms);
    return true;
}

static const struct browser_columns columns = {entry_id, entry, entry_text, source};

/* --- asking ----------------------------------------------------------------------------------- */

static bool take_list(struct view *view, struct operation_answer *a, const char *words)
{
    static const enum learned_state order[] = {LEARNED_CANDIDATE, LEARNED_ACTIVE, LEARNED_REJECTED};
    struct learned_view *v = (struct learned_view *)view;
    if (!browser_came(&v->b, words))
        return true;
    /* By state, each in the order in which they came; a replaced item is in the history of the
     * one that replaced it. */
    struct learned_items *items = a->result, before = v->list;
    v->list = (struct learned_items){0};
    for (size_t s = 0; s < sizeof order / sizeof *order; s++)
        for (size_t i = 0; i < items->items.len; i++)
            if (items->items.items[i].state == order[s]) {
                vec_push(&v->list.items, items->items.items[i]);
                items->items.items[i] = (struct learned_item){.state = LEARNED_SUPERSEDED};
            }
    browser_fill(&v->b.main, v->list.items.len);
    /* A new candidate is unfolded, so that nobody accepts it without having seen whose message it
     * is from. */
    for (size_t i = 0; i < v->list.items.len; i++) {
        const struct learned_item *item = &v->list.items.items[i];
        size_t k = 0;
        while (k < before.items.len && strcmp(before.items.items[k].id, item->id) != 0)
            k++;
        if (item->state == LEARNED_CANDIDATE && item->said && k == before.items.len)
            outline_open(v->b.main.outline, i);
    }
    learned_items_release(&before);
    return true;
}

static bool take_stats(struct view *view, struct operation_answer *a, const char *words)
{
    struct learned_view *v = (struct learned_view *)view;
    const struct learned_stats *stats = words ? NULL : a->result;
    v->waits = stats ? stats->candidates : -1;
    v->active = stats ? stats->active : -1;
    return true;
}

/* In "port #deploy" the first word with that sign is the tag; the others are searched for. */
static void ask_list(struct browser *b)
{
    const struct learned_view *v = (const struct learned_view *)b;
    const char *session = b->view.host->session->id, *text = editor_text(b->query), *at = text;
    while ((at = strchr(at, '#')) && at > text && at[-1] != ' ')
        at++;
    size_t len = at ? strcspn(at, " ") : 0;
    auto_free char *tag = len > 1 ? mem_strndup(at, len) : NULL;
    auto_free char *query =
        tag ? mem_printf("%.*s%s", (int)(at - text), text, at + len) : mem_strdup(text);
    const struct learned_list_params params = {
        .query = utf8_is_blank(query) ? NULL : query,
        .tag = tag,
        .scope = v->scope >= 0 ? learned_scope_word((enum learned_scope)v->scope) : NULL,
        .kind = v->kind >= 0 ? learned_kind_word((enum learned_kind)v->kind) : NULL,
        .session = v->here && *session ? session : NULL,
        .unused = v->unused};
    browser_ask(b, &operation_learned_list, &params, take_list);
}

static void forget_history(struct learned_view *v)
{
    free(v->history_of);
    v->history_of = NULL;
    learned_items_release(&v->history);
}

static void refresh(struct browser *b)
{
    forget_history((struct learned_view *)b);
    ask_list(b);
    (void)view_ask(&b->view, &operation_learned_stats, NULL, take_stats);
}

/* --- decisions -------------------------------------------------------------------------------- */

/* The chosen item, if it can be changed; NULL: *why_not says why not. */
static const struct learned_item *changeable(const struct browser *b, const char **why_not)
{
    const struct learned_item *item = chosen_item(b);
    *why_not = !item ? _("No entry is selected.")
               : item->origin == LEARNED_LOGGED
                   ? _("This comes from session logs and cannot be changed here.")
                   : NULL;
    return *why_not ? NULL : item;
}

static const char *done(struct browser *b, struct operation_answer *a)
{
    static const struct {
        const struct operation *operation;
        const char *done;
    } changes[] = {{&operation_learned_accept, N_("Remembered.")},
                   {&operation_learned_reject, N_("Rejected; it is not asked for again.")},
                   {&operation_learned_edit, N_("Changed.")},
                   {&operation_learned_forget, N_("Forgotten; u undoes it.")},
                   {&operation_learned_restore, N_("Restored.")}};
    const struct operation *o = a->request->operation;
    (void)b;
    if (o == &operation_learned_accept &&
        ((const struct learned_item *)a->result)->kind == LEARNED_ENTITY)
        return _("Kept in the graph of facts.");
    size_t i = 0;
    while (i + 1 < sizeof changes / sizeof *changes && changes[i].operation != o)
        i++;
    return _(changes[i].done);
}

static void forget(struct browser *b)
{
    const struct learned_item *item = chosen_item(b);
    const char *id = item ? item->id : NULL;
    const struct learned_forget_params params = {.ids = {.items = &id, .len = 1}};
    if (id)
        (void)view_ask(&b->view, &operation_learned_forget, &params, browser_changed);
}

static void save(struct browser *b)
{
    const struct learned_edit_params params = {.id = ((const struct learned_view *)b)->changed,
                                               .text = editor_text(b->line)};
    (void)view_ask(&b->view, &operation_learned_edit, &params, browser_changed);
}

static bool take_history(struct view *view, struct operation_answer *a, const char *words)
{
    struct learned_view *v = (struct learned_view *)view;
    const struct learned_item *item = chosen_item(&v->b);
    struct learned_items *items = a->result;
    if (words)
        remark_set(&v->b.remark, STYLE_ERROR, words);
    else if (items->items.len < 2)
        remark_set(&v->b.remark, STYLE_NOTE, _("There is no earlier version of it."));
    if (words || items->items.len < 2 || !item || strcmp(item->id, items->items.items[0].id) != 0)
        return true;
    forget_history(v);
    v->history_of = mem_strdup(item->id);
    browser_take(a, &v->history);
    browser_fill(&v->b.main, v->list.items.len); /* the text is another one */
    outline_open(v->b.main.outline, browser_chosen(&v->b));
    return true;
}

/* A key that shows other items. */
static bool filter(struct learned_view *v, enum action action)
{
    if (action == ACTION_MEMORY_SCOPE)
        v->scope = v->scope + 1 < LEARNED_SCOPES ? v->scope + 1 : -1;
    else if (action == ACTION_ITEM_KIND) /* the kinds that a person can state */
        v->kind = v->kind + 1 < LEARNED_USAGE ? v->kind + 1 : -1;
    else if (action == ACTION_ITEM_SESSION)
        v->here = !v->here;
    else if (action == ACTION_ITEM_UNUSED)
        v->unused = !v->unused;
    else
        return false;
    outline_choose(v->b.main.outline, 0);
    ask_list(&v->b);
    return true;
}

static bool act(struct browser *b, enum action action)
{
    struct learned_view *v = (struct learned_view *)b;
    const char *why_not;
    const struct learned_item *item = changeable(b, &why_not);
    const struct learned_id_params id = {item ? item->id : NULL};
    bool had_history = v->history_of != NULL;
    AUTO(buf_release) struct buf line = BUF_INIT;
    switch (action) {
    case ACTION_ITEM_HISTORY:
        forget_history(v);
        browser_fill(&b->main, v->list.items.len);
        if (had_history)
            return true;
        if (item)
            (void)view_ask(&b->view, &operation_learned_history, &id, take_history);
        break;
    case ACTION_ITEM_ACCEPT:
        if (item)
            (void)view_ask(&b->view, &operation_learned_accept, &id, browser_changed);
        break;
    case ACTION_ITEM_REJECT:
        if (item)
            (void)view_ask(&b->view, &operation_learned_reject, &id, browser_changed);
        break;
    case ACTION_MEMORY_EDIT:
        if (!item)
            break;
        browser_clean(&line, item->text);
        free(v->changed);
        v->changed = mem_strdup(item->id);
        editor_set(b->line, line.data);
        b->place = BROWSER_LINE;
        break;
    default:
        return filter(v, action);
    }
    if (!item)
        remark_set(&b->remark, STYLE_NOTE, why_not);
    return true;
}

/* --- texts ------------------------------------------------------------------------------------ */

static void title(const struct browser *b, struct buf *out)
{
    const struct learned_view *v = (const struct learned_view *)b;
    const char *const filters[] = {
        v->scope >= 0 ? _(scopes[v->scope]) : NULL, v->kind >= 0 ? _(kinds[v->kind]) : NULL,
        v->here ? _("this session") : NULL, v->unused ? _("never used") : NULL};
    buf_addf(out, " %s", _("Learned"));
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (filters[i])
            buf_addf(out, " %s %s", glyph(GLYPH_DOT), filters[i]);
    if (v->waits < 0)
        return;
    auto_free char *waits = format_exact(v->waits), *active = format_exact(v->active);
    buf_addf(out, ngettext(" %s %s waiting", " %s %s waiting", (unsigned long)v->waits),
             glyph(GLYPH_DOT), waits);
    buf_addf(out, ngettext(" %s %s remembered", " %s %s remembered", (unsigned long)v->active),
             glyph(GLYPH_DOT), active);
}

static const char *empty(const struct browser *b)
{
    const struct learned_view *v = (const struct learned_view *)b;
    bool narrowed =
        v->scope >= 0 || v->kind >= 0 || v->here || v->unused || editor_len(b->query) > 0;
    return narrowed ? _("Nothing that was learned matches.")
                    : _("Nothing was learned yet. /remember TEXT keeps "
                        "something; so does what you ask to be remembered.");
}

static const char *question(const struct browser *b, struct buf *out)
{
    const char *why_not;
    const struct learned_item *item = changeable(b, &why_not);
    auto_free char *name = remark_name(item ? item->text : "");
    if (item)
        buf_addf(out, _("Forget %s and its history? y/n"), name);
    return why_not;
}

static struct hint_table hints(const struct browser *b)
{
    /* A candidate can be accepted or rejected, an active item rejected, a rejected one accepted. */
    static const struct hint of_item[] = {
        {ACTION_ITEM_REJECT, NULL, N_("reject|do not remember it, and do not ask again")},
        {ACTION_MEMORY_EDIT, NULL, N_("edit")},
        {ACTION_MEMORY_FORGET, NULL, N_("forget|delete it and its history")},
        {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was forgotten last")},
        {ACTION_MEMORY_QUERY, NULL, N_("search")},
        {ACTION_SEND, NULL, N_("unfold")},
        {ACTION_ITEM_HISTORY, NULL, N_("history|the earlier versions of it")},
        {ACTION_MEMORY_OPEN, NULL, N_("source|the conversation in which it was said")},
        {ACTION_MEMORY_SCOPE, NULL, N_("scope|of this project, of all, of tools, of sessions")},
        {ACTION_ITEM_KIND, NULL, N_("kind|only one kind: facts, rules, style …")},
        {ACTION_ITEM_UNUSED, NULL, N_("never used|only what was never used; again: all")},
        {ACTION_ITEM_SESSION, NULL, N_("session|only of this session; again: all")}};
    static const struct hint of_nothing[] = {
        {ACTION_MEMORY_QUERY, NULL, N_("search")},
        {ACTION_MEMORY_SCOPE, NULL, N_("scope|of this project, of all, of tools, of sessions")},
        {ACTION_ITEM_KIND, NULL, N_("kind|only one kind: facts, rules, style …")},
        {ACTION_PANE_NEXT, NULL, N_("next tab")},
        {ACTION_HELP, NULL, N_("help")}};
    static const struct hint either[] = {
        {ACTION_ITEM_ACCEPT, NULL, N_("remember|tell it to the model in later sessions")},
        {ACTION_ITEM_REJECT, NULL, N_("reject|do not remember it, and do not ask again")}};
    static const struct hint_table decisions = {either, 2, 0, NULL};
    enum { OF_ITEM = sizeof of_item / sizeof *of_item };
    static struct hint shown[OF_ITEM + 1];
    const struct learned_item *item = chosen_item(b);
    if (!item || item->origin == LEARNED_LOGGED)
        return HINTS(of_nothing, COMMON_TAB);
    struct hint_table active = {of_item, OF_ITEM, COMMON_TAB, &decisions};
    if (item->state != LEARNED_CANDIDATE && item->state != LEARNED_REJECTED)
        return active;
    size_t from = item->state == LEARNED_REJECTED;
    shown[0] = either[0];
    memcpy(shown + 1, of_item + from, (OF_ITEM - from) * sizeof *shown);
    return (struct hint_table){shown, 1 + OF_ITEM - from, COMMON_TAB, &decisions};
}

/* --- the view --------------------------------------------------------------------------------- */

static const struct browser_table table = {
    .act = act,
    .sourceless = N_("Not from a conversation: added by hand."),
    .restore = &operation_learned_restore,
    .done = done,
    .title = title,
    .empty = empty,
    .to_list = N_("to the items"),
    .hints = hints,
    .search = ask_list,
    .refresh = refresh,
    .question = question,
    .confirm = forget,
    .prompt = N_("text:"),
    .line_bytes = LEARNED_TEXT_BYTES,
    .save = save,
};

static void notice(struct view *view, struct notice *n)
{
    struct learned_view *v = (struct learned_view *)view;
    bool noted = n->type == NOTICE_EVENT && n->event->type == EVENT_LEARNED_NOTED;
    bool another = n->type == NOTICE_SESSION && n->flag && v->here;
    v->b.stale = v->b.stale || noted || another || n->type == NOTICE_LEARNED;
}

static void free_view(struct view *view)
{
    struct learned_view *v = (struct learned_view *)view;
    learned_items_release(&v->list);
    forget_history(v);
    browser_release(&v->b);
    free(v->changed);
    free(v);
}

struct view *learned_view_new(const struct view_host *host)
{
    static const struct view_ops ops = {BROWSER_OPS, .free = free_view, .notice = notice};
    struct learned_view *v = mem_alloc(sizeof *v);
    browser_init(&v->b, host, &ops, &table, &columns);
    v->scope = v->kind = -1;
    v->waits = v->active = -1;
    return &v->b.view;
}

void learned_view_show(struct view *view, const char *query)
{
    struct learned_view *v = (struct learned_view *)view;
    if (query && *query) {
        editor_set(v->b.query, query);
        v->scope = v->kind = -1;
        v->here = v->unused = false;
        v->b.place = BROWSER_LIST;
    }
    browser_refresh(&v->b);
}
