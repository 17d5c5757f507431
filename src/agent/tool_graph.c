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
        AUTO(buf_release) struct buf line = BUF_INIT;
        utf8_clean(&line, texts[i], strlen(texts[i]), UTF8_ONE_LINE);
        size_t len = utf8_cut_width(line.data, line.len, RECEIPT_COLUMNS);
        buf_addf(r->out, "%s%.*s%s", i > 0 ? between : "", (int)len, line.data,
                 len < line.len ? "…" : "");
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

/* --- operations ------------------------------------------------------------------------------ */

/* The numbers of the tools. */
enum operation {
    SEARCH,
    OPEN,
    CREATE, /* from here on they write */
    RELATE,
    OBSERVE,
    DELETE_ENTITIES,
    DELETE_OBSERVATIONS,
    DELETE_RELATIONS
};

static bool apply(const struct tool_graph *g, enum operation op, const void *params,
                  struct graph_outcome *out, struct error *e)
{
    const struct graph *graph = &g->graph;
    const bool adds = op == CREATE || op == RELATE || op == OBSERVE;
    const struct graph_by by = adds ? g->by(g->context) : (struct graph_by){0};
    static const enum graph_change changes[] = {[OBSERVE] = GRAPH_OBSERVED,
                                                [DELETE_ENTITIES] = GRAPH_UNMADE,
                                                [DELETE_OBSERVATIONS] = GRAPH_UNOBSERVED,
                                                [DELETE_RELATIONS] = GRAPH_UNMADE};
    out->change = changes[op]; /* else GRAPH_MADE */
    switch (op) {
    case SEARCH: {
        const struct graph_query *query = params;
        const struct graph_search search = {.query = query->query, .limit = GRAPH_FOUND};
        return graph_search(graph, &search, &out->part, e);
    }
    case OPEN:
        return graph_open(graph, params, &out->part, e);
    case CREATE:
        return graph_create(graph, params, &by, &out->part, e);
    case RELATE:
        return graph_relate(graph, params, &by, &out->part, e);
    case OBSERVE:
        return graph_observe(graph, params, &by, &out->added, e);
    case DELETE_ENTITIES:
        return graph_delete_entities(graph, params, &out->part, e);
    case DELETE_OBSERVATIONS:
        return graph_delete_observations(graph, params, &out->part, e);
    case DELETE_RELATIONS:
        return graph_delete_relations(graph, params, &out->part, e);
    }
    return false;
}

static bool read_and_apply(const struct tool_context *context, const struct json *args,
                           struct graph_outcome *out, struct error *e)
{
    static const struct shape *const shapes[] = {
        [SEARCH] = &graph_query_shape,
        [OPEN] = &graph_names_shape,
        [CREATE] = &graph_create_shape,
        [RELATE] = &graph_relate_shape,
        [OBSERVE] = &graph_observe_shape,
        [DELETE_ENTITIES] = &graph_entity_names_shape,
        [DELETE_OBSERVATIONS] = &graph_unobserve_shape,
        [DELETE_RELATIONS] = &graph_relate_shape,
    };
    const struct shape *shape = shapes[context->number];
    auto_free void *params = mem_alloc(shape->size);
    if (!shape_read(shape, args, params, e))
        return false;
    bool ok = apply(context->self, (enum operation)context->number, params, out, e);
    shape_release(shape, params);
    return ok;
}

static void write_change(struct json_out *o, enum operation op, const struct graph_outcome *done)
{
    struct graph_counts counts;
    switch (op) {
    case CREATE:
        write_entities(o, &done->part);
        break;
    case RELATE:
        write_relations(o, &done->part);
        break;
    case OBSERVE:
        json_out_open(o, '[');
        for (size_t i = 0; i < done->added.items.len; i++) {
            const struct graph_added_to *to = &done->added.items.items[i];
            json_out_open(o, '{');
            json_out_member(o, "entity_name", to->entity);
            write_texts(o, "added_observations", to->added.items, to->added.len);
            json_out_close(o, '}');
        }
        json_out_close(o, ']');
        break;
    default:
        counts = graph_part_counts(&done->part);
        if (op == DELETE_OBSERVATIONS)
            counts.entities = 0; /* they stay */
        json_out_open(o, '{');
        json_out_name(o, "deleted");
        shape_write(&graph_counts_shape, &counts, o);
        json_out_close(o, '}');
    }
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const struct tool_graph *g = context->self;
    AUTO(outcome_release) struct graph_outcome done = {0};
    struct error e = {0};
    if (!read_and_apply(context, args, &done, &e)) {
        if (!tool_stopped(context, out))
            buf_addstr(out, e.text);
        return false;
    }
    if (context->number >= CREATE) {
        write_change(&(struct json_out){.buf = out}, (enum operation)context->number, &done);
        AUTO(buf_release) struct buf facts = BUF_INIT;
        int64_t left = show_receipt(&done, &facts);
        /* A change that nobody was asked about is told. */
        if (g->capture == GRAPH_CAPTURE_AUTO && context->tell && facts.len > 0) {
            struct event *ev = event_new(EVENT_GRAPH_CHANGED);
            ev->text = buf_take(&facts);
            ev->number = left;
            ev->flag = done.change == GRAPH_UNMADE || done.change == GRAPH_UNOBSERVED;
            context->tell(context->tell_context, ev);
        }
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
                    struct tool_sight *sight, struct buf *out)
{
    const struct tool_graph *g = context->self;
    AUTO(outcome_release) struct graph_outcome would = {0};
    struct error e = {0};
    (void)sight;
    bool ok = store_begin(g->graph.store, &e);
    if (ok) {
        ok = read_and_apply(context, args, &would, &e);
        store_rollback(g->graph.store);
    }
    if (ok)
        show_preview(&would, out);
    else
        buf_addstr(out, e.text);
    return ok;
}

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

static bool is_idle(const void *self)
{
    return ((const struct tool_graph *)self)->idle;
}

static const char *lacks_writing(const void *self)
{
    const struct tool_graph *g = self;
    if (g && g->capture == GRAPH_CAPTURE_OFF)
        return "[learned] capture is off, so nothing is kept";
    return g && g->access == GRAPH_READS ? "the user lets this session only read memory"
                                         : lacks(self);
}

#define READS(called, op, says, takes)                                                             \
    {                                                                                              \
        .spec = {.name = called, .description = says, .schema = takes}, .number = op,              \
        .class = TOOL_READ, .timeout = CONFIG_TOOLS_TIMEOUT, .lacks = lacks, .idle = is_idle,      \
        .run = run                                                                                 \
    }
/* The shape of the arguments also knows the names of server-memory (entityType), which models that
 * learned those use. */
#define WRITES(called, op, says, takes)                                                            \
    {                                                                                              \
        .spec = {.name = called, .description = says, .schema = takes}, .number = op,              \
        .check = CHECK_OBJECT, .class = TOOL_WRITE, .timeout = CONFIG_TOOLS_TIMEOUT,               \
        .lacks = lacks_writing, .idle = is_idle, .run = run, .preview = preview                    \
    }

static const struct tool tools[] = {
    WRITES("memory_create_entities", CREATE,
           "Create entities in the knowledge graph, which lasts across sessions. Gives those that "
           "are new; one that exists stays as it is.",
           LIST("entities", ENTITY)),
    WRITES("memory_add_observations", OBSERVE,
           "Add observations to entities of the knowledge graph that exist. Gives those that are "
           "new, for each entity.",
           LIST("observations", CONTENTS)),
    WRITES("memory_create_relations", RELATE,
           "Create relations between entities of the knowledge graph that exist; in the active "
           "voice (\"works at\"). Gives those that are new.",
           LIST("relations", RELATION)),
    READS("memory_search_nodes", SEARCH,
          "Search the knowledge graph by words, or by a part of a name, type or observation. "
          "Gives entities, best first, and their relations.",
          OBJECT("\"query\":" STRING, "\"query\"")),
    READS("memory_open_nodes", OPEN,
          "Open entities of the knowledge graph by their exact names, with their relations.",
          LIST("names", STRING)),
    WRITES("memory_delete_entities", DELETE_ENTITIES,
           "Delete entities of the knowledge graph with their observations and relations: all "
           "that are named, or none.",
           LIST("entity_names", STRING)),
    WRITES("memory_delete_observations", DELETE_OBSERVATIONS,
           "Delete observations of entities of the knowledge graph, given exactly as they are.",
           LIST("deletions", DELETION)),
    WRITES("memory_delete_relations", DELETE_RELATIONS, "Delete relations of the knowledge graph.",
           LIST("relations", RELATION)),
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
