/* The tools of the graph of facts, with the parameters of the MCP project's server-memory in snake
 * case. What writes asks as [learned] capture says. */
#include <stdlib.h>
#include <string.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/knowledge.h"

/* What a call makes of the graph: of one kind. */
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
void graph_outcome_release(struct graph_outcome *o);

/* All of it, a fact a row. */
void graph_words_preview(const struct graph_outcome *o, struct buf *out);

/* Some of it on one row: facts parted by commas, each of a bounded length. Returns how many have no
 * room there; "": nothing has changed. */
int64_t graph_words_receipt(const struct graph_outcome *o, struct buf *out);

void graph_outcome_release(struct graph_outcome *o)
{
    graph_part_release(&o->part);
    shape_release(&graph_added_shape, &o->added);
}

/* --- before: a fact a row --------------------------------------------------------------------- */

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

static void add_entity(const struct graph_entity *n, enum graph_change change, struct buf *out)
{
    if (change == GRAPH_MADE)
        buf_addf(out, "New entity %s (%s)\n", n->name, n->type);
    else if (change == GRAPH_UNMADE)
        buf_addf(out, "Delete entity %s (%s)\n", n->name, n->type);
    else
        buf_addf(out, "Delete observations of %s\n", n->name);
    for (size_t i = 0; i < n->observations.len; i++)
        add_fact(out, change == GRAPH_MADE ? '+' : '-', n->observations.items[i].content);
}

static void add_relation(const struct graph_relation *r, enum graph_change change, struct buf *out)
{
    if (change == GRAPH_MADE)
        buf_addf(out, "New relation: %s -- %s -> %s\n", r->from, r->type, r->to);
    else
        buf_addf(out, "Delete relation: %s -- %s -> %s\n", r->from, r->type, r->to);
}

static void add_added(const struct graph_added_to *a, struct buf *out)
{
    if (a->added.len == 0)
        return;
    buf_addf(out, "New observations of %s\n", a->entity);
    for (size_t i = 0; i < a->added.len; i++)
        add_fact(out, '+', a->added.items[i]);
}

void graph_words_preview(const struct graph_outcome *o, struct buf *out)
{
    for (size_t i = 0; i < o->part.entities.len; i++)
        add_entity(&o->part.entities.items[i], o->change, out);
    for (size_t i = 0; i < o->part.relations.len; i++)
        add_relation(&o->part.relations.items[i], o->change, out);
    for (size_t i = 0; i < o->added.items.len; i++)
        add_added(&o->added.items.items[i], out);
    if (out->len == 0)
        buf_addstr(out, "Nothing changes: all of it is in the graph already.");
}

/* --- afterwards: some of it ------------------------------------------------------------------- */

enum { RECEIPT_FACTS = 10, RECEIPT_COLUMNS = 60 /* of a name or a text */ };

struct receipt {
    struct buf *out;
    int facts;
    int64_t left;
};

static void add_short(struct buf *out, const char *text)
{
    struct buf line = BUF_INIT;
    utf8_clean(&line, text, strlen(text), UTF8_ONE_LINE);
    size_t len = utf8_cut_width(line.data, line.len, RECEIPT_COLUMNS);
    buf_add(out, line.data, len);
    buf_addstr(out, len < line.len ? "…" : "");
    buf_release(&line);
}

/* Texts with what stands between them; NULL: there are no more. */
static void note(struct receipt *r, const char *first, const char *between, const char *second,
                 const char *third)
{
    if (r->facts == RECEIPT_FACTS) {
        r->left++;
        return;
    }
    buf_addstr(r->out, r->facts++ > 0 ? ", " : "");
    add_short(r->out, first);
    if (second) {
        buf_addstr(r->out, between);
        add_short(r->out, second);
    }
    if (third) {
        buf_addstr(r->out, between);
        add_short(r->out, third);
    }
}

static void note_part(struct receipt *r, const struct graph_outcome *o)
{
    bool entities = o->change != GRAPH_UNOBSERVED;
    for (size_t i = 0; i < o->part.entities.len; i++) {
        const struct graph_entity *n = &o->part.entities.items[i];
        if (entities)
            note(r, n->name, NULL, NULL, NULL);
        for (size_t k = 0; k < n->observations.len && !entities; k++)
            note(r, n->name, ": ", n->observations.items[k].content, NULL);
    }
    /* relations of an entity go with it */
    for (size_t i = 0; i < o->part.relations.len && o->part.entities.len == 0; i++) {
        const struct graph_relation *relation = &o->part.relations.items[i];
        note(r, relation->from, " ", relation->type, relation->to);
    }
}

int64_t graph_words_receipt(const struct graph_outcome *o, struct buf *out)
{
    struct receipt r = {.out = out};
    note_part(&r, o);
    for (size_t i = 0; i < o->added.items.len; i++) {
        const struct graph_added_to *a = &o->added.items.items[i];
        for (size_t k = 0; k < a->added.len; k++)
            note(&r, a->entity, ": ", a->added.items[k], NULL);
    }
    return r.left;
}

/* --- tool_graph --- */

static const struct tool_graph *graph_of(const struct tool_context *context)
{
    return context->self;
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
        json_out_member(o, "name", n->name);
        json_out_member(o, "entity_type", n->type);
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
        json_out_open(o, '{');
        json_out_member(o, "from", r->from);
        json_out_member(o, "to", r->to);
        json_out_member(o, "relation_type", r->type);
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

/* `left`: what had no room; it is said where there is some. */
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

/* Cut in the middle it would be no JSON. */
static void write_fitting(const struct tool_context *context, struct graph_part *p, struct buf *out)
{
    struct graph_counts left = {.relations = p->relations_left};
    write_part(out, p, &left);
    while (out->len > context->max_output && leave_out(p, &left)) {
        buf_clear(out);
        write_part(out, p, &left);
    }
}

/* --- what is written -------------------------------------------------------------------------- */

/* A change as it would be, within a transaction of the caller's or its own. */
typedef bool change(const struct tool_graph *g, const void *params, struct graph_outcome *out,
                    struct error *e);

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

static void write_deleted(struct json_out *o, const struct graph_outcome *done)
{
    struct graph_counts counts = graph_part_counts(&done->part);
    if (done->change == GRAPH_UNOBSERVED)
        counts.entities = 0; /* they stay */
    json_out_open(o, '{');
    json_out_name(o, "deleted");
    shape_write(&graph_counts_shape, &counts, o);
    json_out_close(o, '}');
}

static void write_added(struct json_out *o, const struct graph_added *added)
{
    json_out_open(o, '[');
    for (size_t i = 0; i < added->items.len; i++) {
        const struct graph_added_to *to = &added->items.items[i];
        json_out_open(o, '{');
        json_out_member(o, "entity_name", to->entity);
        write_texts(o, "added_observations", to->added.items, to->added.len);
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

/* What was written unasked is said. */
static void tell_receipt(const struct tool_context *context, const struct graph_outcome *done)
{
    struct buf facts = BUF_INIT;
    int64_t left = graph_words_receipt(done, &facts);
    if (graph_of(context)->capture == GRAPH_CAPTURE_AUTO && context->tell && facts.len > 0) {
        struct event *ev = event_new(EVENT_GRAPH_CHANGED);
        ev->text = buf_take(&facts);
        ev->number = left;
        ev->flag = done->change == GRAPH_UNMADE || done->change == GRAPH_UNOBSERVED;
        context->tell(context->tell_context, ev);
    }
    buf_release(&facts);
}

/* Parameters as their shape reads them; the caller releases and frees. NULL with `e`. */
static void *read_params(const struct shape *shape, const struct json *args, struct error *e)
{
    void *params = mem_alloc(shape->size);
    if (shape_read(shape, args, params, e))
        return params;
    free(params);
    return NULL;
}

static void free_params(const struct shape *shape, void *params)
{
    if (params)
        shape_release(shape, params);
    free(params);
}

static bool run_writing(const struct tool_context *context, const struct json *args,
                        const struct shape *shape, change *does,
                        void (*tell)(struct json_out *o, const struct graph_outcome *done),
                        struct buf *out)
{
    const struct tool_graph *g = graph_of(context);
    struct graph_outcome done = {0};
    struct json_out o = {.buf = out};
    struct error e = {0};
    void *params = read_params(shape, args, &e);
    bool ok = params && does(g, params, &done, &e);
    if (ok) {
        tell(&o, &done);
        tell_receipt(context, &done);
        if (done.change >= GRAPH_UNMADE && g->deleted)
            g->deleted(g->context, &done.part);
    } else if (!tool_stopped(context, out)) {
        buf_addstr(out, e.text);
    }
    graph_outcome_release(&done);
    free_params(shape, params);
    return ok;
}

/* It is done and taken back: so what is shown is what will be, and what would fail is no question.
 */
static bool preview(const struct tool_context *context, const struct json *args,
                    const struct shape *shape, change *does, struct buf *out)
{
    const struct tool_graph *g = graph_of(context);
    struct graph_outcome would = {0};
    struct error e = {0};
    void *params = read_params(shape, args, &e);
    bool ok = params && store_begin(g->graph.store, &e);
    if (ok) {
        ok = does(g, params, &would, &e);
        store_rollback(g->graph.store);
    }
    if (ok)
        graph_words_preview(&would, out);
    else
        buf_addstr(out, e.text);
    graph_outcome_release(&would);
    free_params(shape, params);
    return ok;
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
    write_added(o, &done->added);
}

/* --- what is read ----------------------------------------------------------------------------- */

static bool search(const struct graph *g, const void *params, struct graph_part *out,
                   struct error *e)
{
    const struct graph_query *p = params;
    return graph_search(g, &(struct graph_search){.query = p->query, .limit = GRAPH_FOUND}, out, e);
}

static bool open_names(const struct graph *g, const void *params, struct graph_part *out,
                       struct error *e)
{
    return graph_open(g, params, out, e);
}

static bool run_reading(const struct tool_context *context, const struct json *args,
                        const struct shape *shape,
                        bool (*does)(const struct graph *g, const void *params,
                                     struct graph_part *out, struct error *e),
                        struct buf *out)
{
    struct graph_part found = {0};
    struct error e = {0};
    void *params = read_params(shape, args, &e);
    bool ok = params && does(&graph_of(context)->graph, params, &found, &e);
    if (ok)
        write_fitting(context, &found, out);
    else if (!tool_stopped(context, out))
        buf_addstr(out, e.text);
    graph_part_release(&found);
    free_params(shape, params);
    return ok;
}

/* --- the tools -------------------------------------------------------------------------------- */

#define STRING "{\"type\":\"string\"}"
#define STRINGS "{\"type\":\"array\",\"items\":" STRING "}"
#define OBJECT(members, required)                                                                  \
    "{\"type\":\"object\",\"properties\":{" members "},\"required\":[" required                    \
    "],\"additionalProperties\":false}"
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

#define READING(name, shape, does)                                                                 \
    static bool run_##name(const struct tool_context *context, const struct json *args,            \
                           struct buf *out)                                                        \
    {                                                                                              \
        return run_reading(context, args, shape, does, out);                                       \
    }
#define WRITING(name, shape, does, tell)                                                           \
    static bool run_##name(const struct tool_context *context, const struct json *args,            \
                           struct buf *out)                                                        \
    {                                                                                              \
        return run_writing(context, args, shape, does, tell, out);                                 \
    }                                                                                              \
    static bool preview_##name(const struct tool_context *context, const struct json *args,        \
                               struct tool_sight *sight, struct buf *out)                          \
    {                                                                                              \
        (void)sight;                                                                               \
        return preview(context, args, shape, does, out);                                           \
    }
READING(search, &graph_query_shape, search)
READING(open, &graph_names_shape, open_names)
WRITING(create, &graph_create_shape, create, tell_entities)
WRITING(observe, &graph_observe_shape, observe, tell_added)
WRITING(relate, &graph_relate_shape, relate, tell_relations)
WRITING(delete_entities, &graph_entity_names_shape, delete_entities, write_deleted)
WRITING(delete_observations, &graph_unobserve_shape, delete_observations, write_deleted)
WRITING(delete_relations, &graph_relate_shape, delete_relations, write_deleted)

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
#define ARRAY "{\"type\":\"array\"}"
#define ACCEPTS                                                                                    \
    "{\"type\":\"object\",\"properties\":{\"entities\":" ARRAY ",\"observations\":" ARRAY          \
    ",\"relations\":" ARRAY ",\"entity_names\":" ARRAY ",\"entityNames\":" ARRAY                   \
    ",\"deletions\":" ARRAY "}}"
/* The shape of the arguments refuses what does not fit; it also knows the names of server-memory
 * (entityType), which models that learned those use. */
#define WRITES(called, says, takes, does)                                                          \
    {                                                                                              \
        .spec = {.name = called, .description = says, .schema = takes}, .accepts = ACCEPTS,        \
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

static enum tool_consent consent_of(const struct tool_graph *g, const struct tool *tool)
{
    if (tool->class == TOOL_READ || !g)
        return CONSENT_BY_CLASS;
    return g->capture == GRAPH_CAPTURE_AUTO ? CONSENT_GIVEN : CONSENT_ASKED;
}

static void list(struct tool_host *host, struct toolset *out)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        struct tool tool = tools[i];
        tool.consent = consent_of(host->graph, &tool);
        toolset_add(out, &tool, (void *)host->graph);
    }
}

const struct tool_source tool_source_graph = {.name = "graph", .list = list};
