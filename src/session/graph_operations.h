/* The operations on the graph of facts: graph/…. What they take and give is in chat/graph.h; texts
 * of parameters are borrowed. A person's facts have no session. */
#ifndef SESSION_GRAPH_OPERATIONS_H
#define SESSION_GRAPH_OPERATIONS_H

#include "chat/knowledge.h"
#include "session/operation.h"

/* graph/list gives a struct graph_part without observations and relations. */
struct graph_list_params {
    const char *after; /* the name before the first one; NULL: from the beginning */
    int limit;         /* 0: all */
};

/* graph/search (struct graph_search), graph/open (struct graph_names) and the two that create give
 * a struct graph_part. */

/* graph/create_entities, graph/create_relations, graph/add_observations (a struct graph_added);
 * graph/delete_entities, graph/delete_observations, graph/delete_relations: a struct graph_counts
 * of what was deleted. graph/restore restores the last deletion of the same context, on the desk
 * also one of the model, and gives its struct graph_counts. graph/stats gives a struct graph_stats;
 * graph/export a struct graph_counts of what was written, graph/import one of what was new.
 *
 * graph/import reads the whole text before it writes: a wrong line is USAGE that names it
 * ("NAME:LINE: …"), and nothing is saved. It writes in steps, so that other processes can write in
 * between. An error in a later step says how much was added; importing the same text again adds the
 * rest. */

#endif
