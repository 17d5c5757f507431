/* The graph of facts as a tab: its entities, found as the user types, and each with its
 * observations and relations, along which the user walks. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/utf8.h"
#include "chat/knowledge.h"
#include "session/graph_operations.h"
#include "ui/text/format.h"
#include "ui/view/browser.h"
#include "ui/view/memory_view.h"

enum { LISTED = 100 /* entities that are asked for at first */ };

/* A row of an open entity. */
struct graph_row {
    enum { ROW_ENTITY, ROW_OBSERVATION, ROW_OUT, ROW_IN } kind;
    size_t index; /* of the observation, or of the relation */
};

/* An entity on the way here, with the row that was chosen there. */
struct graph_step {
    char *name;
    size_t chosen;
};

struct graph_view {
    struct browser b;       /* its main list has the entities */
    struct graph_part list; /* entities without observations, or those that were found */
    bool searched;          /* the list answers a query */
    int limit;
    VEC(struct graph_step) path; /* empty: the list is shown; the last one is open */
    struct graph_part open;      /* that entity, if it has come */
    VEC(struct graph_row) facts; /* its rows */
    struct browser_list facts_list;
    uint64_t opening; /* the request for it; 0: none is under way */
};

/* The open entity; NULL: it has not come. */
static const struct graph_entity *open_entity(const struct graph_view *v)
{
    return v->open.entities.len > 0 ? &v->open.entities.items[0] : NULL;
}

/* The chosen entity of the list, or a row of the open entity. */
struct graph_choice {
    const struct graph_entity *entity; /* NULL: nothing is chosen */
    const struct graph_row *row;       /* NULL: an entity of the list */
};

static struct graph_choice chosen(const struct graph_view *v)
{
    size_t at = browser_chosen(&v->b);
    if (v->path.len > 0)
        return open_entity(v) && at < v->facts.len
                   ? (struct graph_choice){open_entity(v), &v->facts.items[at]}
                   : (struct graph_choice){0};
    return (struct graph_choice){at < v->list.entities.len ? &v->list.entities.items[at] : NULL,
                                 NULL};
}

static const char *other_end(const struct graph_view *v, const struct graph_row *r)
{
    const struct graph_relation *relation = &v->open.relations.items[r->index];
    return r->kind == ROW_OUT ? relation->to : relation->from;
}

/* --- entries ---------------------------------------------------------------------------------- */

static int64_t entity_id(const struct browser *b, size_t index)
{
    return browser_hash(0, ((const struct graph_view *)b)->list.entities.items[index].name);
}

static void entity_entry(const struct browser *b, size_t index, struct browser_entry *out)
{
    const struct graph_entity *n = &((const struct graph_view *)b)->list.entities.items[index];
    int facts = n->observed + n->relations;
    browser_clean(&out->left, n->name);
    buf_addf(&out->left, " %s ", glyph(GLYPH_DOT));
    browser_clean(&out->left, n->type);
    buf_addf(&out->right, ngettext("%d fact ", "%d facts ", (unsigned long)facts), facts);
}

static int64_t fact_id(const struct browser *b, size_t index)
{
    const struct graph_view *v = (const struct graph_view *)b;
    const struct graph_row *r = &v->facts.items[index];
    if (r->kind == ROW_ENTITY)
        return 0;
    if (r->kind == ROW_OBSERVATION)
        return browser_hash(r->kind, open_entity(v)->observations.items[r->index].content);
    int64_t type = browser_hash(r->kind, v->open.relations.items[r->index].type);
    return browser_hash(type, other_end(v, r));
}

/* Where an entity of the list, or a row of the open entity, was said. */
static struct browser_source source(const struct browser *b, size_t index)
{
    const struct graph_view *v = (const struct graph_view *)b;
    const struct graph_row *r = v->path.len > 0 ? &v->facts.items[index] : NULL;
    const struct graph_source *s = !r                      ? &v->list.entities.items[index].source
                                   : r->kind == ROW_ENTITY ? &open_entity(v)->source
                                   : r->kind == ROW_OBSERVATION
                                       ? &open_entity(v)->observations.items[r->index].source
                                       : &v->open.relations.items[r->index].source;
    return (struct browser_source){
        .session_id = s->session_id, .seq = s->seq, .at_ms = s->created_ms, .deleted = s->deleted};
}

static void fact_entry(const struct browser *b, size_t index, struct browser_entry *out)
{
    const struct graph_view *v = (const struct graph_view *)b;
    const struct graph_row *r = &v->facts.items[index];
    if (r->kind == ROW_ENTITY) {
        out->style = STYLE_DIM;
        browser_clean(&out->left, open_entity(v)->type);
    } else if (r->kind == ROW_OBSERVATION) {
        buf_addstr(&out->left, "- ");
        browser_clean(&out->left, open_entity(v)->observations.items[r->index].content);
    } else {
        out->style = STYLE_LINK;
        buf_addf(&out->left, "%s ", r->kind == ROW_OUT ? glyph(GLYPH_ARROW) : "<-");
        browser_clean(&out->left, v->open.relations.items[r->index].type);
        buf_addstr(&out->left, ": ");
        browser_clean(&out->left, other_end(v, r));
    }
    format_age(&out->right, source(b, index).at_ms, clock_wall_ms());
    buf_addch(&out->right, ' ');
}

static bool fact_text(const struct browser *b, size_t index, struct buf *out)
{
    const struct graph_view *v = (const struct graph_view *)b;
    const struct graph_row *r = &v->facts.items[index];
    if (r->kind == ROW_OUT || r->kind == ROW_IN)
        return false;
    if (r->kind == ROW_OBSERVATION)
        buf_addf(out, "%s\n", open_entity(v)->observations.items[r->index].content);
    const struct browser_source s = source(b, index);
    browser_write_source(b, &s, _("by you or an import"), out);
    return true;
}

static const struct browser_columns entities = {entity_id, entity_entry, NULL, source};
static const struct browser_columns facts = {fact_id, fact_entry, fact_text, source};

/* --- asking ----------------------------------------------------------------------------------- */

static bool take_list(struct view *view, struct operation_answer *a, const char *words)
{
    struct graph_view *v = (struct graph_view *)view;
    if (browser_came(&v->b, words)) {
        v->searched = a->request->operation == &operation_graph_search;
        browser_take(a, &v->list);
        browser_fill(&v->b.main, v->list.entities.len);
    }
    return true;
}

static void ask_list(struct graph_view *v)
{
    const char *text = editor_text(v->b.query);
    const struct graph_list_params list = {.limit = v->limit};
    const struct graph_search search = {
        .query = text, .limit = v->limit, .typing = true, .brief = true};
    bool all = utf8_is_blank(text);
    browser_ask(&v->b, all ? &operation_graph_list : &operation_graph_search,
                all ? (const void *)&list : &search, take_list);
}

static void walk_back(struct browser *b);

static bool take_open(struct view *view, struct operation_answer *a, const char *words)
{
    struct graph_view *v = (struct graph_view *)view;
    v->opening = 0;
    if (words) {
        remark_set(&v->b.remark, STYLE_ERROR, words);
        return true;
    }
    bool fresh = !open_entity(v);
    browser_take(a, &v->open);
    const struct graph_entity *n = open_entity(v);
    vec_clear(&v->facts);
    if (!n) {
        remark_set(&v->b.remark, STYLE_NOTE, _("This entity does not exist any more."));
        walk_back(&v->b);
        return true;
    }
    /* The entity, its observations, relations out (also one to itself), relations in. */
    vec_push(&v->facts, (struct graph_row){ROW_ENTITY, 0});
    for (size_t i = 0; i < n->observations.len; i++)
        vec_push(&v->facts, (struct graph_row){ROW_OBSERVATION, i});
    for (int out = 1; out >= 0; out--)
        for (size_t i = 0; i < v->open.relations.len; i++)
            if ((strcmp(v->open.relations.items[i].from, n->name) == 0) == (out == 1))
                vec_push(&v->facts, (struct graph_row){out ? ROW_OUT : ROW_IN, i});
    browser_fill(&v->facts_list, v->facts.len);
    if (fresh && v->path.len > 0)
        outline_choose(v->facts_list.outline,
                       moves_within((long)vec_last(&v->path).chosen, v->facts.len));
    return true;
}

/* Shows the last entity of the path, or the list where the path is empty. */
static void ask_open(struct graph_view *v)
{
    view_withdraw(&v->b.view, v->opening);
    v->opening = 0;
    if (v->path.len == 0)
        return;
    const char *name = vec_last(&v->path).name;
    v->opening = view_ask(&v->b.view, &operation_graph_open,
                          &(struct graph_names){.names = {&name, 1, 1}}, take_open);
}

static void refresh(struct browser *b)
{
    ask_list((struct graph_view *)b);
    ask_open((struct graph_view *)b);
}

static void search(struct browser *b)
{
    struct graph_view *v = (struct graph_view *)b;
    v->limit = LISTED;
    ask_list(v);
}

/* Asks for twice as many, as far as a search gives them; the list goes on to its end. */
static void more(struct browser *b)
{
    struct graph_view *v = (struct graph_view *)b;
    int most = v->searched ? GRAPH_FOUND_MOST : INT_MAX;
    if (b->list != &b->main || (int)b->main.count < v->limit || v->limit >= most)
        return;
    v->limit = v->limit <= most / 2 ? v->limit * 2 : most;
    ask_list(v);
}

/* --- walking ---------------------------------------------------------------------------------- */

static void show_path(struct graph_view *v)
{
    graph_part_release(&v->open);
    vec_clear(&v->facts);
    browser_fill(&v->facts_list, 0);
    v->b.list = v->path.len > 0 ? &v->facts_list : &v->b.main;
    ask_open(v);
}

static void walk_back(struct browser *b)
{
    struct graph_view *v = (struct graph_view *)b;
    if (v->path.len == 0)
        return;
    free(vec_last(&v->path).name);
    v->path.len--;
    show_path(v);
}

/* --- actions ---------------------------------------------------------------------------------- */

static const char *done(struct browser *b, struct operation_answer *a)
{
    const struct operation *o = a->request->operation;
    if (o == &operation_graph_delete)
        walk_back(b);
    return o == &operation_graph_restore ? _("Restored.") : _("Deleted; u undoes it.");
}

static void delete_chosen(struct browser *b)
{
    const struct graph_view *v = (const struct graph_view *)b;
    struct graph_choice c = chosen(v);
    if (!c.entity)
        return;
    if (c.row && c.row->kind == ROW_OBSERVATION) {
        const char *content = c.entity->observations.items[c.row->index].content;
        struct graph_new_observations which = {c.entity->name, {&content, 1, 1}};
        (void)view_ask(&b->view, &operation_graph_unobserve,
                       &(struct graph_unobserve){.deletions = {&which, 1, 1}}, browser_changed);
    } else if (c.row && c.row->kind != ROW_ENTITY) {
        const struct graph_relation *relation = &v->open.relations.items[c.row->index];
        struct graph_new_relation which = {relation->from, relation->to, relation->type};
        (void)view_ask(&b->view, &operation_graph_unrelate,
                       &(struct graph_relate){.relations = {&which, 1, 1}}, browser_changed);
    } else {
        const char *name = c.entity->name;
        (void)view_ask(&b->view, &operation_graph_delete,
                       &(struct graph_names){.names = {&name, 1, 1}}, browser_changed);
    }
}

/* Opens an entity, or goes along a relation. */
static bool open_chosen(struct browser *b)
{
    struct graph_view *v = (struct graph_view *)b;
    struct graph_choice c = chosen(v);
    bool relation = c.row && (c.row->kind == ROW_OUT || c.row->kind == ROW_IN);
    if (!c.entity || (c.row && !relation))
        return false;
    if (v->path.len > 0)
        vec_last(&v->path).chosen = browser_chosen(b);
    vec_push(&v->path,
             ((struct graph_step){mem_strdup(relation ? other_end(v, c.row) : c.entity->name), 0}));
    show_path(v);
    return true;
}

/* --- texts ------------------------------------------------------------------------------------ */

static void title(const struct browser *b, struct buf *out)
{
    const struct graph_view *v = (const struct graph_view *)b;
    int64_t left = v->open.relations_left;
    buf_addf(out, " %s", _("Graph"));
    for (size_t i = 0; i < v->path.len; i++) {
        buf_addstr(out, " > ");
        browser_clean(out, v->path.items[i].name);
    }
    if (v->path.len == 0 && b->known) {
        auto_free char *total = format_exact(v->list.total);
        buf_addf(out, ngettext(" %s %s entity", " %s %s entities", (unsigned long)v->list.total),
                 glyph(GLYPH_DOT), total);
    }
    if (v->path.len > 0 && left > 0)
        buf_addf(out,
                 ngettext(" %s %lld more relation", " %s %lld more relations", (unsigned long)left),
                 glyph(GLYPH_DOT), (long long)left);
    /* of a long path the end matters */
    size_t from = 0;
    while (utf8_width(out->data + from, out->len - from) > (size_t)b->view.width && from < out->len)
        from = utf8_next(out->data, out->len, from);
    buf_splice(out, 0, from, NULL, 0);
}

static const char *empty(const struct browser *b)
{
    return b->list != &b->main ? _("loading")
           : ((const struct graph_view *)b)->searched
               ? _("No matches in the graph.")
               : _("The graph is empty. The model fills it with its tools, tiro graph add and "
                   "import do.");
}

static const char *question(const struct browser *b, struct buf *out)
{
    const struct graph_view *v = (const struct graph_view *)b;
    struct graph_choice c = chosen(v);
    if (!c.entity)
        return _("No entry is selected.");
    bool whole = !c.row || c.row->kind == ROW_ENTITY;
    auto_free char *name = remark_name(whole ? c.entity->name
                                       : c.row->kind == ROW_OBSERVATION
                                           ? c.entity->observations.items[c.row->index].content
                                           : v->open.relations.items[c.row->index].type);
    buf_addf(out, whole ? _("Delete %s and all about it? y/n") : _("Delete %s? y/n"), name);
    return NULL;
}

static struct hint_table hints(const struct browser *b)
{
    static const struct hint in_list[] = {
        {ACTION_SEND, NULL, N_("open")},
        {ACTION_MEMORY_QUERY, NULL, N_("search")},
        {ACTION_MEMORY_FORGET, NULL, N_("delete")},
        {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was deleted last")},
        {ACTION_MEMORY_OPEN, NULL, N_("source|the conversation in which it was said")},
        {ACTION_PANE_NEXT, NULL, N_("next tab")},
        {ACTION_HELP, NULL, N_("help")},
        {ACTION_LEFT, NULL, N_("|back")}};
    static const struct hint in_entity[] = {
        {ACTION_SEND, NULL, N_("follow, unfold|go to the other entity; show a fact in full")},
        {ACTION_CANCEL, NULL, N_("back")},
        {ACTION_MEMORY_OPEN, NULL, N_("source|the conversation in which it was said")},
        {ACTION_MEMORY_FORGET, NULL, N_("delete")},
        {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was deleted last")},
        {ACTION_MEMORY_QUERY, NULL, N_("search")},
        {ACTION_LEFT, NULL, N_("|back")}};
    return b->list != &b->main ? HINTS(in_entity, COMMON_TAB) : HINTS(in_list, COMMON_TAB);
}

/* --- the view --------------------------------------------------------------------------------- */

static const struct browser_table table = {
    .open = open_chosen,
    .sourceless = N_("Not from a conversation: yours or imported."),
    .restore = &operation_graph_restore,
    .done = done,
    .title = title,
    .empty = empty,
    .to_list = N_("to the entities"),
    .hints = hints,
    .back = walk_back,
    .search = search,
    .refresh = refresh,
    .more = more,
    .question = question,
    .confirm = delete_chosen,
};

/* The tools of the model may change the graph during a turn. */
static void notice(struct view *view, struct notice *n)
{
    if (n->type == NOTICE_EVENT && n->event->type == EVENT_TOOL_EXECUTION_COMPLETED &&
        n->event->name && strncmp(n->event->name, "memory_", 7) == 0)
        browser_of(view)->stale = true;
}

static void free_view(struct view *view)
{
    struct graph_view *v = (struct graph_view *)view;
    for (size_t i = 0; i < v->path.len; i++)
        free(v->path.items[i].name);
    vec_release(&v->path);
    vec_release(&v->facts);
    graph_part_release(&v->list);
    graph_part_release(&v->open);
    outline_free(v->facts_list.outline);
    browser_release(&v->b);
    free(v);
}

struct view *graph_view_new(const struct view_host *host)
{
    static const struct view_ops ops = {BROWSER_OPS, .free = free_view, .notice = notice};
    struct graph_view *v = mem_alloc(sizeof *v);
    browser_init(&v->b, host, &ops, &table, &entities);
    browser_list_init(&v->facts_list, &v->b, &facts);
    v->b.place = BROWSER_QUERY;
    v->limit = LISTED;
    return &v->b.view;
}

void graph_view_show(struct view *view, const char *query)
{
    struct graph_view *v = (struct graph_view *)view;
    if (query && *query) {
        browser_to_query(&v->b);
        editor_set(v->b.query, query);
        v->b.place = BROWSER_LIST;
        v->limit = LISTED;
    }
    browser_refresh(&v->b);
}
