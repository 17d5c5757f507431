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

bool capability_need_layer(bool on, const char *off, struct error *e)
{
    if (!capability_memory())
        return err_set(e, ERR_MEMORY_DISABLED,
                       "this tiro was built without memory; use one that has it");
    return on || err_set(e, ERR_MEMORY_DISABLED, "%s", off);
}

bool capability_need_memory(bool memory, struct error *e)
{
    return capability_need_layer(memory, CAPABILITY_OFF("memory is", "memory", "MEMORY"), e);
}
