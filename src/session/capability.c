#include "session/capability.h"

bool capability_store(void)
{
#ifdef WITHOUT_SESSION_STORE
    return false;
#else
    return true;
#endif
}

bool capability_need_store(bool persist, struct error *e)
{
    if (!capability_store())
        return err_set(e, ERR_SESSION_PERSISTENCE_DISABLED,
                       "this tiro was built without a session store; use one that has it");
    if (!persist)
        return err_set(e, ERR_SESSION_PERSISTENCE_DISABLED,
                       "sessions are not saved; set [session] persist = true, or "
                       "TIRO_SESSION_PERSIST=true in the environment");
    return true;
}

bool capability_compaction(void)
{
#ifdef WITHOUT_SESSION_COMPACTION
    return false;
#else
    return true;
#endif
}

bool capability_need_compaction(bool compaction, struct error *e)
{
    if (!capability_compaction())
        return err_set(e, ERR_SESSION_COMPACTION_DISABLED,
                       "this tiro was built without compaction; start a new session or fork an "
                       "earlier message");
    if (!compaction)
        return err_set(e, ERR_SESSION_COMPACTION_DISABLED,
                       "conversations are not shortened; set [compaction] enabled = true or give "
                       "--compaction");
    return true;
}

bool capability_memory(void)
{
#ifdef WITHOUT_MEMORY_STORE
    return false;
#else
    return true;
#endif
}

/* A layer of memory is in every build that has memory. */
static bool need_layer(bool on, const char *off, struct error *e)
{
    if (!capability_memory())
        return err_set(e, ERR_MEMORY_DISABLED,
                       "this tiro was built without memory; use one that has it");
    return on || err_set(e, ERR_MEMORY_DISABLED, "%s", off);
}

#define OFF(what, section, variable)                                                               \
    what " off; set [" section "] enabled = true, or TIRO_" variable                               \
         "_ENABLED=true in the environment"

bool capability_need_memory(bool memory, struct error *e)
{
    return need_layer(memory, OFF("memory is", "memory", "MEMORY"), e);
}

bool capability_graph(void)
{
    return capability_memory();
}

bool capability_need_graph(bool graph, struct error *e)
{
    return need_layer(graph, OFF("the graph is", "graph", "GRAPH"), e);
}

bool capability_corpora(void)
{
    return capability_memory();
}

bool capability_need_corpora(bool corpora, struct error *e)
{
    return need_layer(corpora, OFF("corpora are", "corpus", "CORPUS"), e);
}

bool capability_need_learned(bool learned, struct error *e)
{
    return need_layer(learned, OFF("learned memory is", "learned", "LEARNED"), e);
}
