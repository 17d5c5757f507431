#include "session/memory_follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/lock.h"

bool memory_follow_is_on(const struct config *config)
{
    return strcmp(config_string(config, CONFIG_MEMORY_INDEX), "sessions") == 0;
}

static const struct memory_ops *ops_of(const struct memory_follow *f)
{
    return f->sink->memory->ops;
}

static bool is_left(const struct memory_follow *f, const struct memory_due *due)
{
    return f->directory ? lock_is_free(f->directory, due->session_id)
                        : f->has_left && f->has_left(f->context, due->session_id);
}

/* The newest one that was left; those of which somebody has the lock become idle. */
static bool find_left(const struct memory_follow *f, int64_t since_ms, char **session_id,
                      int64_t *oldest_ms, struct error *e)
{
    struct memory_dues dues;
    *session_id = NULL;
    *oldest_ms = -1;
    if (!ops_of(f)->fresh(f->sink->memory, since_ms, &dues, e))
        return false;
    for (size_t i = 0; i < dues.items.len && !*session_id; i++) {
        *oldest_ms = dues.items.items[i].updated_ms;
        if (is_left(f, &dues.items.items[i]))
            *session_id = mem_strdup(dues.items.items[i].session_id);
    }
    memory_dues_release(&dues);
    return true;
}

/* Takes the id. */
static bool follow(const struct memory_follow *f, char *session_id, bool *more, struct error *e)
{
    *more = session_id;
    bool ok = !session_id || memory_sink_follow(f->sink, f->store, session_id, e);
    free(session_id);
    return ok;
}

/* NULL: none now. */
static bool find_next(const struct memory_follow *f, char **id, int64_t *wait_ms, struct error *e)
{
    int64_t idle_since = clock_wall_ms() - FOLLOW_IDLE_MS, oldest = -1;
    *wait_ms = -1;
    if (!ops_of(f)->next_idle(f->sink->memory, idle_since, id, e) ||
        (!*id && !find_left(f, idle_since, id, &oldest, e)))
        return false;
    if (!*id && oldest >= 0)
        *wait_ms = oldest - idle_since + 1;
    return true;
}

bool memory_follow_wait(const struct memory_follow *f, bool *due, int64_t *wait_ms, struct error *e)
{
    char *id = NULL;
    bool ok = find_next(f, &id, wait_ms, e);
    *due = id;
    free(id);
    return ok;
}

bool memory_follow_next(const struct memory_follow *f, bool *more, int64_t *wait_ms,
                        struct error *e)
{
    char *id = NULL;
    *more = false;
    return find_next(f, &id, wait_ms, e) && follow(f, id, more, e);
}

bool memory_follow_since(const struct memory_follow *f, int64_t since_ms, bool *more,
                         struct error *e)
{
    int64_t oldest;
    char *id;
    *more = false;
    return find_left(f, since_ms, &id, &oldest, e) && follow(f, id, more, e);
}
