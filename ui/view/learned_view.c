#include "ui/view/tabs.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/knowledge.h"
#include "session/learned_operations.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/hints.h"
#include "ui/view/outline.h"

enum { LEARNED_QUERY_BYTES = 1024 };

/* Where keys go. */
enum learned_place { LEARNED_IN_QUERY, LEARNED_IN_LIST, LEARNED_IN_TEXT, LEARNED_IN_QUESTION };

struct learned_view {
    struct view view;
    enum learned_place place;
    struct editor *query;
    struct editor *text; /* of the item that is changed */
    char *changed;       /* its id; NULL: none is */

    /* What is listed. */
    int scope; /* of enum learned_scope; -1: what was said, of project and user */
    int kind;  /* of enum learned_kind; -1: any */
    bool here, unused;

    struct learned_items list; /* by state, what waits first */
    struct outline *outline;
    bool known;            /* an answer has come */
    uint64_t asked;        /* the newest request; 0: it was answered */
    int64_t waits, active; /* of all; -1: not known */

    char *history_of; /* the id of the item whose history is shown; NULL: none */
    struct learned_items history;

    bool stale;       /* something was changed since it was asked for */
    int64_t asked_ms; /* clock_mono_ms() of that */
    struct remark remark;

    int width, height;
    int top_rows;  /* above the list, as drawn last */
    int caret_col; /* of the line that is written; -1: none */
    struct rows rows;
    char *opened; /* text of the row that is open */
};

static inline struct learned_view *learned_view_of(struct view *view)
{
    return (struct learned_view *)view;
}

/* What is chosen; NULL: nothing is. */
static const struct learned_item *learned_view_chosen(const struct learned_view *v);

/* learned_view_rows.c */
static void learned_view_resize(struct view *view, int width, int height);
static const struct rows *learned_view_rows(struct view *view);
static bool learned_view_caret(const struct view *view, int *row, int *col);
static void learned_view_heading(void *view, size_t entry, const struct outline_look *look,
                                 struct rows *out);
static struct outline_text learned_view_text(void *view, size_t entry);

/* What the tab of learned memory looks like. */

enum { HINT_ROWS = 4 /* of the tab, from which on there is a row of keys */ };

static const char *kind_name(enum learned_kind kind)
{
    static const char *const names[LEARNED_KIND_COUNT] = {
        [LEARNED_FACT] = N_("fact"),         [LEARNED_RULE] = N_("rule"),
        [LEARNED_LANGUAGE] = N_("language"), [LEARNED_STYLE] = N_("style"),
        [LEARNED_TONE] = N_("tone"),         [LEARNED_FORMAT] = N_("format"),
        [LEARNED_EMOJI] = N_("emoji"),       [LEARNED_ENTITY] = N_("entity"),
        [LEARNED_USAGE] = N_("tool usage"),  [LEARNED_SESSION] = N_("session"),
    };
    return _(names[kind]);
}

static const char *scope_name(int scope)
{
    static const char *const names[LEARNED_SCOPES] = {
        [LEARNED_PROJECT] = N_("this project"),
        [LEARNED_USER] = N_("everywhere"),
        [LEARNED_TOOL] = N_("tools"),
        [LEARNED_HISTORY] = N_("sessions"),
    };
    return _(names[scope]);
}

/* Whose words its message has. */
static const char *origin_name(enum input_origin origin)
{
    static const char *const names[INPUT_ORIGINS] = {
        [INPUT_UNKNOWN] = N_("of unknown origin"), [INPUT_TYPED] = N_("typed"),
        [INPUT_PIPED] = N_("piped into tiro"),     [INPUT_ATTACHED] = N_("of a file"),
        [INPUT_PROGRAM] = N_("sent by a program"), [INPUT_IMPORTED] = N_("imported"),
    };
    return _(names[origin]);
}

/* --- an item ---------------------------------------------------------------------------------- */

static const char *sign_of(const struct learned_item *item)
{
    return item->state == LEARNED_CANDIDATE ? "?" : item->state == LEARNED_REJECTED ? "x" : "-";
}

static void add_right(const struct learned_item *item, struct buf *out)
{
    if (item->state == LEARNED_CANDIDATE)
        buf_addstr(out, _("waits"));
    else if (item->state == LEARNED_REJECTED)
        buf_addstr(out, _("rejected"));
    else if (item->origin != LEARNED_LOGGED && item->uses == 0)
        buf_addstr(out, _("never used"));
    else if (item->uses > 0)
        buf_addf(out, ngettext("%lld use", "%lld uses", (unsigned long)item->uses),
                 (long long)item->uses);
    if (out->len > 0)
        buf_addf(out, " %s ", glyph(GLYPH_DOT));
    format_age(out, item->changed_ms, clock_wall_ms());
    buf_addch(out, ' ');
}

static void learned_view_heading(void *view, size_t entry, const struct outline_look *look,
                                 struct rows *out)
{
    const struct learned_view *v = view;
    const struct learned_item *item = &v->list.items.items[entry];
    enum style style = item->state == LEARNED_REJECTED ? STYLE_DIM : STYLE_OVERLAY;
    enum style main = look->chosen ? STYLE_SELECTED : style;
    enum style side = look->chosen ? STYLE_SELECTED : STYLE_DIM;
    struct buf line = BUF_INIT, right = BUF_INIT;
    add_right(item, &right);
    size_t room = look->columns, end = utf8_width(right.data, right.len) + 1;
    if (end + 16 > room)
        end = 0;
    buf_addf(&line, "%s ", sign_of(item));
    utf8_reveal(&line, item->text, strlen(item->text), UTF8_ONE_LINE);
    message_row_field(out, line.data, room - end, main);
    if (end > 0)
        message_row_figure(out, right.data, end, side);
    buf_release(&line);
    buf_release(&right);
}

static void add_source(const struct learned_view *v, const struct learned_item *item,
                       struct buf *out)
{
    const struct view_host *host = v->view.host;
    const char *title =
        item->session_id && host->title ? host->title(host->app, item->session_id) : NULL;
    if (!title)
        title = item->title;
    format_date(out, item->said_ms > 0 ? item->said_ms : item->created_ms);
    if (item->session_gone)
        buf_addf(out, ", %s", _("its conversation was deleted"));
    else if (title && !*title)
        buf_addf(out, ", %s", _("from this conversation"));
    else if (item->session_id)
        buf_addf(out, ", %s%s%s", _("from a conversation"), title ? ": " : "", title ? title : "");
    else if (item->origin == LEARNED_LOGGED)
        buf_addf(out, ", %s", _("from session logs"));
    else
        buf_addf(out, ", %s", _("added by hand"));
    if (item->origin == LEARNED_EXTRACTED)
        buf_addf(out, ", %s", _("proposed by a model"));
    if (item->turn > 0)
        buf_addf(out, _(", turn %d"), item->turn);
}

static void add_message(const struct learned_item *item, struct buf *out)
{
    if (!item->said)
        return;
    buf_addf(out, "\n%s: \"", origin_name(item->said_origin));
    utf8_reveal(out, item->said, strlen(item->said), UTF8_ONE_LINE);
    buf_addch(out, '"');
}

static void add_uses(const struct learned_item *item, struct buf *out)
{
    if (item->origin == LEARNED_LOGGED || item->state == LEARNED_CANDIDATE)
        return;
    buf_addstr(out, ", ");
    if (item->uses == 0) {
        buf_addstr(out, _("never used"));
        return;
    }
    buf_addf(out,
             ngettext("told to %lld session, last ", "told to %lld sessions, last ",
                      (unsigned long)item->uses),
             (long long)item->uses);
    format_date(out, item->used_ms);
}

static void add_history(const struct learned_view *v, struct buf *out)
{
    for (size_t i = 1; i < v->history.items.len; i++) {
        const struct learned_item *old = &v->history.items.items[i];
        struct buf text = BUF_INIT;
        utf8_reveal(&text, old->text, strlen(old->text), UTF8_ONE_LINE);
        buf_addf(out, "\n%s ", _("before:"));
        buf_addf(out, "%s (", text.data ? text.data : "");
        format_date(out, old->created_ms);
        buf_addch(out, ')');
        buf_release(&text);
    }
}

static struct outline_text learned_view_text(void *view, size_t entry)
{
    struct learned_view *v = view;
    const struct learned_item *item = &v->list.items.items[entry];
    struct buf text = BUF_INIT;
    utf8_reveal(&text, item->text, strlen(item->text), UTF8_MULTILINE);
    if (v->history_of && strcmp(v->history_of, item->id) == 0)
        add_history(v, &text);
    add_message(item, &text);
    buf_addf(&text, "\n%s, %s\n", kind_name(item->kind), scope_name((int)item->scope));
    add_source(v, item, &text);
    add_uses(item, &text);
    free(v->opened);
    v->opened = buf_take(&text);
    return (struct outline_text){v->opened, false};
}

/* --- above and below -------------------------------------------------------------------------- */

static void add_counts(const struct learned_view *v, struct buf *out)
{
    struct buf waits = BUF_INIT, active = BUF_INIT;
    if (v->waits < 0)
        return;
    format_exact(&waits, v->waits);
    format_exact(&active, v->active);
    buf_addf(out, ngettext(" %s %s waiting", " %s %s waiting", (unsigned long)v->waits),
             glyph(GLYPH_DOT), waits.data);
    buf_addf(out, ngettext(" %s %s remembered", " %s %s remembered", (unsigned long)v->active),
             glyph(GLYPH_DOT), active.data);
    buf_release(&waits);
    buf_release(&active);
}

static void add_narrowed(struct buf *out, bool narrowed, const char *name)
{
    if (narrowed)
        buf_addf(out, " %s %s", glyph(GLYPH_DOT), name);
}

static void title_row(const struct learned_view *v, struct rows *out)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, " %s", _("Learned"));
    add_narrowed(&text, v->scope >= 0, v->scope >= 0 ? scope_name(v->scope) : "");
    add_narrowed(&text, v->kind >= 0, v->kind >= 0 ? kind_name((enum learned_kind)v->kind) : "");
    add_narrowed(&text, v->here, _("this session"));
    add_narrowed(&text, v->unused, _("never used"));
    add_counts(v, &text);
    rows_begin(out);
    message_row_field(out, text.data, (size_t)v->width, STYLE_OVERLAY_TITLE);
    buf_release(&text);
}

/* The query, or the text that is changed. */
static void line_row(struct learned_view *v, struct rows *out)
{
    bool changes = v->place == LEARNED_IN_TEXT;
    size_t width = (size_t)v->width;
    int caret;
    char *prompt = mem_printf(" %s ", changes ? _("text:") : "/");
    rows_begin(out);
    size_t used = rows_add_cut(out, prompt, width, STYLE_PROMPT);
    size_t columns = edit_line(out, changes ? v->text : v->query, width - used, &caret);
    rows_pad(out, width - used - columns, STYLE_OVERLAY);
    int at = (int)used + caret;
    if (changes || v->place == LEARNED_IN_QUERY)
        v->caret_col = at < v->width ? at : v->width - 1;
    free(prompt);
}

static bool is_narrowed(const struct learned_view *v)
{
    return v->scope >= 0 || v->kind >= 0 || v->here || v->unused || editor_len(v->query) > 0;
}

static void empty_rows(const struct learned_view *v, int height, struct rows *out)
{
    const char *text = !v->known        ? _("loading")
                       : is_narrowed(v) ? _("Nothing that was learned matches.")
                                        : _("Nothing was learned yet. /remember TEXT keeps "
                                            "something; so does what you ask to be remembered.");
    remark_rows(out, text, STYLE_DIM, (size_t)v->width, height);
}

#define COMMON                                                                                     \
    {ACTION_MEMORY_EDIT, NULL, N_("edit")},                                                        \
        {ACTION_MEMORY_FORGET, NULL, N_("forget|delete it and its history")},                      \
        {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was forgotten last")},              \
        {ACTION_MEMORY_QUERY, NULL, N_("search")}, {ACTION_SEND, NULL, N_("unfold")},              \
        {ACTION_ITEM_HISTORY, NULL, N_("history|the earlier versions of it")},                     \
        {ACTION_MEMORY_OPEN, NULL, N_("source|the conversation in which it was said")},            \
        {ACTION_MEMORY_SCOPE, NULL, N_("scope|of this project, of all, of tools, of sessions")},   \
        {ACTION_ITEM_KIND, NULL, N_("kind|only one kind: facts, rules, style …")},                 \
        {ACTION_ITEM_UNUSED, NULL, N_("never used|only what was never used; again: all")},         \
    {                                                                                              \
        ACTION_ITEM_SESSION, NULL, N_("session|only of this session; again: all")                  \
    }

static const struct hint of_waiting[] = {
    {ACTION_ITEM_ACCEPT, NULL, N_("remember|tell it to the model in later sessions")},
    {ACTION_ITEM_REJECT, NULL, N_("reject|do not remember it, and do not ask again")},
    COMMON};
static const struct hint of_active[] = {
    {ACTION_ITEM_REJECT, NULL, N_("reject|do not remember it, and do not ask again")}, COMMON};
static const struct hint of_rejected[] = {
    {ACTION_ITEM_ACCEPT, NULL, N_("remember|tell it to the model in later sessions")}, COMMON};
static const struct hint of_nothing[] = {
    {ACTION_MEMORY_QUERY, NULL, N_("search")},
    {ACTION_MEMORY_SCOPE, NULL, N_("scope|of this project, of all, of tools, of sessions")},
    {ACTION_ITEM_KIND, NULL, N_("kind|only one kind: facts, rules, style …")},
    {ACTION_PANE_NEXT, NULL, N_("next tab")},
    {ACTION_HELP, NULL, N_("help")}};
static const struct hint in_query[] = {{ACTION_DOWN, NULL, N_("to the items")},
                                       {ACTION_CANCEL, NULL, N_("close")},
                                       {ACTION_PANE_NEXT, NULL, N_("next tab")},
                                       {ACTION_HELP, NULL, N_("help")}};
static const struct hint in_text[] = {{ACTION_SEND, NULL, N_("save")},
                                      {ACTION_CANCEL, NULL, N_("leave it as it was")}};

struct hints {
    const struct hint *hints;
    size_t count;
};
#define HINTS(a)                                                                                   \
    (struct hints)                                                                                 \
    {                                                                                              \
        a, sizeof(a) / sizeof *(a)                                                                 \
    }

static struct hints hints_of(const struct learned_view *v)
{
    const struct learned_item *item = learned_view_chosen(v);
    if (v->place != LEARNED_IN_LIST)
        return v->place == LEARNED_IN_TEXT ? HINTS(in_text) : HINTS(in_query);
    if (!item || item->origin == LEARNED_LOGGED)
        return HINTS(of_nothing);
    return item->state == LEARNED_CANDIDATE  ? HINTS(of_waiting)
           : item->state == LEARNED_REJECTED ? HINTS(of_rejected)
                                             : HINTS(of_active);
}

/* What stands in place of the keys; false: nothing does. */
static bool foot_text(const struct learned_view *v, struct buf *out, enum style *style)
{
    const struct learned_item *item = learned_view_chosen(v);
    bool asks = v->place == LEARNED_IN_QUESTION;
    *style = asks ? STYLE_WARNING : v->remark.style;
    if (asks) {
        char *name = remark_name(item ? item->text : "");
        buf_addf(out, _("Forget %s and its history? y/n"), name);
        free(name);
    } else if (v->remark.text) {
        buf_addstr(out, v->remark.text);
    }
    return asks || v->remark.text;
}

static void hint_rows(struct learned_view *v, struct rows *out, int rows)
{
    const struct hints h = hints_of(v);
    if (!view_has_keyboard(&v->view))
        hints_elsewhere(out, v->view.host->keymap, (size_t)v->width, rows);
    else
        hints_rows(out, v->view.host->keymap, h.hints, h.count, (size_t)v->width, rows);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void learned_view_resize(struct view *view, int width, int height)
{
    struct learned_view *v = learned_view_of(view);
    v->width = width > 2 ? width : 2;
    v->height = height > 1 ? height : 1;
}

static const struct rows *learned_view_rows(struct view *view)
{
    struct learned_view *v = learned_view_of(view);
    struct buf foot = BUF_INIT;
    enum style style;
    bool says = foot_text(v, &foot, &style);
    int feet = remark_height(says ? foot.data : NULL, (size_t)v->width, v->height, HINT_ROWS);
    int body = v->height - feet - 2;
    rows_clear(&v->rows);
    v->caret_col = -1;
    title_row(v, &v->rows);
    if (v->height > 1)
        line_row(v, &v->rows);
    v->top_rows = (int)v->rows.list.len;
    if (body > 0 && v->list.items.len == 0) {
        empty_rows(v, body, &v->rows);
    } else if (body > 0) {
        outline_resize(v->outline, v->width, body);
        outline_rows(v->outline, &v->rows);
    }
    if (feet > 0 && says)
        remark_rows(&v->rows, foot.data, style, (size_t)v->width, feet);
    else if (feet > 0)
        hint_rows(v, &v->rows, feet);
    buf_release(&foot);
    return &v->rows;
}

static bool learned_view_caret(const struct view *view, int *row, int *col)
{
    const struct learned_view *v = (const struct learned_view *)view;
    *row = 1;
    *col = v->caret_col;
    return v->caret_col >= 0;
}

/* What the tab of learned memory asks, holds and is answered, and its keys. */

enum { AGAIN_MS = 300 };

static void say(struct learned_view *v, enum style style, const char *text)
{
    remark_set(&v->remark, style, text);
}

static const struct learned_item *learned_view_chosen(const struct learned_view *v)
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
