#include "session/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct graphs *graphs_new(const struct config *config, struct store *store)
{
    struct graphs *g = mem_alloc(sizeof *g);
    *g = (struct graphs){
        .graph = {.store = store, .language = config_string(config, CONFIG_MEMORY_LANGUAGE)}};
    return g;
}

void graphs_free(struct graphs *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->gone.len; i++)
        graph_part_release(&g->gone.items[i]);
    vec_release(&g->gone);
    free(g);
}

void graphs_keep_gone(struct graphs *g, struct graph_part *gone)
{
    if (g->gone.len == GRAPHS_GONE) {
        graph_part_release(&g->gone.items[0]);
        g->gone.len--;
        memmove(g->gone.items, g->gone.items + 1, g->gone.len * sizeof *g->gone.items);
    }
    vec_push(&g->gone, *gone);
    *gone = (struct graph_part){0};
}
