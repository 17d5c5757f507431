/* The nine tools of server-memory (src/memory of modelcontextprotocol/servers) under their names,
 * with the arguments and results that they have there, on the graph of facts. */
#include <stdlib.h>
#include <string.h>

#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "serve/mcp_private.h"
#include "session/graph_operations.h"

enum { KEPT_MS = 3600 * 1000 }; /* how long a list holds */

/* --- arguments -------------------------------------------------------------------------------- */

/* The kind of a row is its type, REQUIRED; nothing but the bounds of the graph limits it. */
#define TEXT(S, label, member, text)                                                               \
    SHAPE_FIELD(label, STRING, REQUIRED, SHAPE_AT_TEXT(struct S, member), .help = text)
#define TEXTS(S, label, member, text)                                                              \
    SHAPE_FIELD(label, STRINGS, REQUIRED, offsetof(struct S, member), .help = text)

static const struct shape new_entity =
    SHAPE_OF("entity", struct graph_new_entity,
             TEXT(graph_new_entity, "name", name, "The name of the entity"),
             TEXT(graph_new_entity, "entityType", type, "The type of the entity"),
             TEXTS(graph_new_entity, "observations", observations,
                   "An array of observation contents associated with the entity"));
static const struct shape new_relation = SHAPE_OF(
    "relation", struct graph_new_relation,
    TEXT(graph_new_relation, "from", from, "The name of the entity where the relation starts"),
    TEXT(graph_new_relation, "to", to, "The name of the entity where the relation ends"),
    TEXT(graph_new_relation, "relationType", type, "The type of the relation"));
static const struct shape new_observations = SHAPE_OF(
    "observations", struct graph_new_observations,
    TEXT(graph_new_observations, "entityName", entity,
         "The name of the entity to add the observations to"),
    TEXTS(graph_new_observations, "contents", contents, "An array of observation contents to add"));
static const struct shape old_observations = SHAPE_OF(
    "deletion", struct graph_new_observations,
    TEXT(graph_new_observations, "entityName", entity,
         "The name of the entity containing the observations"),
    TEXTS(graph_new_observations, "observations", contents, "An array of observations to delete"));

static const struct shape create_params =
    SHAPE_OF("parameters", struct graph_create,
             SHAPE_REQ_LIST("entities", graph_create, entities, new_entity, "The entities"));
static const struct shape relate_params =
    SHAPE_OF("parameters", struct graph_relate,
             SHAPE_REQ_LIST("relations", graph_relate, relations, new_relation, "The relations"));
static const struct shape observe_params =
    SHAPE_OF("parameters", struct graph_observe,
             SHAPE_REQ_LIST("observations", graph_observe, observations, new_observations,
                            "For each entity"));
static const struct shape unobserve_params = SHAPE_OF(
    "parameters", struct graph_unobserve,
    SHAPE_REQ_LIST("deletions", graph_unobserve, deletions, old_observations, "For each entity"));
static const struct shape delete_params =
    SHAPE_OF("parameters", struct graph_names,
             TEXTS(graph_names, "entityNames", names, "An array of entity names to delete"));
static const struct shape open_params =
    SHAPE_OF("parameters", struct graph_names,
             TEXTS(graph_names, "names", names, "An array of entity names to retrieve"));
static const struct shape search_params = SHAPE_OF(
    "parameters", struct graph_search,
    TEXT(graph_search, "query", query,
         "The search query to match against entity names, types, and observation content"));

/* It fails for none of what is missing. */
static void relate_all(void *params)
{
    ((struct graph_relate *)params)->lenient = true;
}

static void unobserve_all(void *params)
{
    ((struct graph_unobserve *)params)->lenient = true;
}

static void delete_all(void *params)
{
    ((struct graph_names *)params)->lenient = true;
}

/* --- results ---------------------------------------------------------------------------------- */

#define STRINGS_SCHEMA "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"

static void write_observations(struct json_out *o, const void *entity)
{
    const struct graph_entity *n = entity;
    json_out_open(o, '[');
    for (size_t i = 0; i < n->observations.len; i++)
        json_out_string(o, n->observations.items[i].content);
    json_out_close(o, ']');
}

static const struct shape_codec contents = {
    .write = write_observations, .schema = STRINGS_SCHEMA, .expected = "an array of strings"};

static const struct shape entity = SHAPE_OF(
    "entity", struct graph_entity, TEXT(graph_entity, "name", name, "Its name"),
    TEXT(graph_entity, "entityType", type, "Its type"),
    SHAPE_FIELD("observations", OWN, REQUIRED, 0, .codec = &contents, .help = "Its observations"));
static const struct shape relation =
    SHAPE_OF("relation", struct graph_relation, TEXT(graph_relation, "from", from, "Its start"),
             TEXT(graph_relation, "to", to, "Its end"),
             TEXT(graph_relation, "relationType", type, "Its type"));

#define ENTITIES SHAPE_REQ_LIST("entities", graph_part, entities, entity, "The entities")
#define RELATIONS SHAPE_REQ_LIST("relations", graph_part, relations, relation, "The relations")
static const struct shape part = SHAPE_OF("graph", struct graph_part, ENTITIES, RELATIONS);
static const struct shape created_entities = SHAPE_OF("created", struct graph_part, ENTITIES);
static const struct shape created_relations = SHAPE_OF("created", struct graph_part, RELATIONS);
static const struct shape added =
    SHAPE_OF("added", struct graph_added_to,
             TEXT(graph_added_to, "entityName", entity, "The name of the entity"),
             TEXTS(graph_added_to, "addedObservations", added, "Those that are new"));
static const struct shape observed =
    SHAPE_OF("added", struct graph_added,
             SHAPE_REQ_LIST("results", graph_added, items, added, "For each entity"));

/* Their text is the list alone. */
static char *list_text(const struct shape *s, const char *member, const void *result)
{
    struct buf text = BUF_INIT;
    shape_write_value(s, member, result, &(struct json_out){.buf = &text});
    return buf_take(&text);
}

static char *entities_text(const void *result)
{
    return list_text(&created_entities, "entities", result);
}

static char *relations_text(const void *result)
{
    return list_text(&created_relations, "relations", result);
}

static char *observed_text(const void *result)
{
    return list_text(&observed, "results", result);
}

static void write_success(struct json_out *o, const void *counts)
{
    (void)counts;
    json_out_raw(o, "true");
}

static const struct shape_codec success = {
    .write = write_success, .schema = "{\"type\":\"boolean\"}", .expected = "true"};

/* Defines the result of a deletion: deleted_WHAT, WHAT_deleted_text. */
#define DELETED(what, message)                                                                     \
    static void write_deleted_##what(struct json_out *o, const void *counts)                       \
    {                                                                                              \
        (void)counts;                                                                              \
        json_out_string(o, message);                                                               \
    }                                                                                              \
    static char *deleted_##what##_text(const void *counts)                                         \
    {                                                                                              \
        (void)counts;                                                                              \
        return mem_strdup(message);                                                                \
    }                                                                                              \
    static const struct shape_codec message_##what = {                                             \
        .write = write_deleted_##what, .schema = "{\"type\":\"string\"}", .expected = "a string"}; \
    static const struct shape deleted_##what =                                                     \
        SHAPE_OF("deleted", struct graph_counts,                                                   \
                 SHAPE_FIELD("success", OWN, REQUIRED, 0, .codec = &success, .help = "True"),      \
                 SHAPE_FIELD("message", OWN, REQUIRED, 0, .codec = &message_##what,                \
                             .help = "What was done"));

DELETED(entities, "Entities deleted successfully")
DELETED(observations, "Observations deleted successfully")
DELETED(relations, "Relations deleted successfully")

/* --- read_graph, search_nodes ----------------------------------------------------------------- */

/* The lines of an export of one type, which have the members that are wanted behind their type. */
static void write_lines(struct json_out *o, const char *text, const char *begin)
{
    json_out_open(o, '[');
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        if (strncmp(text, begin, strlen(begin)) != 0)
            continue;
        auto_free char *line =
            mem_printf("{%.*s", (int)(end - text) - (int)strlen(begin), text + strlen(begin));
        json_out_raw(o, line);
    }
    json_out_close(o, ']');
}

static void write_entities(struct json_out *o, const void *answer)
{
    write_lines(o, ((const struct operation_answer *)answer)->text, "{\"type\":\"entity\",");
}

static void write_relations(struct json_out *o, const void *answer)
{
    write_lines(o, ((const struct operation_answer *)answer)->text, "{\"type\":\"relation\",");
}

static const struct shape_codec all_entities = {.write = write_entities,
                                                .schema = "{\"type\":\"array\"}"},
                                all_relations = {.write = write_relations,
                                                 .schema = "{\"type\":\"array\"}"};
static const struct shape whole =
    SHAPE_OF("graph", struct operation_answer,
             SHAPE_FIELD("entities", OWN, REQUIRED, 0, .codec = &all_entities, .help = "All"),
             SHAPE_FIELD("relations", OWN, REQUIRED, 0, .codec = &all_relations, .help = "All"));

static void on_graph(struct mcp_call *c, const struct operation_answer *a)
{
    if (a->error.code == ERR_OK)
        mcp_tool_send(c, &whole, a, NULL);
    else
        mcp_tool_fail(c, &a->error, NULL, NULL);
}

static void read_graph(struct mcp_call *c, void *params, const char *token)
{
    (void)params, (void)token;
    mcp_ask(c, &operation_graph_export, NULL, on_graph);
}

/* Nothing is in every text. */
static void search(struct mcp_call *c, void *params, const char *token)
{
    struct graph_search *p = params;
    p->limit = GRAPH_FOUND_MOST;
    if (*p->query)
        mcp_ask(c, &operation_graph_search, p, mcp_tool_answered);
    else
        read_graph(c, NULL, token);
    shape_release(&search_params, p);
    free(p);
}

/* --- the resource ----------------------------------------------------------------------------- */

#define GRAPH_URI "memory://knowledge-graph"
#define GRAPH_TYPE "application/json"

void mcp_graph_resources(struct mcp_call *c, const struct json *params)
{
    struct mcp_result r;
    (void)params;
    mcp_result_begin_kept(c, &r, KEPT_MS);
    json_out_pack(&r.out, "resources:[{uri:s name:s title:s description:s mimeType:s}]", GRAPH_URI,
                  "knowledge-graph", "Knowledge Graph",
                  "The full knowledge graph with all entities and relations", GRAPH_TYPE);
    mcp_result_send(c, &r);
}

void mcp_graph_templates(struct mcp_call *c, const struct json *params)
{
    struct mcp_result r;
    (void)params;
    mcp_result_begin_kept(c, &r, KEPT_MS);
    json_out_pack(&r.out, "resourceTemplates:[]");
    mcp_result_send(c, &r);
}

static void on_read(struct mcp_call *c, const struct operation_answer *a)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct mcp_result r;
    if (a->error.code != ERR_OK) {
        mcp_fail_with(c, &a->error);
        return;
    }
    shape_write(&whole, a, &(struct json_out){.buf = &text});
    mcp_result_begin_kept(c, &r, 0);
    json_out_pack(&r.out, "contents:[{uri:s mimeType:s text:s}]", GRAPH_URI, GRAPH_TYPE, text.data);
    mcp_result_send(c, &r);
}

/* Whether the parameters name the resource; else the call has failed. */
static bool names_graph(struct mcp_call *c, const struct json *params)
{
    const char *uri = json_get_string(params, "uri");
    bool named = uri && strcmp(uri, GRAPH_URI) == 0;
    if (!uri)
        mcp_fail(c, RPC_INVALID_PARAMS, "\"uri\" is missing; give a string", NULL);
    else if (!named)
        mcp_fail_not_found(c, uri);
    return named;
}

void mcp_graph_read(struct mcp_call *c, const struct json *params)
{
    if (names_graph(c, params))
        mcp_ask(c, &operation_graph_export, NULL, on_read);
}

static void follow(struct mcp_call *c, const struct json *params, bool follows)
{
    if (!names_graph(c, params))
        return;
    c->link->follows_graph = follows;
    mcp_done(c, NULL);
}

void mcp_graph_subscribe(struct mcp_call *c, const struct json *params)
{
    follow(c, params, true);
}

void mcp_graph_unsubscribe(struct mcp_call *c, const struct json *params)
{
    follow(c, params, false);
}

/* As in that server, the changes of other processes are not told. */
void mcp_graph_changed(struct mcp *m)
{
    for (size_t i = 0; i < m->links.len; i++)
        if (m->links.items[i]->follows_graph)
            (void)mcp_notify(m->links.items[i], "notifications/resources/updated",
                             "{\"uri\":\"" GRAPH_URI "\"}");
}

/* --- the table -------------------------------------------------------------------------------- */

const struct mcp_tool mcp_graph_tools[MCP_GRAPH_TOOLS] = {
    {.name = "create_entities",
     .title = "Create Entities",
     .description = "Create multiple new entities in the knowledge graph",
     .operation = &operation_graph_create,
     .params = &create_params,
     .result = &created_entities,
     .text = entities_text,
     .right = MCP_GRAPH},
    {.name = "create_relations",
     .title = "Create Relations",
     .description = "Create multiple new relations between entities in the knowledge graph. "
                    "Relations should be in active voice",
     .operation = &operation_graph_relate,
     .params = &relate_params,
     .ready = relate_all,
     .result = &created_relations,
     .text = relations_text,
     .right = MCP_GRAPH},
    {.name = "add_observations",
     .title = "Add Observations",
     .description = "Add new observations to existing entities in the knowledge graph",
     .operation = &operation_graph_observe,
     .params = &observe_params,
     .result = &observed,
     .text = observed_text,
     .right = MCP_GRAPH},
    {.name = "delete_entities",
     .title = "Delete Entities",
     .description =
         "Delete multiple entities and their associated relations from the knowledge graph",
     .operation = &operation_graph_delete,
     .params = &delete_params,
     .ready = delete_all,
     .result = &deleted_entities,
     .text = deleted_entities_text,
     .right = MCP_GRAPH,
     .destroys = true,
     .repeatable = true},
    {.name = "delete_observations",
     .title = "Delete Observations",
     .description = "Delete specific observations from entities in the knowledge graph",
     .operation = &operation_graph_unobserve,
     .params = &unobserve_params,
     .ready = unobserve_all,
     .result = &deleted_observations,
     .text = deleted_observations_text,
     .right = MCP_GRAPH,
     .destroys = true,
     .repeatable = true},
    {.name = "delete_relations",
     .title = "Delete Relations",
     .description = "Delete multiple relations from the knowledge graph",
     .operation = &operation_graph_unrelate,
     .params = &relate_params,
     .ready = relate_all,
     .result = &deleted_relations,
     .text = deleted_relations_text,
     .right = MCP_GRAPH,
     .destroys = true,
     .repeatable = true},
    {.name = "read_graph",
     .title = "Read Graph",
     .description = "Read the entire knowledge graph",
     .operation = &operation_graph_stats, /* which has the same needs */
     .result = &part,
     .start = read_graph},
    {.name = "search_nodes",
     .title = "Search Nodes",
     .description = "Search for nodes in the knowledge graph based on a query",
     .operation = &operation_graph_search,
     .params = &search_params,
     .result = &part,
     .start = search},
    {.name = "open_nodes",
     .title = "Open Nodes",
     .description = "Open specific nodes in the knowledge graph by their names",
     .operation = &operation_graph_open,
     .params = &open_params,
     .result = &part},
};
