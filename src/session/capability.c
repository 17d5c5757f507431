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
                       "sessions are not kept; set [session] persist = true or give --persist");
    return true;
}

bool capability_need_compaction(struct error *e)
{
#ifdef WITHOUT_SESSION_COMPACTION
    const char *reason = "was built without compaction";
#else
    const char *reason = "cannot shorten conversations yet";
#endif
    return err_set(e, ERR_SESSION_COMPACTION_DISABLED,
                   "this tiro %s; start a new session or fork an earlier message", reason);
}
