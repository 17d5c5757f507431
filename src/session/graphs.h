/* The graph of facts as the operations on it find it (graph_operations.h). Belongs to one thread.
 */
#ifndef SESSION_GRAPHS_H
#define SESSION_GRAPHS_H

#include "config/config.h"
#include "knowledge/graph.h"

struct graphs {
    struct graph graph; /* its store NULL: nothing was ever kept */
    bool lazy; /* words of what was deleted are taken out by graph_purge(), which somebody calls */
    VEC(struct graph_part) gone; /* that can be put back, the last one last */
};
enum { GRAPHS_GONE = 100 /* deletions that can be undone */ };

/* Takes what a call deleted. */
void graphs_keep_gone(struct graphs *g, struct graph_part *gone);

/* On the caller's connection; NULL is an empty graph, for what only reads. */
struct graphs *graphs_new(const struct config *config, struct store *store);
void graphs_free(struct graphs *g); /* NULL is fine */

#endif
