#include "base/mem.h"
#include "session/conversation_private.h"

/* The agent thread's part of semantic memory: what the model searches and what compactions fill.
 * The surface's part is the desk's. */

static bool search(void *conversation, const char *query, int limit, struct memory_hits *out,
                   struct error *e)
{
    struct conversation *w = conversation;
    struct memory_query q = memory_query_for(w->config, query);
    q.limit = limit;
    q.scope = recall_scope(&w->recall, w->journal.info.id, w->engine->root);
    return recall_search(&w->recall, &q, &w->wakeup, out, e);
}

/* Imports may have left entries without vectors. Without an embedder no thread is started. */
static void catch_up(struct conversation *w)
{
    if (*config_string(w->config, CONFIG_EMBEDDING_PROVIDER))
        memory_desk_work(w->engine->desk);
}

void conversation_open_memory(struct conversation *w)
{
    if (!w->engine->memory)
        return;
    recall_init(&w->recall, w->config, w->store, w->journal.directory);
    w->tool_memory = (struct tool_memory){.search = search, .context = w};
    memory_sink_init(&w->memory_sink, w->recall.memory, w->config);
    if (!w->journal.sink)
        w->journal.sink = &w->memory_sink.sink;
    catch_up(w);
}

void conversation_close_memory(struct conversation *w)
{
    if (w->recall.memory)
        recall_release(&w->recall);
    w->recall = (struct recall){.memory = NULL};
}

void conversation_note_indexed(struct conversation *w)
{
    if (w->engine->memory)
        memory_desk_work(w->engine->desk);
}
