#include "session/corpora_turn.h"

#include "session/lock.h"

/* *waits: another process has it. */
static bool take(const char *directory, const char *name, int *lock, bool *waits, struct error *e)
{
    *waits = false;
    if (!directory || *lock >= 0)
        return true;
    return lock_try(directory, name, lock, waits, e);
}

bool corpora_turn_ingest(struct corpora_turn *t, struct ingest *in, const struct wakeup *wakeup,
                         bool *more, bool *waits, struct error *e)
{
    *more = true;
    if (!take(t->directory, LOCK_INGEST, &t->lock, waits, e))
        return false;
    if (*waits)
        return true;
    bool ok = ingest_step(in, wakeup, more, e);
    if (!ok || !ingest_is_amid(in))
        lock_drop(&t->lock);
    return ok;
}

enum corpora_work corpora_turn_embed(const struct corpora_turn *t, struct corpora *c,
                                     const struct wakeup *wakeup, int64_t *left, int *retry_ms,
                                     struct error *why)
{
    int lock = -1;
    bool waits;
    if (!corpora_wants_vectors(c))
        return corpora_embed(c, wakeup, left, retry_ms, why);
    *left = 0;
    *retry_ms = CORPORA_TURN_MS;
    *why = (struct error){0};
    if (!take(t->directory, LOCK_VECTORS, &lock, &waits, why) || waits)
        return CORPORA_WAITS;
    enum corpora_work work = corpora_embed(c, wakeup, left, retry_ms, why);
    lock_drop(&lock);
    return work;
}

void corpora_turn_end(struct corpora_turn *t)
{
    lock_drop(&t->lock);
}
