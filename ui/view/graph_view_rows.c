/* What the graph's tab looks like. */
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
#include "ui/view/graph_view_private.h"
#include "ui/view/hints.h"

enum { HINT_ROWS = 4 /* of the tab, from which on there is a row of keys */ };

/* A foreign text on one row. */
static void add_clean(struct buf *out, const char *text)
{
    utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
}

/* --- a row each ------------------------------------------------------------------------------- */

static void heading(const struct outline_look *look, const char *sign, const char *text,
                    const char *right, enum style style, struct rows *out)
{
    enum style main = look->chosen ? STYLE_SELECTED : style;
    enum style side = look->chosen ? STYLE_SELECTED : STYLE_DIM;
    struct buf line = BUF_INIT;
    size_t room = look->columns, end = utf8_width(right, strlen(right)) + 1;
    if (end == 1 || end + 16 > room)
        end = 0;
    buf_addf(&line, "%s%s%s", sign, *sign ? " " : "", text);
    message_row_field(out, line.data, room - end, main);
    if (end > 0)
        message_row_figure(out, right, end, side);
    buf_release(&line);
}

void graph_entity_heading(void *view, size_t entity, const struct outline_look *look,
                          struct rows *out)
{
    const struct graph_view *v = view;
    const struct graph_entity *n = &v->list.entities.items[entity];
    struct buf text = BUF_INIT, right = BUF_INIT;
    add_clean(&text, n->name);
    buf_addf(&text, " %s ", glyph(GLYPH_DOT));
    add_clean(&text, n->type);
    int facts = n->observed + n->relations;
    buf_addf(&right, ngettext("%d fact ", "%d facts ", (unsigned long)facts), facts);
    heading(look, "", text.data, right.data, STYLE_OVERLAY, out);
    buf_release(&text);
    buf_release(&right);
}

static void age(const struct graph_source *s, struct buf *out)
{
    format_age(out, s->created_ms, clock_wall_ms());
    buf_addch(out, ' ');
}

void graph_fact_heading(void *view, size_t row, const struct outline_look *look, struct rows *out)
{
    const struct graph_view *v = view;
    const struct graph_row *r = &v->facts.items[row];
    const struct graph_entity *n = graph_view_entity(v);
    struct buf text = BUF_INIT, right = BUF_INIT;
    if (r->kind == ROW_ENTITY) {
        add_clean(&text, n->type);
        age(&n->source, &right);
        heading(look, "", text.data, right.data, STYLE_DIM, out);
    } else if (r->kind == ROW_OBSERVATION) {
        add_clean(&text, n->observations.items[r->index].content);
        age(&n->observations.items[r->index].source, &right);
        heading(look, "-", text.data, right.data, STYLE_OVERLAY, out);
    } else {
        const struct graph_relation *relation = &v->open.relations.items[r->index];
        add_clean(&text, relation->type);
        buf_addstr(&text, ": ");
        add_clean(&text, r->kind == ROW_OUT ? relation->to : relation->from);
        age(&relation->source, &right);
        heading(look, r->kind == ROW_OUT ? glyph(GLYPH_ARROW) : "<-", text.data, right.data,
                STYLE_LINK, out);
    }
    buf_release(&text);
    buf_release(&right);
}

/* "from the conversation “Kyoto”, 2026-03-09" */
static void add_source(const struct graph_view *v, const struct graph_source *s, struct buf *out)
{
    const struct view_host *host = v->view.host;
    const char *title = s->session_id && host->title ? host->title(host->app, s->session_id) : NULL;
    format_date(out, s->created_ms);
    if (s->deleted)
        buf_addf(out, ", %s", _("its conversation was deleted"));
    else if (title && !*title)
        buf_addf(out, ", %s", _("from this conversation"));
    else if (s->session_id)
        buf_addf(out, ", %s%s%s", _("from a conversation"), title ? ": " : "", title ? title : "");
    else
        buf_addf(out, ", %s", _("by you or an import"));
}

struct outline_text graph_fact_text(void *view, size_t row)
{
    struct graph_view *v = view;
    const struct graph_row *r = &v->facts.items[row];
    const struct graph_entity *n = graph_view_entity(v);
    struct buf text = BUF_INIT;
    if (r->kind == ROW_OUT || r->kind == ROW_IN)
        return (struct outline_text){0};
    if (r->kind == ROW_OBSERVATION)
        buf_addf(&text, "%s\n", n->observations.items[r->index].content);
    add_source(v, r->kind == ROW_ENTITY ? &n->source : &n->observations.items[r->index].source,
               &text);
    free(v->text);
    v->text = buf_take(&text);
    return (struct outline_text){v->text, false};
}

/* --- above and below -------------------------------------------------------------------------- */

static void title_row(const struct graph_view *v, struct rows *out)
{
    struct buf text = BUF_INIT, total = BUF_INIT;
    int64_t left = v->open.relations_left;
    format_exact(&total, v->list.total);
    buf_addf(&text, " %s", _("Graph"));
    for (size_t i = 0; i < v->path.len; i++) {
        buf_addstr(&text, " > ");
        add_clean(&text, v->path.items[i].name);
    }
    if (!graph_view_walks(v) && v->known)
        buf_addf(&text, ngettext(" %s %s entity", " %s %s entities", (unsigned long)v->list.total),
                 glyph(GLYPH_DOT), total.data);
    if (graph_view_walks(v) && left > 0)
        buf_addf(&text,
                 ngettext(" %s %lld more relation", " %s %lld more relations", (unsigned long)left),
                 glyph(GLYPH_DOT), (long long)left);
    rows_begin(out);
    /* of a long way its end is worth more */
    size_t width = (size_t)v->width, columns = utf8_width(text.data, text.len), from = 0;
    while (columns > width && from < text.len) {
        size_t next = utf8_next(text.data, text.len, from);
        columns -= utf8_width(text.data + from, next - from);
        from = next;
    }
    message_row_field(out, text.data + from, width, STYLE_OVERLAY_TITLE);
    buf_release(&text);
    buf_release(&total);
}

static void query_row(struct graph_view *v, struct rows *out)
{
    size_t width = (size_t)v->width;
    int caret;
    rows_begin(out);
    size_t used = rows_add_cut(out, " / ", width, STYLE_PROMPT);
    size_t columns = edit_line(out, v->query, width - used, &caret);
    rows_pad(out, width - used - columns, STYLE_OVERLAY);
    int at = (int)used + caret;
    v->caret_col = v->writing ? (at < v->width ? at : v->width - 1) : -1;
}

static void empty_rows(const struct graph_view *v, int height, struct rows *out)
{
    const char *text = graph_view_walks(v) || !v->known ? _("loading")
                       : v->searched                    ? _("No matches in the graph.")
                                     : _("The graph is empty. The model fills it with its tools, "
                                         "tiro graph add and import do.");
    remark_rows(out, text, STYLE_DIM, (size_t)v->width, height);
}

static const struct hint in_query[] = {{ACTION_DOWN, NULL, N_("to the entities")},
                                       {ACTION_PANE_NEXT, NULL, N_("next tab")},
                                       {ACTION_CANCEL, NULL, N_("close")},
                                       {ACTION_HELP, NULL, N_("help")}};
static const struct hint in_list[] = {
    {ACTION_SEND, NULL, N_("open")},
    {ACTION_MEMORY_QUERY, NULL, N_("search")},
    {ACTION_MEMORY_FORGET, NULL, N_("delete")},
    {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was deleted last")},
    {ACTION_MEMORY_OPEN, NULL, N_("source|the conversation in which it was said")},
    {ACTION_PANE_NEXT, NULL, N_("next tab")},
    {ACTION_HELP, NULL, N_("help")}};
static const struct hint in_entity[] = {
    {ACTION_SEND, NULL, N_("follow, unfold|go to the other entity; show a fact in full")},
    {ACTION_CANCEL, NULL, N_("back")},
    {ACTION_MEMORY_OPEN, NULL, N_("source|the conversation in which it was said")},
    {ACTION_MEMORY_FORGET, NULL, N_("delete")},
    {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was deleted last")},
    {ACTION_MEMORY_QUERY, NULL, N_("search")}};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static void question_text(const struct graph_view *v, struct buf *out)
{
    const struct graph_row *r = graph_view_walks(v) ? graph_view_fact(v) : NULL;
    const struct graph_entity *n = r ? graph_view_entity(v) : graph_view_listed(v);
    bool whole = !r || r->kind == ROW_ENTITY;
    const char *what = whole                        ? n->name
                       : r->kind == ROW_OBSERVATION ? n->observations.items[r->index].content
                                                    : v->open.relations.items[r->index].type;
    char *name = remark_name(what);
    if (whole)
        buf_addf(out, _("Delete %s and all about it? y/n"), name);
    else
        buf_addf(out, _("Delete %s? y/n"), name);
    free(name);
}

/* What stands in place of the keys; false: nothing does. */
static bool foot_text(const struct graph_view *v, struct buf *out, enum style *style)
{
    *style = v->asks_delete ? STYLE_WARNING : v->remark.style;
    if (v->asks_delete)
        question_text(v, out);
    else if (v->remark.text)
        buf_addstr(out, v->remark.text);
    return v->asks_delete || v->remark.text;
}

static void hint_rows(struct graph_view *v, struct rows *out, int rows)
{
    const struct keymap *keys = v->view.host->keymap;
    size_t width = (size_t)v->width;
    if (!view_has_keyboard(&v->view))
        hints_elsewhere(out, keys, width, rows);
    else if (graph_view_walks(v))
        hints_rows(out, keys, in_entity, COUNT(in_entity), width, rows);
    else if (v->writing)
        hints_rows(out, keys, in_query, COUNT(in_query), width, rows);
    else
        hints_rows(out, keys, in_list, COUNT(in_list), width, rows);
}

/* --- all of it -------------------------------------------------------------------------------- */

void graph_view_resize(struct view *view, int width, int height)
{
    struct graph_view *v = graph_view_of(view);
    v->width = width > 2 ? width : 2;
    v->height = height > 1 ? height : 1;
}

const struct rows *graph_view_rows(struct view *view)
{
    struct graph_view *v = graph_view_of(view);
    bool walks = graph_view_walks(v);
    struct buf foot = BUF_INIT;
    enum style style;
    bool says = foot_text(v, &foot, &style);
    int feet = remark_height(says ? foot.data : NULL, (size_t)v->width, v->height, HINT_ROWS);
    int body = v->height - feet - (walks ? 1 : 2);
    struct outline *o = walks ? v->outline : v->entities;
    rows_clear(&v->rows);
    v->caret_col = -1;
    title_row(v, &v->rows);
    if (!walks && v->height > 1)
        query_row(v, &v->rows);
    v->top_rows = (int)v->rows.list.len;
    if (body > 0 && (walks ? v->facts.len : v->list.entities.len) == 0) {
        empty_rows(v, body, &v->rows);
    } else if (body > 0) {
        outline_resize(o, v->width, body);
        outline_rows(o, &v->rows);
    }
    if (feet > 0 && says)
        remark_rows(&v->rows, foot.data, style, (size_t)v->width, feet);
    else if (feet > 0)
        hint_rows(v, &v->rows, feet);
    buf_release(&foot);
    return &v->rows;
}

bool graph_view_caret(const struct view *view, int *row, int *col)
{
    const struct graph_view *v = (const struct graph_view *)view;
    *row = 1;
    *col = v->caret_col;
    return v->writing && v->caret_col >= 0;
}
