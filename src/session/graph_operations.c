#include "session/graph_operations.h"

#include <limits.h>

#include "session/memories.h"

#define READS (NEED_GRAPH | NEED_STORE)
#define WRITES (READS | NEED_WRITE)
#define GRAPH_ROW(called, least, says, takes, gives, wants, runs)                                  \
    {                                                                                              \
        .name = "graph/" called, .summary = says, .authority = least, .params = takes,             \
        .result = gives, .executor = OPERATION_MEMORY, .needs = wants, .run = runs                 \
    }

static const struct graph_by a_person;

/* NULL: there is none yet, for what only reads. */
static const struct graph *graph_of(const struct operation_context *c)
{
    return c->graphs->graph.store ? &c->graphs->graph : NULL;
}

/* --- reading ---------------------------------------------------------------------------------- */

static const struct shape_field list_fields[] = {
    SHAPE_FIELD("after", STRING, OPTIONAL, SHAPE_AT_TEXT(struct graph_list_params, after),
                .help = "From behind this name on."),
    SHAPE_FIELD("limit", COUNT, OPTIONAL, SHAPE_AT(int, struct graph_list_params, limit),
                .help = "At most so many; 0: all."),
    {0},
};
static const struct shape list_shape = {.name = "parameters",
                                        .size = sizeof(struct graph_list_params),
                                        .fields = list_fields,
                                        .closed = true};

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct graph_list_params *p = params;
    return !graph_of(c) ||
           graph_list(graph_of(c), p->after, p->limit > 0 ? p->limit : INT_MAX, result, e);
}

const struct operation operation_graph_list =
    GRAPH_ROW("list", AUTHORITY_CLIENT, "Lists the entities of the graph by name.", &list_shape,
              &graph_part_shape, READS, run_list);

static bool run_search(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    return !graph_of(c) || graph_search(graph_of(c), params, result, e);
}

const struct operation operation_graph_search = GRAPH_ROW(
    "search", AUTHORITY_CLIENT, "Searches the graph: entities, best first, with their relations.",
    &graph_search_shape, &graph_part_shape, READS, run_search);

static bool run_open(struct operation_context *c, const void *params, void *result, struct error *e)
{
    return !graph_of(c) || graph_open(graph_of(c), params, result, e);
}

const struct operation operation_graph_open = GRAPH_ROW(
    "open", AUTHORITY_CLIENT, "Gives entities by their names, whole, with their relations.",
    &graph_names_shape, &graph_part_shape, READS, run_open);

static bool run_stats(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    (void)params;
    return !graph_of(c) || graph_stats(graph_of(c), result, e);
}

const struct operation operation_graph_stats =
    GRAPH_ROW("stats", AUTHORITY_CLIENT, "Tells how much there is in the graph.", NULL,
              &graph_stats_shape, READS, run_stats);

static bool run_reindex(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    (void)params, (void)result;
    return !graph_of(c) || graph_reindex(graph_of(c), e);
}

const struct operation operation_graph_reindex =
    GRAPH_ROW("reindex", AUTHORITY_OWNER,
              "Makes the graph's index of words anew, in the configured language.", NULL, NULL,
              WRITES, run_reindex);

/* --- making ----------------------------------------------------------------------------------- */

static bool run_create(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    return graph_create(&c->graphs->graph, params, &a_person, result, e);
}

const struct operation operation_graph_create =
    GRAPH_ROW("create_entities", AUTHORITY_OWNER, "Creates entities; gives those that are new.",
              &graph_create_shape, &graph_part_shape, WRITES, run_create);

static bool run_observe(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    return graph_observe(&c->graphs->graph, params, &a_person, result, e);
}

const struct operation operation_graph_observe = GRAPH_ROW(
    "add_observations", AUTHORITY_OWNER, "Adds observations to entities; gives those that are new.",
    &graph_observe_shape, &graph_added_shape, WRITES, run_observe);

static bool run_relate(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    return graph_relate(&c->graphs->graph, params, &a_person, result, e);
}

const struct operation operation_graph_relate = GRAPH_ROW(
    "create_relations", AUTHORITY_OWNER, "Relates entities; gives the relations that are new.",
    &graph_relate_shape, &graph_part_shape, WRITES, run_relate);

/* --- deleting --------------------------------------------------------------------------------- */

/* What is gone can be put back, and leaves the index of words. */
static bool keep_gone(struct graphs *g, struct graph_part *gone, struct graph_counts *out,
                      struct error *e)
{
    bool more = !g->lazy, ok = true;
    *out = graph_part_counts(gone);
    graphs_keep_gone(g, gone);
    while (ok && more)
        ok = graph_purge(&g->graph, &more, e);
    if (ok && !g->lazy)
        (void)store_settle(g->graph.store);
    return ok;
}

static bool run_delete(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    struct graph_part gone;
    return graph_delete_entities(&c->graphs->graph, params, &gone, e) &&
           keep_gone(c->graphs, &gone, result, e);
}

const struct operation operation_graph_delete = GRAPH_ROW(
    "delete_entities", AUTHORITY_OWNER,
    "Deletes entities with their observations and relations: all that are named, or none.",
    &graph_entity_names_shape, &graph_counts_shape, WRITES, run_delete);

static bool run_unobserve(struct operation_context *c, const void *params, void *result,
                          struct error *e)
{
    struct graph_counts *out = result;
    struct graph_part gone;
    if (!graph_delete_observations(&c->graphs->graph, params, &gone, e) ||
        !keep_gone(c->graphs, &gone, out, e))
        return false;
    out->entities = 0; /* they stay */
    return true;
}

const struct operation operation_graph_unobserve = GRAPH_ROW(
    "delete_observations", AUTHORITY_OWNER, "Deletes observations: all that are named, or none.",
    &graph_unobserve_shape, &graph_counts_shape, WRITES, run_unobserve);

static bool run_unrelate(struct operation_context *c, const void *params, void *result,
                         struct error *e)
{
    struct graph_part gone;
    return graph_delete_relations(&c->graphs->graph, params, &gone, e) &&
           keep_gone(c->graphs, &gone, result, e);
}

const struct operation operation_graph_unrelate = GRAPH_ROW(
    "delete_relations", AUTHORITY_OWNER, "Deletes relations: all that are named, or none.",
    &graph_relate_shape, &graph_counts_shape, WRITES, run_unrelate);

static bool run_restore(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    struct graphs *g = c->graphs;
    (void)params;
    if (g->gone.len == 0)
        return err_set(e, ERR_MEMORY_NOT_FOUND, "there is nothing deleted to restore");
    struct graph_part *last = &vec_last(&g->gone);
    if (!graph_restore(&g->graph, last, e))
        return false;
    *(struct graph_counts *)result = graph_part_counts(last);
    graph_part_release(last);
    g->gone.len--;
    return true;
}

const struct operation operation_graph_restore =
    GRAPH_ROW("restore", AUTHORITY_OWNER, "Puts back what was last deleted here, or by the model.",
              NULL, &graph_counts_shape, WRITES, run_restore);
