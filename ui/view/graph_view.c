#include "ui/view/tabs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/knowledge.h"
#include "session/graph_operations.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/hints.h"
#include "ui/view/outline.h"

enum { GRAPH_QUERY_BYTES = 1024, GRAPH_LISTED = 100 /* that are asked for at first */ };

/* What a row of an open entity is. */
struct graph_row {
    enum { ROW_ENTITY, ROW_OBSERVATION, ROW_OUT, ROW_IN } kind;
    size_t index; /* of the observation, or of the relation */
};

/* Where one has walked to, with the row that was chosen there. */
struct graph_step {
    char *name;
    size_t chosen;
};

struct graph_view {
    struct view view;
    struct editor *query;
    bool writing; /* keys go to the query */

    struct graph_part list; /* entities without observations, or those that were found */
    bool known;             /* an answer has come */
    bool searched;          /* the list answers a query */
    int limit;
    uint64_t asked; /* the newest request; 0: it was answered */
    struct outline *entities;

    VEC(struct graph_step) path; /* empty: the list is shown; the last one is open */
    struct graph_part open;      /* that entity, if it has come */
    VEC(struct graph_row) facts; /* its rows */
    uint64_t opening;            /* the request for it; 0: none is on its way */
    struct outline *outline;

    bool stale;       /* something was changed since it was asked for */
    int64_t asked_ms; /* clock_mono_ms() of that */
    bool asks_delete; /* yes or no */
    struct remark remark;

    int width, height;
    int top_rows;  /* above the list, as drawn last */
    int caret_col; /* of the query; -1: none */
    struct rows rows;
    char *text; /* that an opened row shows */
};

static inline struct graph_view *graph_view_of(struct view *view)
{
    return (struct graph_view *)view;
}

static inline bool graph_view_walks(const struct graph_view *v)
{
    return v->path.len > 0;
}

/* The open entity; NULL: it has not come. */
static const struct graph_entity *graph_view_entity(const struct graph_view *v);

/* What is chosen: a row of the open entity, an entity of the list; NULL: nothing is. */
static const struct graph_row *graph_view_fact(const struct graph_view *v);
static const struct graph_entity *graph_view_listed(const struct graph_view *v);

/* graph_view_rows.c */
static void graph_view_resize(struct view *view, int width, int height);
static const struct rows *graph_view_rows(struct view *view);
static bool graph_view_caret(const struct view *view, int *row, int *col);
static void graph_entity_heading(void *view, size_t entity, const struct outline_look *look,
                                 struct rows *out);
static void graph_fact_heading(void *view, size_t row, const struct outline_look *look,
                               struct rows *out);
static struct outline_text graph_fact_text(void *view, size_t row);

/* What the graph's tab looks like. */

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

static void graph_entity_heading(void *view, size_t entity, const struct outline_look *look,
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

static void graph_fact_heading(void *view, size_t row, const struct outline_look *look,
                               struct rows *out)
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

static struct outline_text graph_fact_text(void *view, size_t row)
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

static void graph_view_resize(struct view *view, int width, int height)
{
    struct graph_view *v = graph_view_of(view);
    v->width = width > 2 ? width : 2;
    v->height = height > 1 ? height : 1;
}

static const struct rows *graph_view_rows(struct view *view)
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

static bool graph_view_caret(const struct view *view, int *row, int *col)
{
    const struct graph_view *v = (const struct graph_view *)view;
    *row = 1;
    *col = v->caret_col;
    return v->writing && v->caret_col >= 0;
}

/* What the graph's tab asks, holds and is answered, and its keys. */

enum { AGAIN_MS = 300 };

static void say(struct graph_view *v, enum style style, const char *text)
{
    remark_set(&v->remark, style, text);
}

static const struct graph_entity *graph_view_entity(const struct graph_view *v)
{
    return v->open.entities.len > 0 ? &v->open.entities.items[0] : NULL;
}

/* --- rows and what they are known by ---------------------------------------------------------- */

/* FNV-1a: texts as the outline wants to know its entries. */
static int64_t hash(int64_t seed, const char *text)
{
    uint64_t h = 14695981039346656037U ^ (uint64_t)seed;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211U;
    return (int64_t)h;
}

static int64_t entity_key(void *view, size_t entity)
{
    const struct graph_view *v = view;
    return hash(0, v->list.entities.items[entity].name);
}

static struct outline_text entity_text(void *view, size_t entity)
{
    (void)view;
    (void)entity;
    return (struct outline_text){0};
}

static int64_t fact_key(void *view, size_t row)
{
    const struct graph_view *v = view;
    const struct graph_row *r = &v->facts.items[row];
    if (r->kind == ROW_ENTITY)
        return 0;
    if (r->kind == ROW_OBSERVATION)
        return hash(r->kind, graph_view_entity(v)->observations.items[r->index].content);
    const struct graph_relation *relation = &v->open.relations.items[r->index];
    return hash(hash(r->kind, relation->type), r->kind == ROW_OUT ? relation->to : relation->from);
}

/* The entity, what was observed, relations out, relations in. One to itself is one out. */
static void list_facts(struct graph_view *v)
{
    const struct graph_entity *n = graph_view_entity(v);
    vec_clear(&v->facts);
    if (!n)
        return;
    vec_push(&v->facts, (struct graph_row){ROW_ENTITY, 0});
    for (size_t i = 0; i < n->observations.len; i++)
        vec_push(&v->facts, (struct graph_row){ROW_OBSERVATION, i});
    for (int out = 1; out >= 0; out--)
        for (size_t i = 0; i < v->open.relations.len; i++)
            if ((strcmp(v->open.relations.items[i].from, n->name) == 0) == (out == 1))
                vec_push(&v->facts, (struct graph_row){out ? ROW_OUT : ROW_IN, i});
}

static const struct graph_row *graph_view_fact(const struct graph_view *v)
{
    size_t chosen = outline_chosen(v->outline);
    return graph_view_entity(v) && chosen < v->facts.len ? &v->facts.items[chosen] : NULL;
}

static const struct graph_entity *graph_view_listed(const struct graph_view *v)
{
    size_t chosen = outline_chosen(v->entities);
    return chosen < v->list.entities.len ? &v->list.entities.items[chosen] : NULL;
}

/* --- asking and answers ----------------------------------------------------------------------- */

static void take_part(struct graph_part *to, struct operation_answer *a)
{
    graph_part_release(to);
    *to = *(struct graph_part *)a->result;
    *(struct graph_part *)a->result = (struct graph_part){0};
}

static bool take_list(struct view *view, struct operation_answer *a, const char *words)
{
    struct graph_view *v = graph_view_of(view);
    v->asked = 0;
    if (words) {
        say(v, STYLE_ERROR, words);
        return true;
    }
    v->known = true;
    v->searched = a->request->operation == &operation_graph_search;
    take_part(&v->list, a);
    outline_fill(v->entities, v->list.entities.len);
    return true;
}

static void walk_back(struct graph_view *v);

static bool take_open(struct view *view, struct operation_answer *a, const char *words)
{
    struct graph_view *v = graph_view_of(view);
    v->opening = 0;
    if (words) {
        say(v, STYLE_ERROR, words);
        return true;
    }
    bool fresh = !graph_view_entity(v);
    take_part(&v->open, a);
    list_facts(v);
    outline_fill(v->outline, v->facts.len);
    if (!graph_view_entity(v)) {
        say(v, STYLE_NOTE, _("This entity does not exist any more."));
        walk_back(v);
    } else if (fresh && v->path.len > 0) {
        outline_choose(v->outline, moves_within((long)vec_last(&v->path).chosen, v->facts.len));
    }
    return true;
}

static void ask_list(struct graph_view *v)
{
    const char *text = editor_text(v->query);
    view_withdraw(&v->view, v->asked);
    if (utf8_is_blank(text))
        v->asked = view_ask(&v->view, &operation_graph_list,
                            &(struct graph_list_params){.limit = v->limit}, take_list);
    else
        v->asked = view_ask(
            &v->view, &operation_graph_search,
            &(struct graph_search){.query = text, .limit = v->limit, .typing = true, .brief = true},
            take_list);
}

static void ask_open(struct graph_view *v)
{
    char *name = vec_last(&v->path).name;
    view_withdraw(&v->view, v->opening);
    v->opening = view_ask(&v->view, &operation_graph_open,
                          &(struct graph_names){.names = {(const char **)&name, 1, 1}}, take_open);
}

static void ask_again(struct graph_view *v)
{
    v->stale = false;
    v->asked_ms = clock_mono_ms();
    ask_list(v);
    if (graph_view_walks(v))
        ask_open(v);
}

/* --- walking ---------------------------------------------------------------------------------- */

static void forget_open(struct graph_view *v)
{
    view_withdraw(&v->view, v->opening);
    v->opening = 0;
    graph_part_release(&v->open);
    vec_clear(&v->facts);
    outline_fill(v->outline, 0);
}

static void walk_to(struct graph_view *v, const char *name)
{
    if (v->path.len > 0)
        vec_last(&v->path).chosen = outline_chosen(v->outline);
    vec_push(&v->path, (struct graph_step){mem_strdup(name), 0});
    v->writing = false;
    forget_open(v);
    ask_open(v);
}

static void walk_back(struct graph_view *v)
{
    if (v->path.len == 0)
        return;
    free(vec_last(&v->path).name);
    v->path.len--;
    forget_open(v);
    if (v->path.len > 0)
        ask_open(v);
}

static void open_entity(struct graph_view *v)
{
    const struct graph_entity *n = graph_view_listed(v);
    if (n)
        walk_to(v, n->name);
}

/* A relation leads on, anything else unfolds. */
static void follow(struct graph_view *v)
{
    const struct graph_row *r = graph_view_fact(v);
    if (!r)
        return;
    if (r->kind == ROW_OUT)
        walk_to(v, v->open.relations.items[r->index].to);
    else if (r->kind == ROW_IN)
        walk_to(v, v->open.relations.items[r->index].from);
    else
        (void)outline_toggle(v->outline);
}

static void choose(struct view *view)
{
    struct graph_view *v = graph_view_of(view);
    if (graph_view_walks(v))
        follow(v);
    else
        open_entity(v);
}

static void back(struct view *view)
{
    struct graph_view *v = graph_view_of(view);
    if (graph_view_walks(v))
        walk_back(v);
    else
        v->writing = true;
}

static void to_query(struct view *view)
{
    struct graph_view *v = graph_view_of(view);
    while (graph_view_walks(v))
        walk_back(v);
    v->writing = true;
}

/* --- where a fact comes from ------------------------------------------------------------------ */

static const struct graph_source *chosen_source(const struct graph_view *v)
{
    const struct graph_row *r = graph_view_fact(v);
    if (!graph_view_walks(v))
        return graph_view_listed(v) ? &graph_view_listed(v)->source : NULL;
    if (!r)
        return NULL;
    return r->kind == ROW_ENTITY        ? &graph_view_entity(v)->source
           : r->kind == ROW_OBSERVATION ? &graph_view_entity(v)->observations.items[r->index].source
                                        : &v->open.relations.items[r->index].source;
}

static void open_source(struct view *view)
{
    struct graph_view *v = graph_view_of(view);
    const struct graph_source *s = chosen_source(v);
    if (!s)
        say(v, STYLE_NOTE, _("No entry is selected."));
    else if (!s->session_id)
        say(v, STYLE_NOTE, _("Not from a conversation: yours or imported."));
    else if (s->deleted)
        say(v, STYLE_NOTE, _("The conversation of this was deleted."));
    else
        view->host->show_message(view->host->app, s->session_id, s->seq);
}

/* --- deleting --------------------------------------------------------------------------------- */

static bool deleted(struct view *view, struct operation_answer *a, const char *words)
{
    struct graph_view *v = graph_view_of(view);
    bool whole = a->request->operation == &operation_graph_delete;
    if (words) {
        say(v, STYLE_ERROR, words);
        return true;
    }
    if (whole)
        walk_back(v);
    say(v, STYLE_NOTE, _("Deleted; u undoes it."));
    ask_again(v);
    return true;
}

static bool restored(struct view *view, struct operation_answer *a, const char *words)
{
    struct graph_view *v = graph_view_of(view);
    (void)a;
    say(v, words ? STYLE_ERROR : STYLE_NOTE, words ? words : _("Restored."));
    if (!words)
        ask_again(v);
    return true;
}

static void delete_entity(struct graph_view *v, const char *name)
{
    (void)view_ask(&v->view, &operation_graph_delete, &(struct graph_names){.names = {&name, 1, 1}},
                   deleted);
}

static void delete_observation(struct graph_view *v, size_t index)
{
    const struct graph_entity *n = graph_view_entity(v);
    const char *content = n->observations.items[index].content;
    struct graph_new_observations which = {n->name, {&content, 1, 1}};
    (void)view_ask(&v->view, &operation_graph_unobserve,
                   &(struct graph_unobserve){.deletions = {&which, 1, 1}}, deleted);
}

static void delete_relation(struct graph_view *v, size_t index)
{
    const struct graph_relation *r = &v->open.relations.items[index];
    struct graph_new_relation which = {r->from, r->to, r->type};
    (void)view_ask(&v->view, &operation_graph_unrelate,
                   &(struct graph_relate){.relations = {&which, 1, 1}}, deleted);
}

static void delete_chosen(struct graph_view *v)
{
    const struct graph_row *r = graph_view_fact(v);
    if (!graph_view_walks(v) && graph_view_listed(v))
        delete_entity(v, graph_view_listed(v)->name);
    else if (r && r->kind == ROW_ENTITY)
        delete_entity(v, graph_view_entity(v)->name);
    else if (r && r->kind == ROW_OBSERVATION)
        delete_observation(v, r->index);
    else if (r)
        delete_relation(v, r->index);
}

static void ask_delete(struct view *view)
{
    struct graph_view *v = graph_view_of(view);
    v->asks_delete = chosen_source(v) != NULL;
    if (!v->asks_delete)
        say(v, STYLE_NOTE, _("No entry is selected."));
}

static void restore(struct view *view)
{
    (void)view_ask(view, &operation_graph_restore, NULL, restored);
}

static void answer_key(struct graph_view *v, enum action action, const struct key *key)
{
    enum hint_answer answer = hint_answer(action, key);
    if (answer == HINT_NO_ANSWER)
        return;
    v->asks_delete = false;
    if (answer == HINT_YES)
        delete_chosen(v);
}

/* --- keys ------------------------------------------------------------------------------------- */

static const struct view_key letters[] = {{ACTION_MEMORY_OPEN, open_source},
                                          {ACTION_MEMORY_FORGET, ask_delete},
                                          {ACTION_MEMORY_RESTORE, restore},
                                          {ACTION_MEMORY_QUERY, to_query},
                                          {ACTION_NONE, NULL}};

static const struct view_key of_list[] = {{ACTION_SEND, choose},    {ACTION_TOGGLE, choose},
                                          {ACTION_RIGHT, choose},   {ACTION_CANCEL, back},
                                          {ACTION_BACKSPACE, back}, {ACTION_LEFT, back},
                                          {ACTION_NONE, NULL}};

/* Twice as many, as far as a search gives them; a list goes on to its end. */
static void ask_more(struct graph_view *v)
{
    int most = v->searched ? GRAPH_FOUND_MOST : INT_MAX;
    if (v->limit >= most)
        return;
    v->limit = v->limit <= most / 2 ? v->limit * 2 : most;
    ask_list(v);
}

/* At the end of what is there more is asked for. */
static bool move(struct graph_view *v, enum action action, const struct key *key)
{
    struct outline *o = graph_view_walks(v) ? v->outline : v->entities;
    bool mine = outline_key(o, action, key);
    size_t count = v->list.entities.len;
    if (mine && o == v->entities && count > 0 && outline_chosen(o) == count - 1 &&
        (int)count >= v->limit)
        ask_more(v);
    return mine;
}

static bool list_key(struct graph_view *v, enum action action, const struct key *key)
{
    enum action letter = keymap_find_in(v->view.host->keymap, key, KEYS_PANE);
    bool first = !graph_view_walks(v) && outline_chosen(v->entities) == 0;
    if (view_run_action(&v->view, letters, letter) || view_run_action(&v->view, of_list, action))
        return true;
    if (action == ACTION_UP && first) {
        v->writing = true;
        return true;
    }
    return move(v, action, key);
}

static bool query_key(struct graph_view *v, enum action action, const struct key *key)
{
    if (action == ACTION_SEND || action == ACTION_DOWN || action == ACTION_PAGE_DOWN) {
        v->writing = false;
        return true;
    }
    if (action == ACTION_SCROLL_UP || action == ACTION_SCROLL_DOWN)
        return move(v, action, key);
    if (action == ACTION_CANCEL || (action == ACTION_CLEAR && editor_len(v->query) == 0))
        return false;
    char *before = mem_strdup(editor_text(v->query));
    bool mine = edit_line_key(v->query, GRAPH_QUERY_BYTES, action, key);
    if (strcmp(before, editor_text(v->query)) != 0) {
        v->limit = GRAPH_LISTED;
        outline_choose(v->entities, 0);
        ask_list(v);
    }
    free(before);
    return mine;
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct graph_view *v = graph_view_of(view);
    if (v->asks_delete) {
        answer_key(v, action, key);
        return true;
    }
    say(v, STYLE_NOTE, NULL);
    return v->writing ? query_key(v, action, key) : list_key(v, action, key);
}

static void click(struct view *view, int row, int col)
{
    struct graph_view *v = graph_view_of(view);
    (void)col;
    if (v->asks_delete)
        return;
    if (!graph_view_walks(v) && row > 0 && row < v->top_rows) {
        v->writing = true;
        return;
    }
    struct outline *o = graph_view_walks(v) ? v->outline : v->entities;
    size_t before = outline_chosen(o);
    bool was_writing = v->writing;
    v->writing = false;
    if (outline_click(o, row - v->top_rows) && outline_chosen(o) == before && !was_writing &&
        !graph_view_walks(v))
        open_entity(v);
}

/* --- the view --------------------------------------------------------------------------------- */

/* What the model does in a turn may change the graph. */
static void notice(struct view *view, struct notice *n)
{
    struct graph_view *v = graph_view_of(view);
    if (n->type == NOTICE_EVENT && n->event->type == EVENT_TOOL_EXECUTION_COMPLETED &&
        n->event->name && strncmp(n->event->name, "memory_", 7) == 0)
        v->stale = true;
}

static int64_t due(const struct view *view)
{
    const struct graph_view *v = (const struct graph_view *)view;
    return v->stale ? v->asked_ms + AGAIN_MS : 0;
}

static void tick(struct view *view)
{
    if (graph_view_of(view)->stale)
        ask_again(graph_view_of(view));
}

void graph_view_show(struct view *view, const char *query)
{
    struct graph_view *v = graph_view_of(view);
    if (query && *query) {
        to_query(view);
        editor_set(v->query, query);
        v->writing = false;
        v->limit = GRAPH_LISTED;
    }
    ask_again(v);
}

static void free_view(struct view *view)
{
    struct graph_view *v = graph_view_of(view);
    for (size_t i = 0; i < v->path.len; i++)
        free(v->path.items[i].name);
    vec_release(&v->path);
    vec_release(&v->facts);
    graph_part_release(&v->list);
    graph_part_release(&v->open);
    outline_free(v->entities);
    outline_free(v->outline);
    editor_free(v->query);
    remark_release(&v->remark);
    rows_release(&v->rows);
    free(v->text);
    free(v);
}

static const struct view_ops ops = {
    .layer = VIEW_PANE,
    .free = free_view,
    .key = take_key,
    .click = click,
    .resize = graph_view_resize,
    .rows = graph_view_rows,
    .caret = graph_view_caret,
    .notice = notice,
    .due = due,
    .tick = tick,
};

struct view *graph_view_new(const struct view_host *host)
{
    struct graph_view *v = mem_alloc(sizeof *v);
    const struct outline_host entities = {entity_key, entity_text, graph_entity_heading, v};
    const struct outline_host facts = {fact_key, graph_fact_text, graph_fact_heading, v};
    *v = (struct graph_view){.view = {.ops = &ops, .host = host},
                             .query = editor_new(),
                             .writing = true,
                             .limit = GRAPH_LISTED,
                             .width = 1,
                             .height = 1};
    v->entities = outline_new(&entities);
    v->outline = outline_new(&facts);
    rows_init(&v->rows);
    return &v->view;
}
