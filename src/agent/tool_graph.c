/* The tools of the graph of facts, with the parameters of the MCP project's server-memory in snake
 * case. A tool that writes asks as [learned] capture says. */
#include <stdlib.h>
#include <string.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/knowledge.h"

/* The change that a call makes: of one kind. */
enum graph_change {
    GRAPH_MADE,      /* `part`: entities or relations */
    GRAPH_OBSERVED,  /* `added` */
    GRAPH_UNMADE,    /* `part`: entities with all about them, or relations */
    GRAPH_UNOBSERVED /* `part`: of each entity the observations */
};
struct graph_outcome {
    enum graph_change change;
    struct graph_part part;
    struct graph_added added;
};

static void outcome_release(struct graph_outcome *o)
{
    graph_part_release(&o->part);
    shape_release(&graph_added_shape, &o->added);
}

/* --- a preview: all of it, a fact a row ------------------------------------------------------- */

/* Further lines of a text stand below its first: none can look like another fact. */
static void add_fact(struct buf *out, char sign, const char *text)
{
    buf_addf(out, "  %c ", sign);
    for (; *text; text++) {
        buf_addch(out, *text);
        if (*text == '\n')
            buf_addstr(out, "    ");
    }
    buf_addch(out, '\n');
}

static void show_preview(const struct graph_outcome *o, struct buf *out)
{
    bool made = o->change == GRAPH_MADE;
    for (size_t i = 0; i < o->part.entities.len; i++) {
        const struct graph_entity *n = &o->part.entities.items[i];
        if (o->change == GRAPH_UNOBSERVED)
            buf_addf(out, "Delete observations of %s\n", n->name);
        else
            buf_addf(out, "%s entity %s (%s)\n", made ? "New" : "Delete", n->name, n->type);
        for (size_t k = 0; k < n->observations.len; k++)
            add_fact(out, made ? '+' : '-', n->observations.items[k].content);
    }
    for (size_t i = 0; i < o->part.relations.len; i++) {
        const struct graph_relation *r = &o->part.relations.items[i];
        buf_addf(out, "%s relation: %s -- %s -> %s\n", made ? "New" : "Delete", r->from, r->type,
                 r->to);
    }
    for (size_t i = 0; i < o->added.items.len; i++) {
        const struct graph_added_to *a = &o->added.items.items[i];
        if (a->added.len > 0)
            buf_addf(out, "New observations of %s\n", a->entity);
        for (size_t k = 0; k < a->added.len; k++)
            add_fact(out, '+', a->added.items[k]);
    }
    if (out->len == 0)
        buf_addstr(out, "Nothing changes: all of it is in the graph already.");
}

/* --- a receipt: some of it, on one row -------------------------------------------------------- */

enum { RECEIPT_FACTS = 10, RECEIPT_COLUMNS = 60 /* of a name or a text */ };

struct receipt {
    struct buf *out;
    int facts;
    int64_t left; /* facts without room */
};

static void add_short(struct buf *out, const char *text)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    utf8_clean(&line, text, strlen(text), UTF8_ONE_LINE);
    size_t len = utf8_cut_width(line.data, line.len, RECEIPT_COLUMNS);
    buf_add(out, line.data, len);
    buf_addstr(out, len < line.len ? "…" : "");
}

/* A fact of one to three texts with `between` between them; NULL: there are no more. */
static void note(struct receipt *r, const char *between, const char *first, const char *second,
                 const char *third)
{
    const char *const texts[] = {first, second, third};
    if (r->facts == RECEIPT_FACTS) {
        r->left++;
        return;
    }
    buf_addstr(r->out, r->facts++ > 0 ? ", " : "");
    for (size_t i = 0; i < 3 && texts[i]; i++) {
        buf_addstr(r->out, i > 0 ? between : "");
        add_short(r->out, texts[i]);
    }
}

static int64_t show_receipt(const struct graph_outcome *o, struct buf *out)
{
    struct receipt r = {.out = out};
    for (size_t i = 0; i < o->part.entities.len; i++) {
        const struct graph_entity *n = &o->part.entities.items[i];
        if (o->change != GRAPH_UNOBSERVED)
            note(&r, "", n->name, NULL, NULL);
        for (size_t k = 0; k < n->observations.len && o->change == GRAPH_UNOBSERVED; k++)
            note(&r, ": ", n->name, n->observations.items[k].content, NULL);
    }
    /* An entity takes its relations with it. */
    for (size_t i = 0; i < o->part.relations.len && o->part.entities.len == 0; i++) {
        const struct graph_relation *relation = &o->part.relations.items[i];
        note(&r, " ", relation->from, relation->type, relation->to);
    }
    for (size_t i = 0; i < o->added.items.len; i++) {
        const struct graph_added_to *a = &o->added.items.items[i];
        for (size_t k = 0; k < a->added.len; k++)
            note(&r, ": ", a->entity, a->added.items[k], NULL);
    }
    return r.left;
}

/* Tells of a change that nobody was asked about. */
static void tell_receipt(const struct tool_context *context, const struct graph_outcome *done)
{
    const struct tool_graph *g = context->self;
    AUTO(buf_release) struct buf facts = BUF_INIT;
    int64_t left = show_receipt(done, &facts);
    if (g->capture != GRAPH_CAPTURE_AUTO || !context->tell || facts.len == 0)
        return;
    struct event *ev = event_new(EVENT_GRAPH_CHANGED);
    ev->text = buf_take(&facts);
    ev->number = left;
    ev->flag = done->change == GRAPH_UNMADE || done->change == GRAPH_UNOBSERVED;
    context->tell(context->tell_context, ev);
}

/* --- results as JSON -------------------------------------------------------------------------- */

static void write_texts(struct json_out *o, const char *name, char *const *texts, size_t count)
{
    json_out_name(o, name);
    json_out_open(o, '[');
    for (size_t i = 0; i < count; i++)
        json_out_string(o, texts[i]);
    json_out_close(o, ']');
}

static void write_entities(struct json_out *o, const struct graph_part *p)
{
    json_out_open(o, '[');
    for (size_t i = 0; i < p->entities.len; i++) {
        const struct graph_entity *n = &p->entities.items[i];
        json_out_open(o, '{');
        json_out_pack(o, "name:s entity_type:s", n->name, n->type);
        json_out_name(o, "observations");
        json_out_open(o, '[');
        for (size_t k = 0; k < n->observations.len; k++)
            json_out_string(o, n->observations.items[k].content);
        json_out_close(o, ']');
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

static void write_relations(struct json_out *o, const struct graph_part *p)
{
    json_out_open(o, '[');
    for (size_t i = 0; i < p->relations.len; i++) {
        const struct graph_relation *r = &p->relations.items[i];
        json_out_pack(o, "{from:s to:s relation_type:s}", r->from, r->to, r->type);
    }
    json_out_close(o, ']');
}

/* `left` counts the facts without room; it is written where there are any. */
static void write_part(struct buf *out, const struct graph_part *p, const struct graph_counts *left)
{
    struct json_out o = {.buf = out};
    json_out_open(&o, '{');
    json_out_name(&o, "entities");
    write_entities(&o, p);
    json_out_name(&o, "relations");
    write_relations(&o, p);
    if (p->unknown.len > 0)
        write_texts(&o, "unknown", p->unknown.items, p->unknown.len);
    if (left->entities + left->observations + left->relations > 0) {
        json_out_name(&o, "left_out");
        shape_write(&graph_counts_shape, left, &o);
    }
    json_out_close(&o, '}');
}

/* The worst entities first, of a last one half of its observations, then of the relations. */
static bool leave_out(struct graph_part *p, struct graph_counts *left)
{
    struct graph_entity *last = p->entities.len > 0 ? &vec_last(&p->entities) : NULL;
    if (p->entities.len > 1) {
        shape_release(&graph_entity_shape, last);
        p->entities.len--;
        left->entities++;
    } else if (last && last->observations.len > 0) {
        for (size_t to = last->observations.len / 2; last->observations.len > to;
             left->observations++) {
            struct graph_observation *o = &vec_last(&last->observations);
            free(o->content);
            free(o->source.session_id);
            last->observations.len--;
        }
    } else if (p->relations.len > 0) {
        for (size_t to = p->relations.len / 2; p->relations.len > to; left->relations++) {
            shape_release(&graph_relation_shape, &vec_last(&p->relations));
            p->relations.len--;
        }
    } else {
        return false;
    }
    return true;
}

/* --- operations: a row for each --------------------------------------------------------------- */

/* The parameters are as `shape` reads them. A reader fills `part` alone. */
struct operation {
    const struct shape *shape;
    bool (*does)(const struct tool_graph *g, const void *params, struct graph_outcome *out,
                 struct error *e);
    void (*write)(struct json_out *o, const struct graph_outcome *done); /* NULL: it reads */
};

static bool create(const struct tool_graph *g, const void *params, struct graph_outcome *out,
                   struct error *e)
{
    const struct graph_by by = g->by(g->context);
    out->change = GRAPH_MADE;
    return graph_create(&g->graph, params, &by, &out->part, e);
}

static bool relate(const struct tool_graph *g, const void *params, struct graph_outcome *out,
                   struct error *e)
{
    const struct graph_by by = g->by(g->context);
    out->change = GRAPH_MADE;
    return graph_relate(&g->graph, params, &by, &out->part, e);
}

static bool observe(const struct tool_graph *g, const void *params, struct graph_outcome *out,
                    struct error *e)
{
    const struct graph_by by = g->by(g->context);
    out->change = GRAPH_OBSERVED;
    return graph_observe(&g->graph, params, &by, &out->added, e);
}

static bool delete_entities(const struct tool_graph *g, const void *params,
                            struct graph_outcome *out, struct error *e)
{
    out->change = GRAPH_UNMADE;
    return graph_delete_entities(&g->graph, params, &out->part, e);
}

static bool delete_observations(const struct tool_graph *g, const void *params,
                                struct graph_outcome *out, struct error *e)
{
    out->change = GRAPH_UNOBSERVED;
    return graph_delete_observations(&g->graph, params, &out->part, e);
}

static bool delete_relations(const struct tool_graph *g, const void *params,
                             struct graph_outcome *out, struct error *e)
{
    out->change = GRAPH_UNMADE;
    return graph_delete_relations(&g->graph, params, &out->part, e);
}

static bool search(const struct tool_graph *g, const void *params, struct graph_outcome *out,
                   struct error *e)
{
    const struct graph_query *p = params;
    const struct graph_search s = {.query = p->query, .limit = GRAPH_FOUND};
    return graph_search(&g->graph, &s, &out->part, e);
}

static bool open_names(const struct tool_graph *g, const void *params, struct graph_outcome *out,
                       struct error *e)
{
    return graph_open(&g->graph, params, &out->part, e);
}

static void tell_entities(struct json_out *o, const struct graph_outcome *done)
{
    write_entities(o, &done->part);
}

static void tell_relations(struct json_out *o, const struct graph_outcome *done)
{
    write_relations(o, &done->part);
}

static void tell_added(struct json_out *o, const struct graph_outcome *done)
{
    json_out_open(o, '[');
    for (size_t i = 0; i < done->added.items.len; i++) {
        const struct graph_added_to *to = &done->added.items.items[i];
        json_out_open(o, '{');
        json_out_member(o, "entity_name", to->entity);
        write_texts(o, "added_observations", to->added.items, to->added.len);
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

static void tell_deleted(struct json_out *o, const struct graph_outcome *done)
{
    struct graph_counts counts = graph_part_counts(&done->part);
    if (done->change == GRAPH_UNOBSERVED)
        counts.entities = 0; /* they stay */
    json_out_open(o, '{');
    json_out_name(o, "deleted");
    shape_write(&graph_counts_shape, &counts, o);
    json_out_close(o, '}');
}

static bool read_and_do(const struct tool_graph *g, const struct operation *op,
                        const struct json *args, struct graph_outcome *out, struct error *e)
{
    auto_free void *params = mem_alloc(op->shape->size);
    if (!shape_read(op->shape, args, params, e))
        return false;
    bool ok = op->does(g, params, out, e);
    shape_release(op->shape, params);
    return ok;
}

static bool run(const struct tool_context *context, const struct json *args,
                const struct operation *op, struct buf *out)
{
    const struct tool_graph *g = context->self;
    AUTO(outcome_release) struct graph_outcome done = {0};
    struct error e = {0};
    if (!read_and_do(g, op, args, &done, &e)) {
        if (!tool_stopped(context, out))
            buf_addstr(out, e.text);
        return false;
    }
    if (op->write) {
        op->write(&(struct json_out){.buf = out}, &done);
        tell_receipt(context, &done);
        if (done.change >= GRAPH_UNMADE && g->deleted)
            g->deleted(g->context, &done.part);
        return true;
    }
    struct graph_counts left = {.relations = done.part.relations_left};
    write_part(out, &done.part, &left);
    while (out->len > context->max_output && leave_out(&done.part, &left)) {
        buf_clear(out);
        write_part(out, &done.part, &left);
    }
    return true;
}

/* The change is made and taken back: so the preview is exact, and a change that would fail is no
 * question. */
static bool preview(const struct tool_context *context, const struct json *args,
                    const struct operation *op, struct buf *out)
{
    const struct tool_graph *g = context->self;
    AUTO(outcome_release) struct graph_outcome would = {0};
    struct error e = {0};
    bool ok = store_begin(g->graph.store, &e);
    if (ok) {
        ok = read_and_do(g, op, args, &would, &e);
        store_rollback(g->graph.store);
    }
    if (ok)
        show_preview(&would, out);
    else
        buf_addstr(out, e.text);
    return ok;
}

#define OPERATION(name, ...)                                                                       \
    static const struct operation operation_##name = {__VA_ARGS__};                                \
    static bool run_##name(const struct tool_context *context, const struct json *args,            \
                           struct buf *out)                                                        \
    {                                                                                              \
        return run(context, args, &operation_##name, out);                                         \
    }
#define CHANGE(name, ...)                                                                          \
    OPERATION(name, __VA_ARGS__)                                                                   \
    static bool preview_##name(const struct tool_context *context, const struct json *args,        \
                               struct tool_sight *sight, struct buf *out)                          \
    {                                                                                              \
        (void)sight;                                                                               \
        return preview(context, args, &operation_##name, out);                                     \
    }
OPERATION(search, &graph_query_shape, search, NULL)
OPERATION(open, &graph_names_shape, open_names, NULL)
CHANGE(create, &graph_create_shape, create, tell_entities)
CHANGE(observe, &graph_observe_shape, observe, tell_added)
CHANGE(relate, &graph_relate_shape, relate, tell_relations)
CHANGE(delete_entities, &graph_entity_names_shape, delete_entities, tell_deleted)
CHANGE(delete_observations, &graph_unobserve_shape, delete_observations, tell_deleted)
CHANGE(delete_relations, &graph_relate_shape, delete_relations, tell_deleted)

/* --- the tools -------------------------------------------------------------------------------- */

#define STRING "{\"type\":\"string\"}"
#define STRINGS "{\"type\":\"array\",\"items\":" STRING "}"
#define OBJECT(members, required) TOOL_SCHEMA(members, TOOL_NEEDS(required))
#define LIST(member, of)                                                                           \
    OBJECT("\"" member "\":{\"type\":\"array\",\"items\":" of "}", "\"" member "\"")
#define ENTITY                                                                                     \
    OBJECT("\"name\":" STRING ",\"entity_type\":" STRING ",\"observations\":" STRINGS,             \
           "\"name\",\"entity_type\"")
#define CONTENTS                                                                                   \
    OBJECT("\"entity_name\":" STRING ",\"contents\":" STRINGS, "\"entity_name\",\"contents\"")
#define DELETION                                                                                   \
    OBJECT("\"entity_name\":" STRING ",\"observations\":" STRINGS,                                 \
           "\"entity_name\",\"observations\"")
#define RELATION                                                                                   \
    OBJECT("\"from\":" STRING ",\"to\":" STRING ",\"relation_type\":" STRING,                      \
           "\"from\",\"to\",\"relation_type\"")

static const char *lacks(const void *self)
{
    const struct tool_graph *g = self;
    if (!g)
        return "there is no graph here";
    return g->access == GRAPH_SHUT ? "the user switched memory off in this session" : NULL;
}

static const char *lacks_writing(const void *self)
{
    const struct tool_graph *g = self;
    if (g && g->capture == GRAPH_CAPTURE_OFF)
        return "[learned] capture is off, so nothing is kept";
    return g && g->access == GRAPH_READS ? "the user lets this session only read memory"
                                         : lacks(self);
}

#define READS(called, says, takes, does)                                                           \
    {                                                                                              \
        .spec = {.name = called, .description = says, .schema = takes}, .class = TOOL_READ,        \
        .timeout = CONFIG_TOOLS_TIMEOUT, .lacks = lacks, .run = run_##does                         \
    }
/* The shape of the arguments also knows the names of server-memory (entityType), which models that
 * learned those use. */
#define WRITES(called, says, takes, does)                                                          \
    {                                                                                              \
        .spec = {.name = called, .description = says, .schema = takes}, .check = CHECK_OBJECT,     \
        .class = TOOL_WRITE, .timeout = CONFIG_TOOLS_TIMEOUT, .lacks = lacks_writing,              \
        .run = run_##does, .preview = preview_##does                                               \
    }

static const struct tool tools[] = {
    WRITES("memory_create_entities",
           "Create entities in the knowledge graph, which lasts across sessions. Gives those that "
           "are new; one that exists stays as it is.",
           LIST("entities", ENTITY), create),
    WRITES("memory_add_observations",
           "Add observations to entities of the knowledge graph that exist. Gives those that are "
           "new, for each entity.",
           LIST("observations", CONTENTS), observe),
    WRITES("memory_create_relations",
           "Create relations between entities of the knowledge graph that exist; in the active "
           "voice (\"works at\"). Gives those that are new.",
           LIST("relations", RELATION), relate),
    READS("memory_search_nodes",
          "Search the knowledge graph by words, or by a part of a name, type or observation. "
          "Gives entities, best first, and their relations.",
          OBJECT("\"query\":" STRING, "\"query\""), search),
    READS("memory_open_nodes",
          "Open entities of the knowledge graph by their exact names, with their relations.",
          LIST("names", STRING), open),
    WRITES("memory_delete_entities",
           "Delete entities of the knowledge graph with their observations and relations: all "
           "that are named, or none.",
           LIST("entity_names", STRING), delete_entities),
    WRITES("memory_delete_observations",
           "Delete observations of entities of the knowledge graph, given exactly as they are.",
           LIST("deletions", DELETION), delete_observations),
    WRITES("memory_delete_relations", "Delete relations of the knowledge graph.",
           LIST("relations", RELATION), delete_relations),
};

static void list(struct tool_host *host, struct toolset *out)
{
    const struct tool_graph *g = host->graph;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        struct tool tool = tools[i];
        if (tool.class != TOOL_READ && g)
            tool.consent = g->capture == GRAPH_CAPTURE_AUTO ? CONSENT_GIVEN : CONSENT_ASKED;
        toolset_add(out, &tool, (void *)g);
    }
}

const struct tool_source tool_source_graph = {.name = "graph", .list = list};
