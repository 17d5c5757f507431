/* The operations on the graph of facts: graph/…. What they take and give is in chat/graph.h; texts
 * of parameters are borrowed. A person's facts have no session. */
#ifndef SESSION_GRAPH_OPERATIONS_H
#define SESSION_GRAPH_OPERATIONS_H

#include "chat/knowledge.h"
#include "session/operation.h"

/* graph/list gives a struct graph_part without observations and relations. */
struct graph_list_params {
    const char *after; /* from behind this name on; NULL: from the beginning */
    int limit;         /* 0: all */
};

/* graph/search (struct graph_search), graph/open (struct graph_names) and the two that create give
 * a struct graph_part. */

/* graph/create_entities, graph/create_relations, graph/add_observations (a struct graph_added);
 * graph/delete_entities, graph/delete_observations, graph/delete_relations: a struct graph_counts
 * of what is gone. graph/restore puts back what was deleted last through the same context, on the
 * desk also what the model deleted: the same. graph/stats gives a struct graph_stats; graph/export
 * and graph/import a struct graph_counts: what was written, and what was new.
 *
 * graph/import reads all of the text before it writes: a line that is wrong is USAGE that names it
 * ("NAME:LINE: …"), and nothing is kept. It writes in steps, so that others write in between; what
 * stops it then says how much was added, and the same text adds the rest. */

extern const struct operation operation_graph_list, operation_graph_search, operation_graph_open,
    operation_graph_create, operation_graph_observe, operation_graph_relate, operation_graph_delete,
    operation_graph_unobserve, operation_graph_unrelate, operation_graph_restore,
    operation_graph_stats, operation_graph_export, operation_graph_import, operation_graph_reindex;

#endif
