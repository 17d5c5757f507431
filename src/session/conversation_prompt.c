/* What stands before the conversation in a request, and comes neither from it nor from learned
 * memory: files of instructions, and what the graph has. */
#include <stdlib.h>

#include "base/err.h"
#include "base/paths.h"
#include "knowledge/memory_prompt.h"
#include "session/conversation_private.h"

static void read_instructions(struct conversation *c)
{
    char *configuration = paths_config_dir();
    instructions_release(&c->instructions);
    if (config_boolean(c->config, CONFIG_PROJECT_INSTRUCTIONS))
        instructions_read(configuration, c->root, &c->instructions);
    free(configuration);
}

/* Without it the turn goes on: the tools of the graph tell what is wrong. */
static void read_graph_hint(struct conversation *c)
{
    const struct tool_graph *g = &c->tool_graph;
    struct graph_part listed = {.total = 0};
    struct error e;
    int64_t most = config_integer(c->config, CONFIG_GRAPH_MAX_PROMPT_TOKENS);
    free(c->graph_hint);
    c->graph_hint = NULL;
    if (!c->engine->graph || !g->graph.store || g->access == GRAPH_SHUT || most == 0)
        return;
    if (graph_list(&g->graph, NULL, GRAPH_HINT_ENTITIES, &listed, &e))
        c->graph_hint = graph_hint(&listed, most);
    else
        log_line(LOG_ERROR, "the graph: %s", e.text);
    graph_part_release(&listed);
}

void conversation_read_prompt(struct conversation *c)
{
    read_instructions(c);
    read_graph_hint(c);
}

void conversation_forget_prompt(struct conversation *c)
{
    instructions_release(&c->instructions);
    free(c->graph_hint);
    c->graph_hint = NULL;
}
