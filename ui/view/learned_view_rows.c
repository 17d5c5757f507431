/* What the tab of learned memory looks like. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/hints.h"
#include "ui/view/learned_view_private.h"

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

void learned_view_heading(void *view, size_t entry, const struct outline_look *look,
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

struct outline_text learned_view_text(void *view, size_t entry)
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

void learned_view_resize(struct view *view, int width, int height)
{
    struct learned_view *v = learned_view_of(view);
    v->width = width > 2 ? width : 2;
    v->height = height > 1 ? height : 1;
}

const struct rows *learned_view_rows(struct view *view)
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

bool learned_view_caret(const struct view *view, int *row, int *col)
{
    const struct learned_view *v = (const struct learned_view *)view;
    *row = 1;
    *col = v->caret_col;
    return v->caret_col >= 0;
}
