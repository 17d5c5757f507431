#include "session/removal.h"

#include "base/err.h"
#include "session/lock.h"
#include "session/projection.h"
#include "store/sessions.h"

static bool remove_files(struct catalog *c, const char *id, struct error *e)
{
    struct error second = {0};
    bool gone = projection_remove(c, id, e);
    return lock_remove(c->directory, id, gone ? e : &second) && gone;
}

/* That the note stays although the files are gone does no harm. */
bool removal_finish(struct catalog *c, const char *id, struct error *e)
{
    struct error unstruck = {0};
    if (c->directory && !remove_files(c, id, e))
        return false;
    if (!removals_strike(c->store, id, &unstruck))
        log_line(LOG_ERROR, "removing the files of %s: %s", id, unstruck.text);
    return true;
}

/* Whoever had the lock before may have finished it, and the id be in use again. */
static bool finish_locked(struct catalog *c, const char *id, struct error *e)
{
    bool due;
    return removals_has(c->store, id, &due, e) && (!due || removal_finish(c, id, e));
}

static void finish_one(struct catalog *c, const char *id)
{
    struct error e = {0};
    int lock;
    if (!lock_take(c->directory, id, &lock, &e)) {
        if (e.code != ERR_SESSION_BUSY)
            log_line(LOG_ERROR, "removing the files of %s: %s", id, e.text);
        return;
    }
    if (!finish_locked(c, id, &e))
        log_line(LOG_ERROR, "removing the files of %s: %s", id, e.text);
    lock_drop(&lock);
}

void removal_finish_some(struct catalog *c, int limit)
{
    struct removals due;
    struct error e = {0};
    if (!c->store || !c->directory)
        return;
    if (!removals_some(c->store, limit, &due, &e))
        log_line(LOG_ERROR, "removing the files of deleted sessions: %s", e.text);
    for (size_t i = 0; i < due.items.len; i++)
        finish_one(c, due.items.items[i].id);
    removals_release(&due);
}

/* --- locks without a session ------------------------------------------------------------------ */

static bool ask_store(void *store, const char *id, bool *known)
{
    struct session_info info = {0};
    struct error e = {0};
    *known = sessions_get(store, id, &info, &e);
    session_info_release(&info);
    return *known || e.code == ERR_SESSION_NOT_FOUND;
}

void removal_sweep_locks(struct catalog *c)
{
    if (c->store && c->directory)
        lock_sweep(c->directory, ask_store, c->store);
}
