#include "base/mem.h"
#include "session/capability.h"
#include "session/conversation_private.h"

/* The agent thread's part of semantic memory: what the model searches and what compactions fill.
 * The surface's part is the desk's. */

static bool search(void *conversation, const char *query, int limit, struct memory_hits *out,
                   struct error *e)
{
    struct conversation *w = conversation;
    struct memory_query q = memory_query_for(w->config, query);
    q.limit = limit;
    q.scope = recall_scope(&w->recall, w->journal.info.id, w->root);
    return recall_search(&w->recall, &q, &w->wakeup, out, e);
}

/* Imports may have left entries without vectors. Without an embedder no thread is started. */
static void catch_up(struct conversation *w)
{
    if (*config_string(w->config, CONFIG_EMBEDDING_PROVIDER))
        memory_desk_work(w->desk);
}

void conversation_open_memory(struct conversation *w, const char *path)
{
    if (!w->memory)
        return;
    recall_init(&w->recall, w->config, w->store, w->store_dir);
    w->tool_memory = (struct tool_memory){.search = search, .context = w};
    memory_sink_init(&w->memory_sink, w->recall.memory, w->config);
    if (!w->journal.sink)
        w->journal.sink = &w->memory_sink.sink;
    w->desk = memory_desk_new(w->config, path, w->store_dir, w->root, w->notices);
    catch_up(w);
}

void conversation_close_memory(struct conversation *w)
{
    memory_desk_free(w->desk);
    w->desk = NULL;
    if (w->recall.memory)
        recall_release(&w->recall);
    w->recall = (struct recall){.memory = NULL};
}

void conversation_note_indexed(struct conversation *w)
{
    if (w->desk)
        memory_desk_work(w->desk);
}

/* The desk gets a command of its own: this one is freed by the loop. */
void do_memory(struct conversation *w, struct command *c)
{
    struct error e;
    if (!capability_need_memory(w->memory, &e)) {
        tell_error(w, c, &e);
        return;
    }
    struct command *question = command_new(c->type, c->text);
    question->name = mem_strdup(c->name);
    question->session = mem_strdup(w->journal.info.id);
    question->number = c->number;
    question->limit = c->limit;
    memory_desk_ask(w->desk, question);
}
