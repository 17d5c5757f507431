#include "session/graph_operations.h"

#include <limits.h>

#include "session/memories.h"

#define READS (NEED_GRAPH | NEED_STORE)
#define WRITES (READS | NEED_WRITE)

static const struct graph_by a_person;

/* For operations that only read; NULL: there is no store yet. */
static const struct graph *graph_of(const struct operation_context *c)
{
    return c->graphs->graph.store ? &c->graphs->graph : NULL;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct graph_list_params *p = params;
    return !graph_of(c) ||
           graph_list(graph_of(c), p->after, p->limit > 0 ? p->limit : INT_MAX, result, e);
}

const struct operation operation_graph_list = {
    OPERATION("graph/list", CLIENT, MEMORY, "Lists the entities of the graph by name."),
    COMMAND("graph list", "", N_("list the entities by name")),
    .params = PARAMETERS(graph_list_params,
                         SHAPE_OPT(graph_list_params, after, "Only entities after this name."),
                         SHAPE_OPT(graph_list_params, limit, "Most entities to give; 0: all.",
                                   SHAPE_OPTION("-n, --limit N", N_("at most N entities")))),
    .result = &graph_part_shape,
    .needs = READS,
    .run = run_list,
};

OPERATION_RUN(run_search, !graph_of(c) || graph_search(graph_of(c), params, result, e))

const struct operation operation_graph_search = {
    OPERATION("graph/search", CLIENT, MEMORY,
              "Searches the graph; gives entities, best match first, with their relations."),
    SLASH("graph", "[QUERY]", N_("search the graph of facts and follow its relations")),
    COMMAND("graph search", "QUERY...", N_("search by words, or by a part of a text")),
    .dashes = true,
    .params = &graph_search_shape,
    .result = &graph_part_shape,
    .needs = READS,
    .run = run_search,
};

OPERATION_RUN(run_open, !graph_of(c) || graph_open(graph_of(c), params, result, e))

const struct operation operation_graph_open = {
    OPERATION("graph/open", CLIENT, MEMORY,
              "Gives entities by name, with all observations and relations."),
    COMMAND("graph show", "NAME...", N_("show entities with observations, relations and sources")),
    .params = &graph_names_shape,
    .result = &graph_part_shape,
    .needs = READS,
    .run = run_open,
};

OPERATION_RUN(run_stats, !graph_of(c) || graph_stats(graph_of(c), result, e))

const struct operation operation_graph_stats = {
    OPERATION("graph/stats", CLIENT, MEMORY, "Counts the contents of the graph."),
    COMMAND("graph stats", "", N_("show the size of the graph")),
    .result = &graph_stats_shape,
    .needs = READS,
    .run = run_stats,
};

OPERATION_RUN(run_reindex, !graph_of(c) || graph_reindex(graph_of(c), e))

const struct operation operation_graph_reindex = {
    OPERATION("graph/reindex", OWNER, MEMORY,
              "Rebuilds the graph's word index in the configured language."),
    COMMAND("graph reindex", "", N_("rebuild the graph's word index in the configured language")),
    .needs = WRITES,
    .run = run_reindex,
};

/* --- making ----------------------------------------------------------------------------------- */

OPERATION_RUN(run_create, graph_create(&c->graphs->graph, params, &a_person, result, e))

const struct operation operation_graph_create = {
    OPERATION("graph/create_entities", OWNER, MEMORY, "Creates entities; gives the new ones."),
    COMMAND("graph add", "NAME [OBSERVATION]...",
            N_("create an entity, or add observations to one")),
    .params = &graph_create_shape,
    .result = &graph_part_shape,
    .needs = WRITES,
    .run = run_create,
};

OPERATION_RUN(run_observe, graph_observe(&c->graphs->graph, params, &a_person, result, e))

const struct operation operation_graph_observe = {
    OPERATION("graph/add_observations", OWNER, MEMORY,
              "Adds observations to entities; gives the new ones."),
    .params = &graph_observe_shape,
    .result = &graph_added_shape,
    .needs = WRITES,
    .run = run_observe,
};

OPERATION_RUN(run_relate, graph_relate(&c->graphs->graph, params, &a_person, result, e))

const struct operation operation_graph_relate = {
    OPERATION("graph/create_relations", OWNER, MEMORY,
              "Creates relations between entities; gives the new ones."),
    COMMAND("graph relate", "FROM TYPE TO",
            N_("relate one entity to another: tiro graph relate Ada \"works at\" Acme")),
    .params = &graph_relate_shape,
    .result = &graph_part_shape,
    .needs = WRITES,
    .run = run_relate,
};

/* --- deleting --------------------------------------------------------------------------------- */

/* Keeps the deleted part for graph/restore and removes it from the index of words. */
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

const struct operation operation_graph_delete = {
    OPERATION("graph/delete_entities", OWNER, MEMORY,
              "Deletes entities with their observations and relations; if one name is unknown, "
              "none is deleted."),
    COMMAND("graph forget", "NAME [OBSERVATION]... | NAME --relation TYPE --to NAME",
            N_("delete an entity, some of its observations, or a relation")),
    .details = ASKS_ONCE,
    .params = &graph_entity_names_shape,
    .result = &graph_counts_shape,
    .needs = WRITES,
    .run = run_delete,
};

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

const struct operation operation_graph_unobserve = {
    OPERATION("graph/delete_observations", OWNER, MEMORY,
              "Deletes observations; if one is unknown, none is deleted."),
    .params = &graph_unobserve_shape,
    .result = &graph_counts_shape,
    .needs = WRITES,
    .run = run_unobserve,
};

static bool run_unrelate(struct operation_context *c, const void *params, void *result,
                         struct error *e)
{
    struct graph_part gone;
    return graph_delete_relations(&c->graphs->graph, params, &gone, e) &&
           keep_gone(c->graphs, &gone, result, e);
}

const struct operation operation_graph_unrelate = {
    OPERATION("graph/delete_relations", OWNER, MEMORY,
              "Deletes relations; if one is unknown, none is deleted."),
    .params = &graph_relate_shape,
    .result = &graph_counts_shape,
    .needs = WRITES,
    .run = run_unrelate,
};

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

const struct operation operation_graph_restore = {
    OPERATION("graph/restore", OWNER, MEMORY,
              "Restores what was last deleted in this process, by a client or by the model."),
    .result = &graph_counts_shape,
    .needs = WRITES,
    .run = run_restore,
};
