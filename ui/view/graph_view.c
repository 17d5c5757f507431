/* What the graph's tab asks, holds and is answered, and its keys. */
#include "ui/view/graph_view.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/graph_operations.h"
#include "ui/text/editor.h"
#include "ui/view/graph_view_private.h"
#include "ui/view/hints.h"
#include "ui/view/moves.h"

enum { AGAIN_MS = 300 };

static void say(struct graph_view *v, enum style style, const char *text)
{
    remark_set(&v->remark, style, text);
}

const struct graph_entity *graph_view_entity(const struct graph_view *v)
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

const struct graph_row *graph_view_fact(const struct graph_view *v)
{
    size_t chosen = outline_chosen(v->outline);
    return graph_view_entity(v) && chosen < v->facts.len ? &v->facts.items[chosen] : NULL;
}

const struct graph_entity *graph_view_listed(const struct graph_view *v)
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
